// Promise: a scale run measures every step up to the number that was asked for, tells the points as it goes, stops when it is
// cancelled, and takes no more than it may.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { scaleSteps } from '../../js/handlers/benchmark/scale.mjs';
import { BenchmarkStore } from './run.mjs';

const SECTIONS = ['document_get', 'document_set', 'get', 'get_q', 'set'];

describe('a scale run', () => {
  /** @type {BenchmarkStore} */
  let store;
  before(() => {
    store = new BenchmarkStore();
  });
  after(() => store.close());

  test('goes from a thousand to the number asked for, in one or three steps for each power of ten', () => {
    assert.deepEqual(scaleSteps(1_000_000, 1), [1000, 10_000, 100_000, 1_000_000]);
    assert.deepEqual(scaleSteps(10_000, 3), [1000, 2000, 5000, 10_000]);
    assert.deepEqual(scaleSteps(30_000, 3), [1000, 2000, 5000, 10_000, 20_000, 30_000]);
    assert.deepEqual(scaleSteps(1000, 3), [1000]);
    assert.equal(scaleSteps(10_000_000, 3).length, 13);
  });

  test('answers a rate for each section at each step, and told them on the way', async () => {
    /** @type {any[]} */
    const told = [];
    const reply = await store.run(
      { kind: 'scale', documentName: 'scaled', json: "{hello:'world'}", noOfRecords: 5000 },
      { progress: (progress) => told.push(progress) },
    );
    assert.equal(reply.kind, 'scale');
    assert.deepEqual(
      reply.points.map((/** @type {any} */ { records }) => records),
      [1000, 2000, 5000],
    );
    for (const { rates } of reply.points) {
      assert.deepEqual(Object.keys(rates).sort(), SECTIONS);
      for (const rate of Object.values(rates)) assert.ok(Number.isInteger(rate) && rate > 0, String(rate));
    }
    assert.equal(told[0].step, 0);
    const last = told.at(-1);
    assert.equal(last.steps, 3);
    assert.deepEqual(last.points, reply.points.slice(0, last.points.length));
    // The records of the last step stay, as those of any run.
    assert.equal(store.global('scaled').previous(''), '5000');
  });

  test('cancelled, it leaves neither records nor history', async () => {
    const controller = new AbortController();
    const reply = await store.run(
      { kind: 'scale', documentName: 'scaleCancelled', json: '1', noOfRecords: 10_000_000, perDecade: 1 },
      {
        signal: controller.signal,
        progress: ({ points = [] }) => {
          if (points.length > 0) controller.abort();
        },
      },
    );
    assert.deepEqual([reply.errorCode, reply.reason], [409, 'cancelled']);
    assert.equal(store.global('scaleCancelled').defined(), '0');
    const { runs } = await store.history('GET');
    assert.ok(runs.every((/** @type {any} */ { options }) => options.documentName !== 'scaleCancelled'));
  });

  for (const [body, message] of /** @type {[object, RegExp][]} */ ([
    [{ kind: 'other' }, /kind must be/],
    [{ kind: 'scale', noOfRecords: 999 }, /from 1,000 to 10,000,000/],
    [{ kind: 'scale', noOfRecords: 10_000_001 }, /from 1,000 to 10,000,000/],
    [{ kind: 'scale', perDecade: 2 }, /perDecade must be 1 or 3/],
    [{ kind: 'scale', keep: 'yes' }, /keep must be true or false/],
  ])) {
    test(`400: ${JSON.stringify(body)}`, async () => {
      const reply = await store.run({ json: '1', ...body });
      assert.equal(reply.errorCode, 400);
      assert.match(reply.error, message);
    });
  }
});
