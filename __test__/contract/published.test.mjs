// The packages that were published for mg-dbx-napi run on this one, unmodified: glsdb, and the child-process pool
// qoper8-cp with four workers on one store.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { newFolder } from '../mg-dbx/store.mjs';
import { installPublished } from './install.mjs';

const folder = newFolder();
const problem = installPublished(folder);
// On a laptop without a network that is how it is; in CI it would hide the whole promise.
const skip =
  problem !== undefined && process.env.CI !== 'true'
    ? `the packages could not be installed: ${problem}`
    : false;

/** @param {string} program */
function run(program) {
  assert.equal(problem, undefined);
  const store = join(folder, `store-${program}`);
  mkdirSync(store);
  const ran = spawnSync(process.execPath, [join(folder, program)], {
    cwd: folder,
    env: { ...process.env, CARETDB_PATH: store },
    encoding: 'utf8',
    timeout: 300_000,
    killSignal: 'SIGKILL',
  });
  assert.equal(
    ran.status,
    0,
    `${program} ended with ${ran.status ?? ran.signal}\n${ran.stdout}\n${ran.stderr}`,
  );
  return ran.stdout;
}

describe('published packages', { skip }, () => {
  it('glsdb stores and reads documents', () => {
    assert.match(run('documents.mjs'), /all documents checked/);
  });

  it('qoper8-cp runs four processes on one store, and a killed one holds nothing', () => {
    assert.match(run('pool.mjs'), /200 requests checked/);
  });
});
