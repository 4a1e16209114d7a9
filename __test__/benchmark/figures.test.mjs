// Promise: a benchmark makes the database calls that the showcase makes, counts the calls it really made, and tells times
// and rates that a person can believe.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { BenchmarkStore, PERSON } from './run.mjs';

const NONE = { set: 0, get: 0, inc: 0, def: 0, nxt: 0, nxq: 0, doc: 0 };

describe('the figures of a benchmark', () => {
  /** @type {BenchmarkStore} */
  let store;
  before(() => {
    store = new BenchmarkStore();
  });
  after(() => store.close());

  /** @param {object} body */
  const countsOf = async (body) => {
    const reply = await store.run(body);
    assert.deepEqual(Object.keys(reply), ['set', 'get', 'get_q', 'document_set', 'document_get']);
    return Object.fromEntries(Object.entries(reply).map(([name, section]) => [name, section.dbxCounts]));
  };

  test('one leaf: the counts of the showcase', async () => {
    assert.deepEqual(
      await countsOf({ documentName: 'bmTest', json: "{hello:'world'}", noOfRecords: '100' }),
      {
        set: { ...NONE, set: 100 },
        get: { ...NONE, get: 100, def: 200, nxt: 200 },
        get_q: { ...NONE, def: 100, nxt: 100, nxq: 199 },
        document_set: { ...NONE, doc: 100 },
        document_get: { ...NONE, doc: 100 },
      },
    );
  });

  test('five leaves on two levels: the counts of the showcase', async () => {
    assert.deepEqual(await countsOf({ json: PERSON, noOfRecords: 100 }), {
      set: { ...NONE, set: 500 },
      get: { ...NONE, get: 500, def: 700, nxt: 800 },
      get_q: { ...NONE, def: 100, nxt: 100, nxq: 599 },
      document_set: { ...NONE, doc: 100 },
      document_get: { ...NONE, doc: 100 },
    });
  });

  test('plain text: the counts of the showcase', async () => {
    assert.deepEqual(await countsOf({ json: 'The quick brown fox', noOfRecords: 5 }), {
      set: { ...NONE, set: 5 },
      get: { ...NONE, get: 5, def: 5 },
      get_q: { ...NONE, get: 5, def: 5 },
      document_set: { ...NONE, doc: 5 },
      document_get: { ...NONE, doc: 5 },
    });
  });

  test('the counts are those of the calls that were made', async () => {
    // Calls on the last record: none of them is made outside the timed sections.
    const made = { set: 0, get: 0, defined: 0, next: 0, setDocumentText: 0, documentText: 0 };
    const mgdbx = store.replacing((real) =>
      Object.fromEntries(
        Object.keys(made).map((name) => [
          name,
          (...given) => {
            if (given[0] === 7 && given.length > (name === 'next' ? 1 : 0))
              made[/** @type {'set'} */ (name)] += 1;
            return real[name](...given);
          },
        ]),
      ),
    );
    const { set, get, get_q, document_set, document_get } = await store.run(
      { json: PERSON, noOfRecords: 7 },
      { mgdbx },
    );
    assert.equal(made.set, set.dbxCounts.set / 7);
    assert.equal(made.get, get.dbxCounts.get / 7);
    assert.equal(made.defined, (get.dbxCounts.def + get_q.dbxCounts.def) / 7);
    assert.equal(made.next, (get.dbxCounts.nxt + get_q.dbxCounts.nxt) / 7);
    assert.equal(made.setDocumentText, document_set.dbxCounts.doc / 7);
    assert.equal(made.documentText, document_get.dbxCounts.doc / 7);
  });

  test('times and rates are text, the rate is finite and fits the time', async () => {
    const reply = await store.run({ json: '1', noOfRecords: 1500 });
    for (const { noOfRecords, totalTime, rate } of Object.values(reply)) {
      assert.equal(noOfRecords, '1,500');
      assert.match(totalTime, /^\d+(\.\d+)?$/);
      assert.match(rate, /^\d{1,3}(,\d{3})*$/);
      const seconds = Number(totalTime);
      assert.ok(seconds > 0);
      const told = Number(rate.replaceAll(',', ''));
      assert.ok(Math.abs((told * seconds) / 1500 - 1) < 0.02, `${told} a second for ${seconds} s`);
    }
  });

  test('one record of one leaf, below the resolution of many clocks, still has a finite rate', async () => {
    const reply = await store.run({ json: '1', noOfRecords: 1 });
    for (const { rate, totalTime } of Object.values(reply)) {
      assert.match(rate, /^[\d,]+$/);
      assert.ok(Number(totalTime) > 0);
    }
  });

  test('without name and number it runs 100 records on ^bmTest', async () => {
    const reply = await store.run({ json: PERSON });
    assert.equal(reply.set.noOfRecords, '100');
    const global = store.global('bmTest');
    assert.equal(global.previous(''), '100');
    assert.equal(global.get(100, 'address', 'city'), 'Redhill');
    assert.equal(global.get(100, 'address', 'houseNo'), '9');
  });
});
