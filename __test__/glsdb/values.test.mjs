// Single values: what is set comes back with its type, and text that others wrote stays text unless a program asks for
// the reading of the published glsdb.

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { openStore } from './store.mjs';

const { glsdb } = openStore();
const legacy = openStore({ legacyValues: true }).glsdb;
const root = new glsdb.node('Values');
const node = root.$('v');

beforeEach(() => {
  root.delete();
});

describe('value', () => {
  test('keeps its type', () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constantFrom(null, '007', '0.5', '.5', 'true', 'null', '', ' '),
    );
    fc.assert(
      fc.property(value, (stored) => {
        node.value = stored;
        assert.ok(Object.is(node.value, stored));
        assert.ok(Object.is(node.getValue(), stored));
      }),
    );
  });

  test('of bytes comes back as bytes', () => {
    node.value = Buffer.from([0, 200, 255]);
    assert.ok(node.value instanceof Uint8Array);
    assert.deepEqual([...node.value], [0, 200, 255]);
  });

  test('undefined is the empty string, a bigint its digits', () => {
    node.value = undefined;
    assert.equal(node.value, '');
    assert.equal(node.exists, true);
    node.value = 12345678901234567890n;
    assert.equal(node.value, '12345678901234567890');
    for (const wrong of [() => 1, Symbol('s')]) {
      assert.throws(
        () => {
          node.value = wrong;
        },
        { code: 'ERR_ARG', name: 'TypeError' },
      );
    }
  });

  test('an object goes to the document, and the document answers where there is no value', () => {
    node.value = { a: [1] };
    assert.deepEqual(node.value, { a: [1] });
    assert.equal(node.getValue(), '');
    node.value = [];
    assert.deepEqual(node.value, []);
  });

  test('and children live side by side', () => {
    node.value = 'v';
    node.$('child').value = 'c';
    assert.equal(node.defined, '11');
    assert.equal(node.hasValue, true);
    assert.equal(node.isLeafNode, false);
    assert.equal(node.value, 'v');
    assert.deepEqual(node.document, { child: 'c' });
    node.value = 'w';
    assert.deepEqual(node.document, { child: 'c' });
    node.$('child').delete();
    assert.equal(node.document, 'w');
  });

  test('of a node that is not there', () => {
    assert.equal(node.value, '');
    assert.equal(node.getValue(), '');
    assert.equal(node.hasValue, false);
  });
});

describe('increment', () => {
  test('leaves a number, and text where text was', () => {
    node.increment();
    assert.equal(node.value, 1);
    node.increment(-0.5);
    assert.equal(node.value, 0.5);
    node.value = '12abc';
    assert.equal(node.increment(), '13');
    assert.equal(node.value, '13');
    const { db, mglobal } = glsdb.dbx;
    assert.equal(new mglobal(db, 'Values').increment('v', 1), '14');
  });

  test('counts in decimal and answers a string', () => {
    assert.equal(node.increment(), '1');
    assert.equal(node.increment(10), '11');
    assert.equal(node.increment(-0.5), '10.5');
    assert.equal(node.increment(0), '10.5');
    assert.equal(root.$(node.increment('0.5')).key, '11');
  });
});

describe('legacyValues', () => {
  /** What the published glsdb writes, and what it reads from it. */
  const READINGS = [
    ['null', null],
    ['true', true],
    ['false', false],
    ['.5', 0.5],
    ['-.5', -0.5],
    ['42', 42],
    ['007', 7],
    ['123456789012345', '123456789012345'],
    ['text', 'text'],
    ['', ''],
  ];

  test('reads text as the published glsdb does', () => {
    const place = new legacy.node('Values.1');
    const { db, mglobal } = legacy.dbx;
    const stored = new mglobal(db, 'Values');
    for (const [text, value] of READINGS) {
      stored.set(1, 'x', text);
      assert.equal(place.$('x').value, value);
      assert.deepEqual(place.document, { x: value });
      assert.deepEqual(place.document_q, { x: value });
      assert.deepEqual(legacy.document(place, 'next'), { x: value });
    }
  });

  test('is off by default: text stays text', () => {
    const { db, mglobal } = glsdb.dbx;
    const stored = new mglobal(db, 'Values');
    for (const [text] of READINGS) {
      stored.set('v', text);
      assert.equal(node.value, text);
      assert.equal(node.document, text);
    }
  });

  test('arrays and empty arrays of the published glsdb read as arrays', () => {
    const { db, mglobal } = legacy.dbx;
    const stored = new mglobal(db, 'Values');
    stored.set(2, 'list', '[000000]', 'a');
    stored.set(2, 'list', '[000001]', '2');
    stored.set(2, 'none', '[]', '');
    const place = new legacy.node('Values.2');
    assert.deepEqual(place.document, { list: ['a', 2], none: [] });
    assert.deepEqual(place.document_q, { list: ['a', 2], none: [] });
    assert.deepEqual(legacy.document(place, 'next'), { list: ['a', 2], none: [] });
    assert.equal(place.$('none').isArray, true);
    assert.equal(place.$('none').length, 0);
    assert.equal(place.$('none').push('first'), 1);
    assert.deepEqual(place.$('none').document, ['first']);
  });
});
