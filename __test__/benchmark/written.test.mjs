// Promise: a benchmark writes the nodes that documents have, reads back every record, and gives no figures when a record comes
// back different.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { BenchmarkStore, PERSON } from './run.mjs';

describe('what a benchmark writes and reads', () => {
  /** @type {BenchmarkStore} */
  let store;
  before(() => {
    store = new BenchmarkStore();
  });
  after(() => store.close());

  /**
   * @param {string} json
   * @returns {Promise<any[][]>} the arguments of each `set` on the benchmark's global
   */
  const leavesSet = async (json) => {
    /** @type {any[][]} */
    const calls = [];
    const mgdbx = store.replacing((real) => ({
      set: (...given) => {
        calls.push(given);
        return real.set(...given);
      },
    }));
    await store.run({ json, noOfRecords: 1 }, { mgdbx });
    return calls.filter(([first]) => first === 1);
  };

  test('one set for each leaf, at the nodes of the showcase', async () => {
    assert.deepEqual(await leavesSet(PERSON), [
      [1, 'address', 'city', 'Redhill'],
      [1, 'address', 'county', 'Surrey'],
      [1, 'address', 'houseNo', '9'],
      [1, 'name', 'Rob'],
      [1, 'telephone', '0790123456'],
    ]);
  });

  test('array elements at [000000] and on', async () => {
    assert.deepEqual(await leavesSet("{list: ['a', {b: true}]}"), [
      [1, 'list', '[000000]', 'a'],
      [1, 'list', '[000001]', 'b', 'true'],
    ]);
  });

  const DOCUMENTS = {
    scalars: '[1, -0.5, 1e-7, 5e-324, 1e300, true, false, null, "", " "]',
    'text that looks like something else': '{a: "007", b: "1.0", c: "true", d: "null", e: ".5"}',
    'empty containers': '{a: {}, b: [], c: [[], {}], d: {e: {}}}',
    'null alone': 'null',
    'an empty object alone': '{}',
    'arrays in arrays': '[[1, [2, [3]]], [[]], 4]',
    'the empty key': '{"": 1, a: {"": {b: 2}}}',
    'keys like array indexes': '{"[0]": 1, "[000000]": 2, "[x]": 3, nested: [{"[000001]": 1, z: 2}]}',
    'keys with dots, quotes, numbers and NUL':
      '{"a.b": 1, "say \\"x\\"": 2, "10": 3, "9": 4, "01": 5, "a\\u0000b": 6}',
    siblings: '{a: {b: 1}, a1: {b: 2}, ab: 3}',
    __proto__: '{"__proto__": {polluted: true}, constructor: 1}',
    'any Unicode': '{"Grüße": "日本語 🎉", "🎉": {"é": 1}}',
    'more than seven levels': '{a: {b: {c: {d: {e: {f: {g: {h: {i: {j: 1}}}}}}}}}}',
  };
  for (const [title, json] of Object.entries(DOCUMENTS)) {
    test(`comes back as written: ${title}`, async () => {
      const reply = await store.run({ json, noOfRecords: 3 });
      assert.equal(reply.error, undefined);
      assert.equal(reply.document_get.dbxCounts.doc, 3);
      assert.equal(/** @type {any} */ ({}).polluted, undefined);
    });
  }

  /**
   * @param {(real: any) => Record<string, (...given: any[]) => unknown>} faults
   */
  const runWith = (faults) =>
    store.run({ json: PERSON, noOfRecords: 20 }, { mgdbx: store.replacing(faults) });

  test('a value that comes back different is an error, not a figure', async () => {
    const reply = await runWith((real) => ({
      get: (...path) => (path[0] === 7 && path[1] === 'name' ? 'Bob' : real.get(...path)),
    }));
    assert.match(reply.error, /Record 7 of \^bmTest came back different .*\(get\)/);
    assert.equal(reply.errorCode, 500);
    assert.equal(reply.reason, 'difference');
    assert.equal(reply.set, undefined);
  });

  test('a child that is not found is an error, not a figure', async () => {
    const reply = await runWith((real) => ({
      next: (...path) => (path[0] === 3 && path.at(-1) === 'name' ? '' : real.next(...path)),
    }));
    assert.match(reply.error, /Record 3 of/);
  });

  test('a record that a cursor finds different is an error, not a figure', async () => {
    const reply = await runWith((real) => ({
      set: (...given) => real.set(...given.slice(0, -1), given[0] === 2 ? 'x' : given.at(-1)),
      get: (...path) => (path[0] === 2 ? personHas(path) : real.get(...path)),
    }));
    assert.match(reply.error, /Record 2 of .*\(get_q\)/);
  });

  test('a document that comes back different is an error, not a figure', async () => {
    const reply = await runWith((real) => ({
      documentText: (record) => (record === 20 ? '{"name":"Rob"}' : real.documentText(record)),
    }));
    assert.match(reply.error, /Record 20 of .*\(document_get\)/);
  });

  test('a record that is gone is an error, not a figure', async () => {
    const reply = await runWith((real) => ({
      documentText: (record) => (record === 5 ? undefined : real.documentText(record)),
    }));
    assert.match(reply.error, /Record 5 of .*\(document_get\)/);
  });
});

/**
 * What PERSON has at a path, so that only the cursor sees what was really stored.
 *
 * @param {any[]} path
 */
function personHas(path) {
  return {
    city: 'Redhill',
    county: 'Surrey',
    houseNo: '9',
    name: 'Rob',
    telephone: '0790123456',
  }[/** @type {'city'} */ (path.at(-1))];
}
