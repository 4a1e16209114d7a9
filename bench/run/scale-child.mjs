// One database of the scale benchmark in a process of its own: does a batch whenever it is told to, and says how long it took.

import { createMaker } from '../items/maker.mjs';

const { peer, id, folder, batchSize, keySize } = JSON.parse(process.argv[2]);
const { items } = await import(`../peers/${peer}.mjs`);
const maker = await createMaker(keySize);
const store = await items.find((/** @type {{ id: string }} */ variant) => variant.id === id).open(folder);
let stored = 0;

/** Stores the next `batchSize` items; a commit belongs to it. */
function insert() {
  const end = stored + batchSize;
  return store.batch((/** @type {(key: Buffer, value: Buffer) => void} */ put) => {
    for (; stored < end; stored++) {
      maker.make(stored);
      put(maker.key(), maker.value());
    }
  });
}

/** Fetches as many, each one of those stored so far, and compares every byte. */
function fetch() {
  maker.restart();
  for (let count = 0; count < batchSize; count++) {
    const number = maker.pick(stored);
    maker.make(number);
    const found = store.fetch(maker.key());
    if (found === undefined || !maker.value().equals(found)) throw new Error(`item ${number} is wrong`);
  }
}

/** @param {() => unknown} work @returns {Promise<number>} operations a second */
async function rate(work) {
  const begun = process.hrtime.bigint();
  await work();
  return batchSize / (Number(process.hrtime.bigint() - begun) / 1e9);
}

process.on('message', async (message) => {
  try {
    if (message === 'close') {
      await store.close();
      process.disconnect();
      return;
    }
    process.send?.({ insert: await rate(insert), fetch: await rate(fetch), stored });
  } catch (error) {
    process.send?.({ failed: String(error) });
  }
});
process.send?.({ ready: true });
