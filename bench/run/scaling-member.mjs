// One of several threads or processes on one store: says that it is ready, works when told to, and answers how much it did.

import { parentPort, workerData } from 'node:worker_threads';
import { open } from '../../js/index.mjs';
import { shared } from '../workloads/scaling.mjs';

const { folder, act, member, seconds } = parentPort === null ? JSON.parse(process.argv[2]) : workerData;
const db = open(folder, { durability: 'relaxed' });

/** @param {unknown} message */
function tell(message) {
  if (parentPort === null) process.send?.(message);
  else parentPort.postMessage(message);
}

(parentPort ?? process).on('message', (message) => {
  if (message === 'go') tell(shared[act](db, member, seconds));
  else {
    db.close();
    if (parentPort === null) process.disconnect();
    else parentPort.close();
  }
});
tell('ready');
