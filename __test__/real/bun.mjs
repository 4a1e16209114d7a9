// Bun for tests that start `bws.js`, whichever runtime the test itself runs on.

import { currentRuntime, pinnedRuntime } from '../runner/runtimes.mjs';

/**
 * Finds Bun: the runtime at hand if that is Bun, else the pinned one, installed when it is not there yet.
 *
 * @returns {{ path: string, skip: false } | { path: undefined, skip: string }} `skip` is the reason when there is none
 * @throws {Error} under `CI=true`, where a missing Bun would hide tests
 */
export function findBun() {
  const current = currentRuntime();
  const bun = current.kind === 'bun' ? current : pinnedRuntime('bun');
  if (bun.skip !== false && process.env.CI === 'true') throw new Error(bun.skip);
  return bun;
}
