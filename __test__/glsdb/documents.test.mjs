// A document comes back as it was, by each way of reading it; writing replaces, merging merges, and a patch touches
// what it names.

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { openStore } from './store.mjs';

const { glsdb } = openStore();
const node = new glsdb.node('Documents').$(1);

beforeEach(() => new glsdb.node('Documents').delete());

/**
 * @param {any} document
 * @returns {any} what JSON makes of it
 */
function asJson(document) {
  return JSON.parse(JSON.stringify(document));
}

/**
 * Stores a document and checks what each way of reading gives.
 *
 * @param {any} document
 */
function roundTrips(document) {
  node.document = document;
  const expected = asJson(document);
  assert.deepEqual(node.document, expected);
  assert.deepEqual(node.document_q, expected);
  assert.deepEqual(glsdb.document(node), expected);
  assert.deepEqual(glsdb.document(node, 'next'), expected);
  assert.deepEqual(glsdb.document(node, 'mcursor'), expected);
}

/** Where the published glsdb loses information, row by row. */
const LOSSES = {
  'strings that look like numbers': ['0790123456', '1.0', '007', '.5', '-.5', '0.5', '1e3', '12', '0'],
  'strings that look like booleans or null': ['true', 'false', 'null', 'undefined', 'NaN'],
  'small and tiny numbers': [0.5, -0.5, 1e-7, 5e-324, -1e-9],
  'long numbers': [123456789012345, 123456789012345680000, 1.7976931348623157e308, 0.1234567890123456, 1e21],
  blanks: ['', ' ', '\n', '\0', '\u00a0'],
  empties: [{}, [], [[]], [{}], { a: {} }, { a: [] }, [[], {}, [[]]], { a: { b: { c: [] } } }],
  'null, true and false as whole documents': [null, true, false],
  'the empty key': [{ '': 1 }, { '': { '': { '': [] } } }, { '': {}, a: '' }],
  'keys that look like something else': [
    { '[0]': 'a', '[x]': 'b', 'a.b': 'c', '01': 'd', 1: 'e', '1.0': 'f', '.5': 'g', 0.5: 'h', '#056': 'i' },
    { '[000000]': 'a' },
    { '[000000]': { '[000001]': [] }, x: 1 },
    { '[]': '' },
    { '[a1000000]': 1, '[1000000]': 2 },
    [{ '[000000]': ['x'] }],
    { '\u001b': 1, '\u001b\u001b': 2, '\u001ba': 3, '\u0001': 4 },
  ],
  'siblings with a common beginning': [{ a: 1, a1: { b: 2 }, 'a\0b': 3, ab: [4] }],
  depth: [{ a: { b: { c: { d: { e: { f: { g: { h: { i: { j: [[[[[[1]]]]]] } } } } } } } } } }],
  text: ['😀', 'naïve', '\u{10ffff}', '\ufeff', '"\\'],
};

describe('round trip', () => {
  for (const [what, documents] of Object.entries(LOSSES)) {
    test(what, () => {
      for (const document of documents) {
        roundTrips(document);
        roundTrips({ inside: document });
        roundTrips([document, 'after']);
      }
    });
  }

  test('__proto__ is a key like any other and pollutes nothing', () => {
    const document = JSON.parse(
      '{"__proto__":{"polluted":1},"a":{"__proto__":"x","constructor":{"prototype":{"y":1}}}}',
    );
    node.document = document;
    for (const read of [node.document, node.document_q, glsdb.document(node, 'next')]) {
      assert.deepEqual(Object.keys(read), ['__proto__', 'a']);
      assert.equal(JSON.stringify(read), JSON.stringify(document));
    }
    assert.equal(Reflect.get({}, 'polluted'), undefined);
    node.merge(JSON.parse('{"__proto__":{"more":2}}'));
    node.patch(JSON.parse('{"__proto__":{"polluted":null}}'));
    assert.equal(JSON.stringify(node.property('__proto__').document), '{"more":2}');
    assert.equal(Reflect.get({}, 'more'), undefined);
  });

  test('any JSON with hostile keys and any finite double', () => {
    const key = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom(
        '',
        '[000000]',
        '[]',
        '[1]',
        '\u0001',
        '__proto__',
        'toJSON',
        '1',
        '01',
        '-0',
        '.5',
        'length',
      ),
    );
    const { document } = fc.letrec((/** @type {(name: string) => fc.Arbitrary<any>} */ tie) => ({
      document: fc.oneof({ maxDepth: 4 }, tie('leaf'), tie('array'), tie('object')),
      leaf: fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
      ),
      array: fc.array(tie('document'), { maxLength: 5 }),
      object: fc.dictionary(key, tie('document'), { maxKeys: 5, noNullPrototype: true }),
    }));
    fc.assert(
      fc.property(document, (value) => {
        // A dictionary cannot give __proto__ as a key of its own, and a toJSON of its own would be called if it could.
        roundTrips(value);
      }),
      { numRuns: 300 },
    );
  });

  test('keys come back in collation order', () => {
    node.document = { b: 1, 10: 1, a: 1, 9: 1, '-1': 1, B: 1 };
    /** @type {any[]} */
    const names = [];
    node.forEachChildNode((child) => {
      names.push(child.key);
    });
    assert.deepEqual(names, ['-1', '9', '10', 'B', 'a', 'b']);
  });

  test('what is no JSON goes as JSON.stringify has it', () => {
    const when = new Date(0);
    node.document = { when, none: undefined, call() {}, map: new Map([[1, 2]]), list: [undefined, () => 1] };
    assert.deepEqual(node.document, { when: when.toISOString(), map: {}, list: [null, null] });
    assert.throws(() => {
      node.document = { big: 1n };
    }, TypeError);
    /** @type {any} */
    const cycle = {};
    cycle.self = cycle;
    assert.throws(() => {
      node.document = cycle;
    }, TypeError);
    assert.throws(
      () => {
        node.document = () => 1;
      },
      { code: 'ERR_ARG' },
    );
    assert.throws(() => {
      node.document = { a: '\ud800' };
    }, TypeError);
    assert.deepEqual(node.document, { when: when.toISOString(), map: {}, list: [null, null] });
  });

  test('bytes come back as bytes, at any place', () => {
    const bytes = new Uint8Array([0, 255, 1]);
    node.document = { file: Buffer.from(bytes), list: [bytes, 'text'], '[000000]': bytes };
    const expected = { '[000000]': bytes, file: bytes, list: [bytes, 'text'] };
    assert.deepEqual(node.document, expected);
    assert.deepEqual(node.document_q, expected);
    assert.deepEqual(glsdb.document(node, 'next'), expected);
    assert.deepEqual(node.$('file').document, bytes);
  });

  test('a document of bytes comes back as bytes', () => {
    node.document = { a: 1 };
    node.document = new Uint8Array([0, 255, 1]);
    assert.deepEqual(Array.from(node.value), [0, 255, 1]);
    assert.equal(node.hasChildren, false);
  });

  test('nothing stored reads as the empty string', () => {
    assert.equal(node.document, '');
    assert.equal(node.document_q, '');
    assert.equal(glsdb.document(node, 'next'), '');
    assert.equal(node.exists, false);
  });

  test('deeper than a key can be is an error that changes nothing', () => {
    node.document = { kept: true };
    /** @type {any} */
    let deep = 1;
    for (let level = 0; level < 3000; level += 1) deep = { deeper: deep };
    assert.throws(
      () => {
        node.document = deep;
      },
      { code: 'ERR_KEY_TOO_LONG' },
    );
    assert.deepEqual(node.document, { kept: true });
  });

  test('a node or its proxy stands for its document', () => {
    node.document = { a: [1, { b: null }] };
    const copy = new glsdb.node('Documents.copy');
    copy.document = node;
    assert.deepEqual(copy.document, node.document);
    copy.document = node.proxy.a;
    assert.deepEqual(copy.document, [1, { b: null }]);
    copy.document = { inside: node.$('a'), proxied: node.proxy };
    assert.deepEqual(copy.document, { inside: [1, { b: null }], proxied: node.document });
    assert.equal(JSON.stringify(node), '{"a":[1,{"b":null}]}');
    assert.equal(inspect(node), 'node Documents.1');
  });

  test('a proxy is read as its node', () => {
    node.document = { a: [1] };
    assert.deepEqual(glsdb.document(node.proxy), { a: [1] });
    assert.throws(() => glsdb.document(/** @type {any} */ ('Documents')), { code: 'ERR_ARG' });
    assert.throws(() => glsdb.document(/** @type {any} */ (undefined)), { code: 'ERR_ARG' });
  });
});

describe('set replaces, merge merges', () => {
  test('a shorter document leaves nothing of the longer one', () => {
    node.document = { a: { b: 1, c: 2 }, list: [1, 2, 3] };
    node.document = { list: [9] };
    assert.deepEqual(node.document, { list: [9] });
    node.document = 'scalar';
    assert.equal(node.defined, '1');
    node.document = [];
    assert.deepEqual(node.document, []);
    node.document = { x: 1 };
    assert.deepEqual(node.document, { x: 1 });
  });

  test('a merge keeps what it does not name', () => {
    node.document = { a: { b: 1, c: 2 }, d: 'x' };
    node.merge({ a: { b: 9, e: [1] } });
    assert.deepEqual(node.document, { a: { b: 9, c: 2, e: [1] }, d: 'x' });
  });

  test('neighbours and the value of the node above stay', () => {
    const root = new glsdb.node('Documents');
    root.value = 'above';
    root.$('a').document = { x: 1 };
    root.$('a1').document = { x: 2 };
    root.$('a').document = { y: 1 };
    assert.deepEqual(root.$('a1').document, { x: 2 });
    assert.equal(root.value, 'above');
    assert.deepEqual(root.document, { a: { y: 1 }, a1: { x: 2 } });
  });

  test('setLeaves writes over what is there, one scalar at a time', () => {
    node.document = { kept: 1, a: 'old' };
    node.setLeaves({ a: { b: 'x', list: [1, { c: null }], empty: {}, none: [] }, '': 'odd', '[000000]': 0 });
    assert.deepEqual(node.document, {
      kept: 1,
      a: { b: 'x', list: [1, { c: null }], empty: {}, none: [] },
      '': 'odd',
      '[000000]': 0,
    });
  });

  test('import copies a node with what is below it', () => {
    node.document = { a: { b: [1, 2] } };
    const copy = new glsdb.node('Documents.copy');
    copy.document = { kept: 1 };
    assert.equal(copy.import(node.$('a')), '0');
    assert.deepEqual(copy.document, { kept: 1, b: [1, 2] });
    copy.import(node.proxy);
    assert.deepEqual(copy.document, { kept: 1, b: [1, 2], a: { b: [1, 2] } });
  });
});

describe('JSON Merge Patch', () => {
  /** The examples of RFC 7396, appendix A: document, patch, result. */
  const EXAMPLES = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];

  test('does what its examples say', () => {
    for (const [document, change, result] of EXAMPLES) {
      node.document = document;
      node.patch(change);
      assert.deepEqual(node.document, result, JSON.stringify([document, change]));
    }
  });

  test('agrees with the algorithm of the RFC on any document', () => {
    const small = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 3 }, fc.constantFrom(null, 1, 'x'), tie('array'), tie('object')),
      array: fc.array(tie('any'), { maxLength: 2 }),
      object: fc.dictionary(fc.constantFrom('a', 'b', '', '[000000]'), tie('any'), { noNullPrototype: true }),
    })).any;
    fc.assert(
      fc.property(small, small, (document, change) => {
        node.document = document;
        node.patch(change);
        assert.deepEqual(node.document, merged(document, change));
      }),
      { numRuns: 200 },
    );
  });
});

/**
 * RFC 7396, section 2.
 *
 * @param {any} target
 * @param {any} change
 * @returns {any}
 */
function merged(target, change) {
  if (typeof change !== 'object' || change === null || Array.isArray(change)) return change;
  const isObject = typeof target === 'object' && target !== null && !Array.isArray(target);
  const result = isObject ? { ...target } : {};
  for (const [name, value] of Object.entries(change)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}

describe('JSON Pointer', () => {
  test('does what the examples of RFC 6901 say', () => {
    node.document = {
      foo: ['bar', 'baz'],
      '': 0,
      'a/b': 1,
      'c%d': 2,
      'e^f': 3,
      'g|h': 4,
      'i\\j': 5,
      'k"l': 6,
      ' ': 7,
      'm~n': 8,
    };
    const found = (/** @type {string} */ pointer) => node.pointer(pointer).document;
    assert.deepEqual(found(''), node.document);
    assert.deepEqual(found('/foo'), ['bar', 'baz']);
    assert.equal(found('/foo/0'), 'bar');
    assert.equal(found('/'), 0);
    assert.equal(found('/a~1b'), 1);
    assert.equal(found('/c%d'), 2);
    assert.equal(found('/e^f'), 3);
    assert.equal(found('/i\\j'), 5);
    assert.equal(found('/k"l'), 6);
    assert.equal(found('/ '), 7);
    assert.equal(found('/m~0n'), 8);
  });

  test('names the place behind an array, and numbers in objects', () => {
    node.document = { list: [1, 2], map: { 0: 'zero', '-': 'dash' } };
    node.pointer('/list/-').document = 3;
    assert.deepEqual(node.$('list').document, [1, 2, 3]);
    assert.equal(node.pointer('/map/0').value, 'zero');
    assert.equal(node.pointer('/map/-').value, 'dash');
    assert.equal(node.pointer('/map/nothing').exists, false);
    for (const wrong of ['foo', 'foo/bar', '/a~2', '/a~']) {
      assert.throws(() => node.pointer(wrong), { code: 'ERR_ARG', name: 'TypeError' });
    }
  });
});
