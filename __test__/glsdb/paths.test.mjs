// Keys and paths: what a program writes becomes the subscript it means, and a path leads back to its node.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compareSubscripts, isCanonicalNumber } from '../../js/glsdb/collation.mjs';
import {
  indexKey,
  indexOfKey,
  isIndexKey,
  numberKey,
  propertyOfSubscript,
  subscriptOf,
  subscriptOfProperty,
} from '../../js/glsdb/keys.mjs';
import { parsePath, pathOf } from '../../js/glsdb/paths.mjs';

describe('paths', () => {
  test('are taken apart at dots and indexes', () => {
    assert.deepEqual(parsePath('Person'), ['Person']);
    assert.deepEqual(parsePath('Person.1.colours[0]'), ['Person', '1', 'colours', '[000000]']);
    assert.deepEqual(parsePath('a[1][23].b'), ['a', '[000001]', '[000023]', 'b']);
    assert.deepEqual(parsePath('a.b#056c'), ['a', 'b.c']);
    assert.deepEqual(parsePath('a[x]b'), ['a', 'x', 'b']);
    assert.throws(() => parsePath(''), { code: 'ERR_ARG' });
    assert.throws(() => parsePath('..'), { code: 'ERR_ARG' });
  });

  test('are written with the same escapes', () => {
    assert.equal(pathOf('a', ['b.c', '[000012]', 'd']), 'a.b#056c[12].d');
    assert.equal(pathOf('a', ['[x]', '#056', '#1']), 'a.#133x#135.#043056.#1');
  });

  test('lead back to their node, whatever the keys', () => {
    const key = fc.oneof(
      fc.string({ minLength: 1, unit: 'binary' }),
      fc.string({ minLength: 1, unit: fc.constantFrom('.', '[', ']', '#', '0', '5', '6', '1', '3') }),
      fc.nat(5_000_000).map(indexKey),
    );
    fc.assert(
      fc.property(fc.array(key, { minLength: 1 }), (keys) => {
        fc.pre(!isIndexKey(keys[0]));
        assert.deepEqual(parsePath(pathOf(keys[0], keys.slice(1))), keys);
      }),
    );
  });
});

describe('array indexes', () => {
  test('have six digits, longer ones a letter that keeps their order', () => {
    assert.equal(indexKey(0), '[000000]');
    assert.equal(indexKey('7'), '[000007]');
    assert.equal(indexKey(999_999), '[999999]');
    assert.equal(indexKey(1_000_000), '[a1000000]');
    assert.equal(indexKey(4_294_967_294), '[d4294967294]');
    for (const wrong of [-1, 1.5, Number.NaN, 2 ** 32, 'x', '', '-1']) {
      assert.throws(() => indexKey(wrong), { code: 'ERR_ARG', name: 'TypeError' });
    }
  });

  test('come back, in order', () => {
    const index = fc.oneof(fc.nat(2_000_000), fc.nat(4_294_967_294));
    fc.assert(
      fc.property(index, index, (a, b) => {
        assert.equal(indexOfKey(indexKey(a)), a);
        assert.equal(isIndexKey(indexKey(a)), true);
        assert.equal(Math.sign(compareSubscripts(indexKey(a), indexKey(b))), Math.sign(a - b));
      }),
    );
  });

  test('are not what only looks like one', () => {
    for (const key of [
      '[0]',
      '[x]',
      '[]',
      '[0000000]',
      '[a100000]',
      '[a0000000]',
      'x[000000]',
      '[000000',
      '000000',
    ]) {
      assert.equal(isIndexKey(key), false, key);
    }
  });
});

describe('keys that a program passes', () => {
  test('become subscripts', () => {
    assert.equal(subscriptOf('x'), 'x');
    assert.equal(subscriptOf('0.5'), '0.5');
    assert.equal(subscriptOf(0.5), '.5');
    assert.equal(subscriptOf(-0.25), '-.25');
    assert.equal(subscriptOf(12n), '12');
    assert.equal(subscriptOf(true), 'true');
    assert.equal(subscriptOf('[3]'), '[000003]');
    assert.equal(subscriptOf('[1234567]'), '[a1234567]');
    assert.equal(subscriptOf('[a1234567]'), '[a1234567]');
    assert.equal(subscriptOf('[x]'), '[x]');
    for (const wrong of [null, undefined, {}, [], () => 1]) {
      assert.throws(() => subscriptOf(wrong), { code: 'ERR_ARG', name: 'TypeError' });
    }
  });

  test('numbers are written as M writes them', () => {
    assert.equal(numberKey(-0), '0');
    assert.equal(numberKey(1e21), `1${'0'.repeat(21)}`);
    assert.equal(numberKey(1.5e-7), '.00000015');
    assert.equal(numberKey(1e-43), `.${'0'.repeat(42)}1`);
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, 1e47, -1e47, 1e-44, 5e-324]) {
      assert.throws(() => numberKey(wrong), { code: 'ERR_BAD_KEY' });
    }
    const inRange = fc.double({ noNaN: true, min: -1e46, max: 1e46 });
    fc.assert(
      fc.property(inRange, (number) => {
        fc.pre(number === 0 || Math.abs(number) >= 1e-43);
        const key = numberKey(number);
        assert.equal(Number(key), number === 0 ? 0 : number);
        assert.equal(isCanonicalNumber(key), true, key);
      }),
    );
  });

  test('keys of documents have one subscript each, never the empty one', () => {
    const name = fc.string({ unit: fc.constantFrom('', '\u001b', 'a', '[', ']', '0'), maxLength: 9 });
    fc.assert(
      fc.property(name, (text) => {
        assert.notEqual(subscriptOfProperty(text), '');
        assert.equal(propertyOfSubscript(subscriptOfProperty(text)), text);
      }),
    );
  });
});

describe('collation', () => {
  const oracle = new URL('../oracle/collation.json', import.meta.url);
  /** @type {{ in: string, canonical: boolean }[]} */
  const rows = JSON.parse(readFileSync(oracle, 'utf8'));

  test('is that of a real M engine', () => {
    for (const [at, row] of rows.entries()) {
      assert.equal(isCanonicalNumber(row.in), row.canonical, row.in);
      if (at > 0)
        assert.ok(compareSubscripts(rows[at - 1].in, row.in) < 0, `${rows[at - 1].in} before ${row.in}`);
    }
  });

  test('sorts text by its UTF-8 bytes', () => {
    const text = fc.string({ minLength: 1, unit: 'binary' }).map((word) => `s${word}`);
    fc.assert(
      fc.property(text, text, (a, b) => {
        assert.equal(Math.sign(compareSubscripts(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
    assert.ok(compareSubscripts('s\uffee', 's😀') < 0);
  });
});
