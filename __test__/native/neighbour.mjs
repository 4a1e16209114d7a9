// Starts other threads for tests of what connections do to each other.

import { after } from 'node:test';
import { Worker } from 'node:worker_threads';
import { hear } from '../runner/heard.mjs';

/**
 * @param {string} task one of those in fixtures/neighbour.mjs
 * @param {string} path the store
 * @param {{ engine?: string }} [options]
 * @returns {Promise<{ worker: Worker, letGo: () => void, message: () => Promise<any>,
 *   end: () => Promise<unknown> }>} once the thread has begun
 */
export async function startNeighbour(task, path, { engine = 'lmdb' } = {}) {
  const gate = new SharedArrayBuffer(4);
  const worker = new Worker(new URL('./fixtures/neighbour.mjs', import.meta.url), {
    workerData: { task, path, gate, engine },
  });
  after(() => worker.terminate());
  const { next: message, end } = hear(worker);
  const first = await message();
  if (first !== 'begun') throw new Error(`the neighbour began with ${first}`);
  const letGo = () => {
    const flag = new Int32Array(gate);
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  };
  return { worker, letGo, message, end };
}
