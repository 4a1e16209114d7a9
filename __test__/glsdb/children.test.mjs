// Walking children and leaves: every range agrees with a plain sorted list, and a walk never leaves its subtree.

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { compareSubscripts } from '../../js/glsdb/collation.mjs';
import { collect, openStore } from './store.mjs';

const { glsdb } = openStore();
const root = new glsdb.node('Walk');

beforeEach(() => root.delete());

/**
 * @param {any} options
 * @returns {any[]} the keys that forEachChildNode visits
 */
function visited(options) {
  return collect(
    (callback) => root.forEachChildNode(options, callback),
    (child) => child.key,
  );
}

/** Short keys that collide, among them numbers, and text that only looks like one. */
const key = fc.oneof(
  fc.integer({ min: -30, max: 300 }).map(String),
  fc.constantFrom(
    '.5',
    '1.5',
    '-.5',
    '01',
    '1.0',
    '0',
    '-1a',
    '[000000]',
    '[000001]',
    '[x]',
    '-',
    '.',
    '1a',
    '10b',
    'é',
    '😀',
  ),
  fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom('a', 'b', '1', '.', '\uffee', '😀', '\0') }),
);

describe('forEachChildNode', () => {
  test('visits exactly the range, in both directions', () => {
    const bound = fc.option(key, { nil: undefined });
    const prefix = fc.option(fc.oneof(key, fc.constantFrom('1', '-', '.', 'a', '')), { nil: undefined });
    const direction = fc.constantFrom('forwards', 'reverse', 'backwards', undefined);
    const keys = fc.uniqueArray(key, { maxLength: 25 });
    fc.assert(
      fc.property(keys, bound, bound, prefix, direction, (stored, from, to, startsWith, way) => {
        root.delete();
        for (const each of stored) root.$([each]).value = 1;
        const backwards = way === 'reverse' || way === 'backwards';
        const sign = backwards ? -1 : 1;
        const expected = stored
          .filter((each) => from === undefined || sign * compareSubscripts(each, from) >= 0)
          .filter((each) => to === undefined || sign * compareSubscripts(each, to) <= 0)
          .filter((each) => each.startsWith(startsWith ?? ''))
          .sort((a, b) => sign * compareSubscripts(a, b));
        assert.deepEqual(visited({ from, to, startsWith, direction: way }), expected);
      }),
      { numRuns: 500 },
    );
  });

  test('takes numbers as bounds, 0 among them', () => {
    for (const id of [-1, 0, 0.5, 1, 2, 10]) root.$(id).value = id;
    assert.deepEqual(visited({ from: 0 }), ['0', '.5', '1', '2', '10']);
    assert.deepEqual(visited({ from: 0.4, to: 1.5 }), ['.5', '1']);
    assert.deepEqual(visited({ to: 0, direction: 'reverse' }), ['10', '2', '1', '.5', '0']);
    assert.deepEqual(visited({ startsWith: 1 }), ['1', '10']);
    assert.deepEqual(visited({ from: null, to: undefined }), ['-1', '0', '.5', '1', '2', '10']);
  });

  test('is a live view: the callback may delete and add', () => {
    for (let id = 1; id <= 5; id += 1) root.$(id).value = id;
    /** @type {any[]} */
    const seen = [];
    root.forEachChildNode((child) => {
      seen.push(child.key);
      child.delete();
      if (child.key === '3') root.$(9).value = 'new';
      if (child.key === '1') root.$(2).delete();
    });
    assert.deepEqual(seen, ['1', '3', '4', '5', '9']);
    assert.equal(root.exists, false);
  });

  test('walks keys that are no array index as they are stored', () => {
    root.document = { '[0]': 1, '[7]': 2 };
    assert.deepEqual(visited({}), ['[0]', '[7]']);
    assert.deepEqual(
      root.children.map((child) => child.value),
      [1, 2],
    );
  });

  test('of an empty array finds none', () => {
    root.document = [];
    assert.deepEqual(visited({}), []);
    assert.equal(root.length, 0);
    assert.deepEqual(root.leafNodes, []);
    root.document = { '[]': 'a key like any other' };
    assert.deepEqual(visited({}), ['[]']);
    assert.equal(root.leafNodes.length, 1);
  });

  test('does nothing without a callback, and passes on what one throws', () => {
    root.$(1).value = 1;
    root.forEachChildNode(/** @type {any} */ ({}));
    assert.throws(
      () =>
        root.forEachChildNode(() => {
          throw new Error('mine');
        }),
      /mine/,
    );
    assert.throws(() => root.forEachChildNode({ from: /** @type {any} */ ({}) }, () => {}), {
      code: 'ERR_ARG',
    });
  });
});

describe('neighbours', () => {
  test('are found beside keys that do not exist', () => {
    for (const id of [2, 4, 'b', 'd']) root.$(id).value = 1;
    assert.equal(root.getChildAfter(2)?.key, '4');
    assert.equal(root.childAfter(3)?.key, '4');
    assert.equal(root.childAfter(4)?.key, 'b');
    assert.equal(root.childAfter('c')?.key, 'd');
    assert.equal(root.childAfter('d'), undefined);
    assert.equal(root.childAfter('')?.key, '2');
    assert.equal(root.getChildBefore(2), undefined);
    assert.equal(root.childBefore(3)?.key, '2');
    assert.equal(root.childBefore('a')?.key, '4');
    assert.equal(root.childBefore('')?.key, 'd');
    assert.equal(root.$('c').nextSibling?.key, 'd');
    assert.equal(root.$('c').previousSibling?.key, 'b');
    assert.equal(root.firstChild?.parent, root);
  });

  test('children, properties and length count them', () => {
    root.document = { b: 1, a: { c: 2 }, '': 3 };
    assert.equal(root.length, 3);
    assert.equal(root.childNodes.length, 3);
    assert.deepEqual([...root.properties].sort(), ['', 'a', 'b']);
    assert.deepEqual(
      root.$('a').children.map((child) => child.path),
      ['Walk.a.c'],
    );
    assert.equal(root.$('nothing').length, 0);
    assert.deepEqual(root.$('nothing').properties, []);
    root.$('list').document = ['x', { y: 1 }];
    assert.deepEqual(root.$('list').properties, ['x', { y: 1 }]);
    assert.equal(root.$('list').length, 2);
  });
});

describe('forEachLeafNode', () => {
  const paths = (/** @type {any} */ node, /** @type {any} */ options) =>
    collect(
      (callback) => node.forEachLeafNode(options, callback),
      (leaf) => leaf.path,
    );

  beforeEach(() => {
    root.$('a').document = { x: [1, { y: 2 }], z: 'end' };
    root.$('a1').document = { leak: true };
    root.$('a\0').value = 'leak';
    root.$('B').value = 'before';
  });

  test('stays below its node, in both directions', () => {
    const expected = ['Walk.a.x[0]', 'Walk.a.x[1].y', 'Walk.a.z'];
    assert.deepEqual(paths(root.$('a'), {}), expected);
    assert.deepEqual(paths(root.$('a'), { direction: 'reverse' }), [...expected].reverse());
    assert.deepEqual(paths(root.$('a'), { direction: 'backwards' }), [...expected].reverse());
    assert.deepEqual(paths(root.$('a').$('z'), {}), []);
    assert.deepEqual(paths(root.$('nothing'), {}), []);
    assert.deepEqual(paths(root.$('nothing'), { direction: 'reverse' }), []);
  });

  test('covers the whole global from its root', () => {
    root.value = 'the root itself is not below itself';
    const expected = ['Walk.B', 'Walk.a.x[0]', 'Walk.a.x[1].y', 'Walk.a.z', 'Walk.a\0', 'Walk.a1.leak'];
    assert.deepEqual(paths(root, {}), expected);
    assert.deepEqual(paths(root, { direction: 'reverse' }), [...expected].reverse());
    assert.equal(root.leafNodes.length, expected.length);
  });

  test('passes keys and typed values when asked', () => {
    const pairs = (/** @type {string} */ direction) => {
      /** @type {any[]} */
      const found = [];
      root.$('a').forEachLeafNode({ getdata: true, direction }, (keys, value) => {
        found.push([keys, value]);
      });
      return found;
    };
    const expected = [
      [['Walk', 'a', 'x', '[000000]'], 1],
      [['Walk', 'a', 'x', '[000001]', 'y'], 2],
      [['Walk', 'a', 'z'], 'end'],
    ];
    assert.deepEqual(pairs('forwards'), expected);
    assert.deepEqual(pairs('reverse'), [...expected].reverse());
  });

  test('knows the leaves that hold nothing, and no others of that kind', () => {
    root.$('e').document = { list: [], map: {}, text: '' };
    root.$('e').$('map').$('now').value = 1;
    assert.deepEqual(paths(root.$('e'), {}), ['Walk.e.list', 'Walk.e.map.now', 'Walk.e.text']);
    /** @type {any[]} */
    const values = [];
    root.$('e').forEachLeafNode({ getdata: true }, (_keys, value) => values.push(value));
    assert.deepEqual(values, [[], 1, '']);
  });

  test('stops when the callback answers false', () => {
    for (const direction of ['forwards', 'reverse']) {
      let visits = 0;
      root.forEachLeafNode({ direction }, () => {
        visits += 1;
        return visits < 2;
      });
      assert.equal(visits, 2);
    }
  });

  test('goes deeper than the seven levels of the published one', () => {
    const levels = Array.from({ length: 20 }, (_, level) => `level${level}`);
    root.$('deep').$(levels).value = 'bottom';
    assert.equal(root.$('deep').leafNodes[0].value, 'bottom');
    assert.equal(root.$('deep').leafNodes[0].keys.length, 22);
  });
});
