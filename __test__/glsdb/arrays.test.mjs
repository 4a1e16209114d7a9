// A stored array does what an array in memory does, and touches only the members that an operation concerns.

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { openStore } from './store.mjs';

const { glsdb } = openStore();
const node = new glsdb.node('Arrays').$('list');

beforeEach(() => new glsdb.node('Arrays').delete());

describe('any series of operations', () => {
  const member = fc.oneof(
    fc.integer({ min: 0, max: 9 }),
    fc.constantFrom('', 'x', '1', null, true, 0.5),
    fc.constantFrom([], {}, [1, []], { a: { b: 1 } }, { '[000000]': 1 }),
  );
  const members = fc.array(member, { maxLength: 3 });
  const index = fc.integer({ min: -6, max: 8 });
  const operation = fc.oneof(
    fc.tuple(fc.constantFrom('push', 'unshift', 'concat'), members),
    fc.tuple(fc.constantFrom('pop', 'shift', 'reverse'), fc.constant([])),
    fc.tuple(fc.constant('splice'), fc.tuple(index)),
    fc.tuple(
      fc.constant('splice'),
      fc.tuple(index, index, members).map(([start, count, values]) => [start, count, ...values]),
    ),
    fc.tuple(fc.constant('fill'), fc.tuple(member, index, index)),
    fc.tuple(fc.constantFrom('slice'), fc.tuple(index, index)),
    fc.tuple(fc.constantFrom('at'), fc.tuple(index)),
    fc.tuple(
      fc.constantFrom('includes', 'indexOf', 'lastIndexOf'),
      fc.tuple(fc.constantFrom(1, 'x', null), index),
    ),
    fc.tuple(fc.constant('join'), fc.tuple(fc.constantFrom('-', ''))),
  );

  test('leaves the same array and gives the same answers', () => {
    fc.assert(
      fc.property(members, fc.array(operation, { maxLength: 8 }), (start, operations) => {
        /** @type {any} */
        let model = structuredClone(start);
        node.document = start;
        for (const [method, given] of operations) {
          /** @type {any} */
          const stored = node;
          const answer = stored[method](...structuredClone(given));
          const expected = model[method](...structuredClone(given));
          if (method === 'concat') model = expected;
          if (method === 'reverse' || method === 'fill') assert.equal(answer, node);
          else assert.deepEqual(answer, expected, method);
          assert.deepEqual(node.document, model, method);
          assert.equal(node.length, model.length);
          assert.equal(node.isArray, true);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('what stays untouched', () => {
  /**
   * @param {() => void} work
   * @returns {Record<string, number>} how many calls of each kind it took
   */
  function calls(work) {
    /** @type {Record<string, number>} */
    const counts = {};
    const types = [
      'set',
      'get',
      'delete',
      'next',
      'previous',
      'document_get',
      'document_set',
      'document_merge',
    ];
    for (const type of types) {
      glsdb.on(type, ({ node: at }) => {
        const what = at.path === 'Arrays.list' && type.startsWith('document') ? `whole_${type}` : type;
        counts[what] = (counts[what] ?? 0) + 1;
      });
    }
    work();
    for (const type of types) glsdb.off(type);
    return counts;
  }

  beforeEach(() => {
    node.document = Array.from({ length: 1000 }, (_, at) => at);
  });

  test('push, pop, at, length, splices that move nothing', () => {
    const counts = calls(() => {
      node.push('a', 'b');
      node.pop();
      node.at(-1);
      assert.equal(node.length, 1001);
      node.splice(500, 2, 'x', 'y');
      node.splice(-2, 2);
      node.splice(999, 0, 'end');
    });
    assert.equal(counts.whole_document_get, undefined);
    assert.equal(counts.whole_document_set, undefined);
    assert.equal(counts.document_set, 5);
    assert.equal(counts.delete, 3);
    assert.deepEqual(node.document.slice(498, 504), [498, 499, 'x', 'y', 502, 503]);
    assert.equal(node.at(-1), 'end');
  });

  test('what moves members reads and writes the array once', () => {
    const counts = calls(() => {
      node.unshift('first');
    });
    assert.equal(counts.whole_document_get, 1);
    assert.equal(counts.whole_document_set, 1);
    assert.equal(node.at(1000), 999);
  });
});

describe('edges', () => {
  test('an array that becomes empty stays an array', () => {
    node.document = [1];
    assert.equal(node.pop(), 1);
    assert.deepEqual(node.document, []);
    assert.equal(node.isArray, true);
    assert.equal(node.pop(), undefined);
    assert.equal(node.shift(), undefined);
    node.push({ a: 1 });
    assert.deepEqual(node.document, [{ a: 1 }]);
    assert.equal(node.shift().a, 1);
    assert.deepEqual(node.document, []);
  });

  test('a node with nothing becomes an array when something is added', () => {
    assert.equal(node.push('x', undefined), 2);
    assert.deepEqual(node.document, ['x', null]);
    new glsdb.node('Arrays').delete();
    assert.deepEqual(node.concat([1], [2]), [1, 2]);
    new glsdb.node('Arrays').delete();
    assert.equal(node.at(0), undefined);
    assert.equal(node.pop(), undefined);
    assert.equal(node.exists, false);
  });

  test('a node with something else refuses to be changed and answers nothing', () => {
    for (const other of ['text', { a: 1 }, {}, { '[000000]': 1 }]) {
      node.document = other;
      assert.equal(node.isArray, false);
      for (const method of [
        'push',
        'pop',
        'shift',
        'unshift',
        'splice',
        'concat',
        'sort',
        'reverse',
        'fill',
      ]) {
        /** @type {any} */
        const stored = node;
        assert.throws(() => stored[method](0), { code: 'ERR_BAD_VALUE' }, method);
      }
      assert.equal(node.includes(1), false);
      assert.equal(node.indexOf(1), -1);
      assert.equal(node.lastIndexOf(1), -1);
      assert.equal(node.slice(0), undefined);
      assert.equal(node.join(), undefined);
      assert.deepEqual(node.document, other);
    }
  });

  test('an object of index keys is an object, a gap in an array null', () => {
    node.document = { '[000000]': 'a', '[000001]': 'b' };
    assert.equal(node.isArray, false);
    assert.deepEqual(node.properties, ['[000000]', '[000001]']);
    node.document = ['a'];
    node._(3).value = 'd';
    assert.deepEqual(node.document, ['a', null, null, 'd']);
    assert.deepEqual(node.document_q, ['a', null, null, 'd']);
    assert.equal(node.length, 4);
    assert.equal(node.pop(), 'd');
    assert.deepEqual(node.document, ['a', null, null]);
  });

  test('order holds where an index needs a seventh digit', () => {
    node._(999_998).value = 'x';
    node.push('y', 'z');
    assert.deepEqual(
      node.children.map((child) => child.path),
      ['Arrays.list[999998]', 'Arrays.list[999999]', 'Arrays.list[1000000]'],
    );
    assert.equal(node.length, 1_000_001);
    assert.equal(node.at(-1), 'z');
    assert.equal(node.$('[1000000]').value, 'z');
    assert.equal(node.document.length, 1_000_001);
    assert.equal(node.document[1_000_000], 'z');
  });

  test('a failing sort leaves the array as it was', () => {
    node.document = [2, 1];
    assert.throws(
      () =>
        node.sort(() => {
          throw new Error('mine');
        }),
      /mine/,
    );
    assert.equal(glsdb.transaction.level(), '0');
    node.sort();
    assert.deepEqual(node.document, [1, 2]);
    node.sort((a, b) => b - a);
    assert.deepEqual(node.document, [2, 1]);
  });
});
