// One writer of the attachments' benchmark: a thread that writes and reads when it is told to.

import { parentPort, workerData } from 'node:worker_threads';
import { createWriter } from '../workloads/attachments.mjs';

const { peer, variant, folder, ...task } = workerData;
const { attachments } = await import(`../peers/${peer}.mjs`);
const { open } = attachments.find((/** @type {{name: string}} */ { name }) => name === variant);
const store = await open(folder);
const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);
const writer = createWriter(store, task);
let written = 0;

port.on('message', async ({ act, seconds }) => {
  if (act === 'write') {
    written = await writer.write(seconds);
    port.postMessage(written);
  } else if (act === 'read') {
    port.postMessage(await writer.read(written, seconds));
  } else {
    await store.close();
    port.close();
  }
});
port.postMessage('ready');
