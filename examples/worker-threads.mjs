// Four threads of one process write to one store, each with a connection of its own.
//
//   node examples/worker-threads.mjs

import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { open } from 'caretdb';

const THREADS = 4;
const ROUNDS = 5000;

if (isMainThread) await lead();
else work(workerData);

async function lead() {
  const db = open();
  const tally = db.global('Tally');
  tally.delete();
  const threads = Array.from(
    { length: THREADS },
    (_, number) => new Worker(fileURLToPath(import.meta.url), { workerData: number }),
  );
  await Promise.all(threads.map((thread) => once(thread, 'exit')));
  console.log(`increments: ${tally.get('increments')} of ${THREADS * ROUNDS}`);
  console.log(`moved without a loss: ${Number(tally.get('from')) + Number(tally.get('to')) === 0}`);
  console.log(`guarded by a lock: ${tally.get('guarded')} of ${THREADS * 100}`);
  db.close();
}

/** @param {number} number */
function work(number) {
  const db = open();
  const tally = db.global('Tally');
  for (let round = 0; round < ROUNDS; round++) tally.increment('increments', 1);
  for (let round = 0; round < 100; round++) {
    db.transaction(() => {
      tally.increment('from', -1);
      tally.increment('to', 1);
    });
    // A lock guards nothing by itself: whoever changes the node takes it first. It may be held across other work.
    if (!tally.lock('guarded')) throw new Error(`thread ${number} waited too long`);
    tally.set('guarded', Number(tally.get('guarded') ?? 0) + 1);
    tally.unlock('guarded');
  }
  db.close();
}
