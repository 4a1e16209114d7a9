// Ports for servers that must be told which one to take.

import { createServer } from 'node:net';

/** Below those that the system hands out, so that no other test's server gets it between now and its use. */
const [FIRST, LAST] = [10_000, 30_000];

/** @param {number} port @returns {Promise<boolean>} */
function isFree(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** @returns {Promise<number>} a port of this machine that was free a moment ago */
export async function freePort() {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (await isFree(port)) return port;
  }
}
