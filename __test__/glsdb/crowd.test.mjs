// Many at once: what is one operation for a program is one for everybody else in other threads.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { hear } from '../runner/heard.mjs';
import { openStore } from './store.mjs';

const { glsdb, store } = openStore();

/**
 * @param {string} job
 * @param {number} id
 * @param {number} rounds
 * @returns {Promise<any>} what the worker answers
 */
function worker(job, id, rounds) {
  const script = new URL('./crowd-worker.mjs', import.meta.url);
  return hear(new Worker(script, { workerData: { store, job, id, rounds } })).next();
}

test('no push and no count is lost', async () => {
  const jobs = ['push', 'count'].flatMap((job) => [1, 2, 3].map((id) => worker(job, id, 100)));
  await Promise.all(jobs);
  const list = new glsdb.node('Crowd.list').document;
  assert.equal(list.length, 300);
  assert.equal(new Set(list).size, 300);
  assert.equal(new glsdb.node('Crowd.counter').value, 300);
});

test('a document being replaced is seen whole, the old one or the new one', async () => {
  new glsdb.node('Crowd.document').document = Array.from({ length: 5 }, () => ({ by: 0, round: 0 }));
  const looks = [worker('look', 9, 300), worker('replace', 1, 300), worker('replace', 2, 300)];
  const [mixtures] = await Promise.all(looks);
  assert.equal(mixtures, 0);
});
