// What JavaScript code may expect of a proxy beyond the tutorial: arrays behave as arrays, any name is a property, and
// language machinery (JSON, inspection, coercion) works.

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { openStore } from './store.mjs';

const { glsdb } = openStore();
const root = new glsdb.node('Things');
/** @type {any} */
let things;

beforeEach(() => {
  root.delete();
  things = root.proxy;
});

describe('an array', () => {
  beforeEach(() => {
    things.list = ['b', 'a', { deep: [1, 2] }];
  });

  test('is an array to JavaScript', () => {
    assert.equal(Array.isArray(things.list), true);
    assert.equal(Object.getPrototypeOf(things.list), Array.prototype);
    assert.equal(things.list.length, 3);
    assert.equal(things.list[0], 'b');
    assert.equal(things.list[3], undefined);
    assert.equal(things.list[2].deep[1], 2);
    assert.equal(things.list.nothing, undefined);
    assert.equal(0 in things.list, true);
    assert.equal(3 in things.list, false);
    assert.equal('map' in things.list, true);
    assert.deepEqual(Object.getOwnPropertyNames(things.list), ['0', '1', '2', 'length']);
    assert.deepEqual([0].concat(things.list).slice(0, 3), [0, 'b', 'a']);
  });

  test('has every method of arrays, and only those that change write', () => {
    assert.deepEqual(
      things.list.slice(0, 2).map((/** @type {string} */ value) => `${value}!`),
      ['b!', 'a!'],
    );
    assert.deepEqual(
      things.list.filter((/** @type {any} */ value) => value === 'a'),
      ['a'],
    );
    assert.equal(
      things.list.find((/** @type {any} */ value) => value < 'b'),
      'a',
    );
    assert.equal(things.list.slice(0, 2).join('-'), 'b-a');
    assert.deepEqual([...things.list.keys()], [0, 1, 2]);
    assert.equal(things.list.length, 3);
    things.list.pop();
    const sorted = things.list.sort();
    assert.deepEqual(sorted.valueOf(), ['a', 'b']);
    assert.deepEqual(things.list.reverse()._document, ['b', 'a']);
    assert.equal(things.list.push('c', 'd'), 4);
    assert.equal(things.list.shift(), 'b');
    assert.equal(things.list.unshift('z'), 4);
    assert.deepEqual(things.list.splice(1, 1), ['a']);
    assert.deepEqual(things.list.fill('q', 1, 2)._document, ['z', 'q', 'd']);
    assert.deepEqual(things.list.copyWithin(0, 2)._document, ['d', 'q', 'd']);
  });

  test('takes members by index and a new length', () => {
    things.list[1] = { name: 'x' };
    things.list[3] = 4;
    assert.equal(things.list[1].name.valueOf(), 'x');
    assert.deepEqual(things.list.valueOf(), ['b', { name: 'x' }, { deep: [1, 2] }, 4]);
    things.list[1].name = 'y';
    assert.equal(root.$('list')._(1).$('name').value, 'y');
    things.list.length = 1;
    assert.deepEqual(things.list.valueOf(), ['b']);
    things.list.length = 3;
    assert.deepEqual(things.list.valueOf(), ['b', null, null]);
    things.list.length = 0;
    assert.deepEqual(things.list.valueOf(), []);
    assert.equal(Array.isArray(things.list), true);
    assert.throws(() => {
      things.list.name = 1;
    }, TypeError);
  });

  test('keeps the place of a deleted member', () => {
    delete things.list[0];
    assert.deepEqual(things.list.valueOf(), [null, 'a', { deep: [1, 2] }]);
  });

  test('that came after its proxy was made is one all the same', () => {
    const later = things.later;
    things.later = ['x', 'y'];
    assert.equal(later.length, 2);
    assert.equal(later[1], 'y');
    later[2] = 'z';
    later.push('!');
    assert.deepEqual(things.later.valueOf(), ['x', 'y', 'z', '!']);
    assert.deepEqual(Object.keys(later), ['0', '1', '2', '3']);
    delete later[3];
    assert.equal(2 in later, true);
    assert.equal(3 in later, false);
  });
});

describe('an object', () => {
  test('takes any name as a property', () => {
    const names = [
      '',
      '__proto__',
      'constructor',
      'toString',
      'length',
      '[0]',
      '[000000]',
      '[]',
      'a.b',
      '01',
      '\u001b',
      '😀',
    ];
    for (const name of names) things[name] = { is: name };
    for (const name of names) {
      assert.deepEqual(things[name].valueOf(), { is: name }, name);
      assert.equal(Object.hasOwn(things, name), true, name);
    }
    assert.deepEqual(Object.keys(things).sort(), [...names].sort());
    assert.equal(Reflect.get({}, 'is'), undefined);
    for (const name of names) {
      delete things[name];
      assert.equal(name in things, false, name);
    }
  });

  test('takes any JSON under any name', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 20 }),
        fc.jsonValue({ maxDepth: 3 }),
        (name, value) => {
          fc.pre(!name.startsWith('_'));
          root.delete();
          things[name] = value;
          assert.deepEqual(root.document, JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`));
        },
      ),
      { numRuns: 200 },
    );
  });

  test('is shown by JSON and inspection as its document', () => {
    things.a = { b: [1, { c: null }] };
    assert.equal(JSON.stringify(things), '{"a":{"b":[1,{"c":null}]}}');
    assert.equal(JSON.stringify(things.a.b), '[1,{"c":null}]');
    assert.equal(inspect(things.a.b), '[ 1, { c: null } ]');
    assert.equal(inspect(things.a.b[1]), '{ c: null }');
    assert.equal(Object.getPrototypeOf(things.a), Object.prototype);
  });

  test('is a value where JavaScript wants one', () => {
    things.n = 4;
    things.s = 'text';
    things.none = null;
    assert.equal(things.n * 2, 8);
    assert.equal(`${things.s}`, 'text');
    assert.equal(`${things}`, '[object Object]');
    assert.equal(things.none.valueOf(), null);
    assert.equal(things.missing.valueOf(), '');
    things.n += 3;
    assert.equal(things.n._get, 7);
  });

  test('gives its node and takes a value for it', () => {
    things.a._value = 5;
    assert.equal(root.$('a').value, 5);
    things.a._document = { x: 1 };
    assert.deepEqual(root.$('a').document, { x: 1 });
    assert.equal(things._increment(2), '2');
    assert.equal(things.a._hasChildren, true);
    assert.equal(things.a._$('x').value, 1);
    assert.deepEqual(
      things._children.map((/** @type {any} */ node) => node.path),
      ['Things.a'],
    );
  });

  test('ignores undefined, refuses symbols', () => {
    things.a = undefined;
    assert.equal('a' in things, false);
    assert.throws(() => {
      things[Symbol('s')] = 1;
    }, TypeError);
    assert.equal(things[Symbol('s')], undefined);
  });

  test('can be copied from another proxy, defined and spread', () => {
    things.a = { x: [1], y: 'z' };
    things.b = things.a;
    assert.deepEqual(things.b.valueOf(), { x: [1], y: 'z' });
    Object.assign(things.b, { y: 'w' });
    Object.defineProperty(things.b, 'q', { value: 1, writable: true, enumerable: true, configurable: true });
    assert.deepEqual(things.b.valueOf(), { q: 1, x: [1], y: 'w' });
    assert.deepEqual(Object.keys({ ...things.b }), ['q', 'x', 'y']);
  });

  test('can be awaited', async () => {
    things.a = JSON.parse('{"then":"not a promise"}');
    assert.equal((await things.a).then.valueOf(), 'not a promise');
  });

  test('cannot be frozen, and stays usable', () => {
    things.a = { x: 1 };
    things.list = [1, 2];
    for (const proxy of [things.a, things.list]) {
      for (const refused of [Object.freeze, Object.seal, Object.preventExtensions]) {
        assert.throws(() => refused(proxy), { name: 'TypeError', code: 'ERR_ARG', message: /frozen/ });
      }
      assert.equal(Object.isExtensible(proxy), true);
    }
    things.a.y = 2;
    things.list.push(3);
    assert.deepEqual(root.document, { a: { x: 1, y: 2 }, list: [1, 2, 3] });
  });

  test('has no properties that a store cannot keep', () => {
    things.a = { x: 1 };
    things.list = [1];
    for (const [proxy, name] of [
      [things.a, 'y'],
      [things.list, '1'],
    ]) {
      for (const descriptor of [
        { get: () => 1 },
        { value: 1, configurable: false },
        { value: 1, writable: false },
        { value: 1, enumerable: false },
      ]) {
        assert.throws(() => Object.defineProperty(proxy, name, descriptor), {
          name: 'TypeError',
          code: 'ERR_ARG',
        });
      }
    }
    assert.deepEqual(root.document, { a: { x: 1 }, list: [1] });
  });
});
