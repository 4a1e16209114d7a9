// Events: each is one call on the store, with the names and payloads of the published glsdb, so that programs can count
// what their code costs.

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { openStore, rob } from './store.mjs';

const { glsdb } = openStore();
const root = new glsdb.node('Counted');

const TYPES = [
  'get',
  'set',
  'delete',
  'increment',
  'defined',
  'next',
  'previous',
  'cursor_next',
  'cursor_previous',
  'lock',
  'unlock',
  'document_get',
  'document_set',
  'document_merge',
];

beforeEach(() => root.delete());

/**
 * @param {() => void} work
 * @returns {{ type: string, payload: any }[]} the events it caused
 */
function events(work) {
  /** @type {{ type: string, payload: any }[]} */
  const seen = [];
  for (const type of TYPES) glsdb.on(type, (payload) => seen.push({ type, payload }));
  try {
    work();
  } finally {
    for (const type of TYPES) glsdb.off(type);
  }
  return seen;
}

/**
 * @param {() => void} work
 * @returns {Record<string, number>} how many events of each kind it caused
 */
function counts(work) {
  /** @type {Record<string, number>} */
  const result = {};
  for (const { type } of events(work)) result[type] = (result[type] ?? 0) + 1;
  return result;
}

describe('payloads', () => {
  test('have node, subscripts and what belongs to the call', () => {
    const node = root.$('a').$('b');
    const seen = events(() => {
      node.value = 'x';
      node.getValue();
      void node.exists;
      void node.defined;
      node.increment(2);
      void root.firstChild;
      void root.lastChild;
      node.lock(1);
      node.unlock();
      node.delete();
    });
    const shapes = seen.map(({ type, payload: { node: at, ...rest } }) => [type, at.path, rest]);
    const subscripts = ['a', 'b'];
    assert.deepEqual(shapes, [
      ['set', 'Counted.a.b', { subscripts, value: 'x' }],
      ['get', 'Counted.a.b', { subscripts }],
      ['defined', 'Counted.a.b', { subscripts, method: 'exists' }],
      ['defined', 'Counted.a.b', { subscripts, method: 'defined' }],
      ['increment', 'Counted.a.b', { subscripts, by: 2 }],
      ['next', 'Counted', { subscripts: [''] }],
      ['previous', 'Counted', { subscripts: [''] }],
      ['lock', 'Counted.a.b', { subscripts: ['a', 'b', 1] }],
      ['unlock', 'Counted.a.b', { subscripts }],
      ['delete', 'Counted.a.b', { subscripts }],
    ]);
  });

  test('of walks have the seed of each step, those of cursors what was found', () => {
    root.document = { a: 1, b: { c: 2 } };
    const steps = events(() => root.forEachChildNode(() => {}));
    assert.deepEqual(
      steps.map(({ type, payload }) => [type, payload.node.path, payload.subscripts]),
      [
        ['next', 'Counted', ['']],
        ['next', 'Counted', ['a']],
      ],
    );
    const leaves = events(() => root.forEachLeafNode(() => {}));
    assert.deepEqual(
      leaves.map(({ type, payload }) => [type, payload.subscripts]),
      [
        ['cursor_next', ['Counted', 'a']],
        ['cursor_next', ['Counted', 'b', 'c']],
      ],
    );
    const back = counts(() => {
      root.forEachChildNode({ direction: 'reverse' }, () => {});
      root.forEachLeafNode({ direction: 'reverse' }, () => {});
    });
    assert.deepEqual(back, { previous: 2, cursor_previous: 2 });
  });

  test('of documents have the document', () => {
    const seen = events(() => {
      root.document = { a: 1 };
      root.merge({ b: 2 });
      void root.document;
    });
    assert.deepEqual(
      seen.map(({ type, payload }) => [type, payload.value]),
      [
        ['document_set', { a: 1 }],
        ['document_merge', { b: 2 }],
        ['document_get', undefined],
      ],
    );
  });

  test('can be changed by a listener without harm to the node', () => {
    glsdb.on('get', ({ subscripts }) => subscripts.push('spoilt'));
    root.$('a').value = 1;
    const node = root.$('a');
    assert.equal(node.getValue(), 1);
    assert.equal(node.getValue(), 1);
    glsdb.off('get');
    node.subscripts.push('spoilt');
    node.keys.pop();
    assert.equal(node.path, 'Counted.a');
  });
});

describe('the counts of the benchmark', () => {
  /**
   * @param {any} document
   * @param {number} records
   */
  function benchmark(document, records) {
    const set = counts(() => {
      for (let id = 1; id <= records; id += 1) root.$(id).setLeaves(document);
    });
    const get = counts(() => {
      for (let id = 1; id <= records; id += 1) assert.deepEqual(glsdb.document(root.$(id), 'next'), document);
    });
    const quick = counts(() => {
      for (let id = 1; id <= records; id += 1) assert.deepEqual(root.$(id).document_q, document);
    });
    return { set, get, quick };
  }

  test('for one leaf', () => {
    const { set, get, quick } = benchmark({ hello: 'world' }, 100);
    assert.deepEqual(set, { set: 100 });
    assert.deepEqual(get, { get: 100, defined: 200, next: 200 });
    assert.deepEqual(quick, { defined: 100, next: 100, cursor_next: 199 });
  });

  test('for the person with five leaves', () => {
    const person = {
      firstName: 'Rob',
      lastName: 'Tweed',
      address: { city: 'Redhill', county: 'Surrey', houseNo: 9 },
    };
    const { set, get, quick } = benchmark(person, 100);
    assert.deepEqual(set, { set: 500 });
    assert.deepEqual(get, { get: 500, defined: 700, next: 800 });
    assert.deepEqual(quick, { defined: 100, next: 100, cursor_next: 599 });
  });

  test('for plain text', () => {
    const { set, get, quick } = benchmark('just text', 5);
    assert.deepEqual(set, { set: 5 });
    assert.deepEqual(get, { get: 5, defined: 5 });
    assert.deepEqual(quick, { get: 5, defined: 5 });
  });

  test('a document in one call is one event', () => {
    const seen = counts(() => {
      root.$(1).document = rob();
      assert.deepEqual(root.$(1).document, rob());
    });
    assert.deepEqual(seen, { document_set: 1, document_get: 1 });
  });
});

describe('on, off and emit', () => {
  test('one listener for a type, called on the instance, until off', () => {
    /** @type {any[]} */
    const heard = [];
    glsdb.on('mine', function (payload) {
      heard.push([this === glsdb, payload]);
    });
    glsdb.on('mine', () => heard.push('second'));
    glsdb.emit('mine', 1);
    glsdb.off('mine');
    glsdb.emit('mine', 2);
    glsdb.on('mine', () => heard.push('after off'));
    glsdb.emit('mine');
    glsdb.off('mine');
    glsdb.off('never');
    assert.deepEqual(heard, [[true, 1], 'after off']);
    assert.throws(() => glsdb.on('mine', /** @type {any} */ (undefined)), { code: 'ERR_ARG' });
  });

  test('value answers the same with and without listeners', () => {
    root.document = { text: 'x', map: { a: 1 }, none: [], nothing: null };
    const read = () => ['text', 'map', 'none', 'nothing', 'missing'].map((key) => root.$(key).value);
    const quiet = read();
    let loud;
    events(() => {
      loud = read();
    });
    assert.deepEqual(quiet, ['x', { a: 1 }, [], null, '']);
    assert.deepEqual(loud, quiet);
  });
});
