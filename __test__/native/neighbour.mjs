// Starts other threads for tests of what connections do to each other.

import { once } from 'node:events';
import { after } from 'node:test';
import { Worker } from 'node:worker_threads';

/**
 * @param {string} task one of those in fixtures/neighbour.mjs
 * @param {string} path the store
 * @param {{ engine?: string }} [options]
 * @returns {Promise<{ worker: Worker, letGo: () => void, message: () => Promise<any> }>} once the thread has begun
 */
export async function startNeighbour(task, path, { engine = 'lmdb' } = {}) {
  const gate = new SharedArrayBuffer(4);
  const worker = new Worker(new URL('./fixtures/neighbour.mjs', import.meta.url), {
    workerData: { task, path, gate, engine },
  });
  after(() => worker.terminate());
  /** @type {any[]} */
  const arrived = [];
  worker.on('message', (message) => arrived.push(message));
  const message = async () => {
    while (arrived.length === 0) await once(worker, 'message');
    return arrived.shift();
  };
  const first = await message();
  if (first !== 'begun') throw new Error(`the neighbour began with ${first}`);
  const letGo = () => {
    const flag = new Int32Array(gate);
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  };
  return { worker, letGo, message };
}
