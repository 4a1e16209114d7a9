// The promise: what a server has acknowledged is there, however many of its workers are killed while it is asked, and only requests
// that were in a killed one fail. A sample; `node __test__/servers/kills.mjs 100` kills more.

import { test } from 'node:test';
import { attack } from './kills.mjs';
import { SERVERS } from './programs.mjs';

const KILLS = 6;

for (const kind of SERVERS) {
  for (const mode of /** @type {const} */ (['threads', 'processes'])) {
    // The list of a process's children is in /proc.
    const skip =
      kind.skip ||
      (mode === 'processes' && process.platform !== 'linux' && 'needs /proc to find the workers');
    const promise = `${kind.name} with ${mode}: what was acknowledged is there, though workers are killed`;
    test(promise, { skip }, async () => {
      await attack(kind, mode, KILLS);
    });
  }
}
