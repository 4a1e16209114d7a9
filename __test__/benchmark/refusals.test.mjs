// Promise: a benchmark deletes nobody's data without asking, says what is wrong with a request, and stops when it is cancelled.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import { BenchmarkStore, PERSON, SecondConnection } from './run.mjs';

describe('what a benchmark refuses', () => {
  /** @type {BenchmarkStore} */
  let store;
  before(() => {
    store = new BenchmarkStore();
  });
  after(() => store.close());

  const BAD_BODIES = {
    'no body': [undefined, /body must be a JSON object/],
    'an array': [[], /body must be a JSON object/],
    'no json': [{}, /json is missing/],
    'empty json': [{ json: '' }, /json is missing/],
    'json that is no text': [{ json: { hello: 'world' } }, /json must be a string/],
    'a number JSON cannot hold': [{ json: '{a: Infinity}' }, /Infinity/],
    'a name that is no text': [{ json: '1', documentName: 7 }, /documentName must be a string/],
    'no records': [{ json: '1', noOfRecords: 0 }, /1 to 10,000,000/],
    'too many records': [{ json: '1', noOfRecords: '10000001' }, /1 to 10,000,000/],
    'half a record': [{ json: '1', noOfRecords: 1.5 }, /1 to 10,000,000/],
    'a number in words': [{ json: '1', noOfRecords: 'ten' }, /1 to 10,000,000/],
    'a number in hexadecimal': [{ json: '1', noOfRecords: '0x10' }, /1 to 10,000,000/],
    'confirm that is no boolean': [{ json: '1', confirm: 'yes' }, /confirm must be/],
  };
  for (const [title, [body, message]] of Object.entries(BAD_BODIES)) {
    test(`400: ${title}`, async () => {
      const reply = await store.run(/** @type {any} */ (body));
      assert.match(reply.error, /** @type {RegExp} */ (message));
      assert.equal(reply.errorCode, 400);
    });
  }

  for (const documentName of ['1st', 'a b', '^^x', '^^%caretdb', 'x/y', '^', 'a'.repeat(256)]) {
    test(`400: no global has the name ${documentName.slice(0, 10)}`, async () => {
      const reply = await store.run({ json: '1', documentName });
      assert.equal(reply.errorCode, 400);
      assert.equal(reply.reason, 'name');
    });
  }

  for (const documentName of ['%caretdb', '^%caretdb']) {
    test(`400: ${documentName} is the database's own`, async () => {
      const reply = await store.run({ json: '1', documentName, confirm: true });
      assert.match(reply.error, /reserved/);
      assert.equal(reply.errorCode, 400);
    });
  }

  test('400: a document whose keys are too long, and the store is as it was', async () => {
    const reply = await store.run({ json: JSON.stringify({ ['k'.repeat(1100)]: 1 }), documentName: 'long' });
    assert.equal(reply.errorCode, 400);
    assert.equal(store.global('long').defined(), '0');
  });
});

describe('data that no benchmark wrote', () => {
  /** @type {BenchmarkStore} */
  let store;
  before(() => {
    store = new BenchmarkStore();
    store.global('Person').set(1, 'name', 'Ada');
  });
  after(() => store.close());

  test('409, and it stays', async () => {
    const reply = await store.run({ json: PERSON, documentName: 'Person' });
    assert.equal(reply.errorCode, 409);
    assert.equal(reply.reason, 'confirm');
    assert.match(reply.error, /\^Person holds data that no benchmark wrote/);
    assert.equal(store.global('Person').get(1, 'name'), 'Ada');
  });

  test('with confirm: true it goes, and from then on the global is the benchmark’s', async () => {
    const confirmed = await store.run({ json: PERSON, documentName: '^Person', confirm: true });
    assert.equal(confirmed.error, undefined);
    assert.equal(store.global('Person').get(1, 'name'), 'Rob');
    const again = await store.run({ json: '"other"', documentName: 'Person', noOfRecords: 5 });
    assert.equal(again.error, undefined);
    assert.equal(store.global('Person').previous(''), '5');
  });

  // A mark by itself would say that the global is the benchmark's for ever.
  const LATER = {
    'another child': (/** @type {any} */ global) => global.set('mine', 'kept'),
    'a value at the root': (/** @type {any} */ global) => global.setDocumentText('"kept"'),
    'a record of its own': (/** @type {any} */ global) => global.set(6, 'kept'),
    'a changed first record': (/** @type {any} */ global) => global.set(1, 'kept'),
  };
  for (const [title, write] of Object.entries(LATER)) {
    test(`409 after somebody wrote ${title} into a benchmark's global`, async () => {
      await store.run({ json: '"other"', documentName: 'Later', noOfRecords: 5, confirm: true });
      write(store.global('Later'));
      const reply = await store.run({ json: '1', documentName: 'Later' });
      assert.equal(reply.reason, 'confirm');
    });
  }

  test('409 while another benchmark runs on the global', async () => {
    const other = new SecondConnection(store);
    try {
      assert.equal(other.marks.lock('Busy', 0), '1');
      const reply = await store.run({ json: '1', documentName: 'Busy', confirm: true });
      assert.equal(reply.errorCode, 409);
      assert.equal(reply.reason, 'running');
      other.marks.unlock('Busy');
      assert.equal((await store.run({ json: '1', documentName: 'Busy' })).error, undefined);
    } finally {
      other.close();
    }
  });

  test('a global that was deleted since is free', async () => {
    await store.run({ json: '1', documentName: 'Gone', noOfRecords: 5 });
    store.global('Gone').delete();
    assert.equal((await store.run({ json: '2', documentName: 'Gone' })).error, undefined);
  });
});

describe('a cancelled benchmark', () => {
  /** @type {BenchmarkStore} */
  let store;
  beforeEach(() => {
    store?.close();
    store = new BenchmarkStore();
  });
  after(() => store.close());

  const CALL_OF_PHASE = {
    set: 'set',
    get: 'get',
    document_set: 'setDocumentText',
    document_get: 'documentText',
  };
  for (const [phase, call] of Object.entries(CALL_OF_PHASE)) {
    test(`stops in ${phase}, and leaves neither records nor a mark`, async () => {
      const controller = new AbortController();
      const mgdbx = store.replacing((real) => ({
        [call]: (...given) => {
          if (given[0] === 500 && !controller.signal.aborted) {
            controller.abort();
            spendMoreThanASlice();
          }
          return real[call](...given);
        },
      }));
      const reply = await store.run(
        { json: PERSON, noOfRecords: 1000 },
        { signal: controller.signal, mgdbx },
      );
      assert.equal(reply.reason, 'cancelled');
      assert.equal(reply.errorCode, 409);
      assert.equal(store.global('bmTest').defined(), '0');
      assert.equal(store.global('%caretdb').defined('benchmark', 'bmTest'), '0');
    });
  }

  test('progress tells the phase and how many records of how many are done', async () => {
    /** @type {any[]} */
    const told = [];
    const controller = new AbortController();
    await store.run(
      { json: PERSON, noOfRecords: 10_000_000 },
      {
        signal: controller.signal,
        progress: (progress) => {
          told.push(progress);
          if (progress.done > 0) controller.abort();
        },
      },
    );
    assert.deepEqual(told[0], { phase: 'clear', done: 0, total: 10_000_000 });
    const further = told.find(({ done }) => done > 0);
    assert.equal(further.phase, 'set');
    assert.equal(further.total, 10_000_000);
    assert.ok(further.done < 10_000_000);
  });
});

/** A run looks whether it was cancelled only between slices of 25 ms, and these runs are shorter. */
function spendMoreThanASlice() {
  const end = performance.now() + 30;
  while (performance.now() < end);
}
