// One cell of the attachments' benchmark, in a process of its own: T writers on one store write, then read. Answers one line of JSON.

import { Worker } from 'node:worker_threads';

const { folder, peer, variant, size, writers, documents, seconds } = JSON.parse(process.argv[2]);
const { attachments } = await import(`../peers/${peer}.mjs`);
const { open } = attachments.find((/** @type {{name: string}} */ { name }) => name === variant);
// Made and opened before the threads come, so that none waits for another to make it.
const store = await open(folder);
const threads = Array.from(
  { length: writers },
  (_, writer) =>
    new Worker(new URL('attachments-writer.mjs', import.meta.url), {
      workerData: { folder, peer, variant, size, writer, documents },
    }),
);

/** @param {Worker} thread @returns {Promise<any>} */
function answer(thread) {
  return new Promise((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', (status) => reject(new Error(`a writer ended with ${status}`)));
  });
}

/** @param {'write' | 'read'} act @param {() => unknown} finish what belongs to the time @returns {Promise<number>} MB a second */
async function timed(act, finish) {
  const answers = threads.map(answer);
  const begun = performance.now();
  for (const thread of threads) thread.postMessage({ act, seconds });
  const counts = await Promise.all(answers);
  await finish();
  const elapsed = (performance.now() - begun) / 1000;
  return (counts.reduce((sum, count) => sum + count, 0) * size) / 1e6 / elapsed;
}

await Promise.all(threads.map(answer));
// What is stored is on the disk before the clock stops, as with the raw file that it is held against.
const write = await timed('write', () => store.sync());
const read = await timed('read', () => {});
console.log(JSON.stringify({ write, read }));
for (const thread of threads) thread.postMessage({ act: 'close' });
await store.close();
