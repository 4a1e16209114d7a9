// The packages that were published for mg-dbx-napi run on this one, unmodified: glsdb, and the child-process pool
// qoper8-cp with four workers on one store.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { open } from 'caretdb';
import { exportNodes } from '../../js/exchange/export.mjs';
import { importNodes } from '../../js/exchange/import.mjs';
import { contents } from '../exchange/store.mjs';
import { newFolder } from '../mg-dbx/store.mjs';
import { installPublished } from './install.mjs';

const folder = newFolder();
const problem = installPublished(folder);
// On a laptop without a network that is how it is; in CI it would hide the whole promise.
const skip =
  problem !== undefined && process.env.CI !== 'true'
    ? `the packages could not be installed: ${problem}`
    : false;

/**
 * @param {string} program
 * @param {...string} args
 */
function run(program, ...args) {
  assert.equal(problem, undefined);
  const store = storeOf(program, ...args);
  mkdirSync(store);
  const ran = spawnSync(process.execPath, [join(folder, program), ...args], {
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

/** @param {...string} run program and arguments @returns {string} the store that it works on */
function storeOf(...run) {
  return join(folder, `store-${run.slice(0, 2).join('-')}`);
}

describe('published packages', { skip }, () => {
  it('glsdb stores and reads documents', () => {
    assert.match(run('documents.mjs'), /all documents checked/);
  });

  it('glsdb writes and restores the backup text that import and export know', () => {
    const [written, back] = ['written.glsdb', 'back.glsdb'].map((name) => join(folder, name));
    run('backup.mjs', 'backup', written);
    const here = open(newFolder());
    assert.equal(importNodes(here, written).nodes, 7);
    assert.equal(here.global('Person').get(1, 'tags', '[000001]', 'deep'), 'b');
    assert.equal(here.global('Person').get('0123'), ' with spaces ');
    const there = open(storeOf('backup.mjs', 'backup'), { readOnly: true });
    assert.deepEqual(contents(here), contents(there));
    here.global('Person').set(2, 'new', 'ü');
    /** @type {Buffer[]} */
    const pieces = [];
    exportNodes(here, (piece) => pieces.push(piece), { format: 'glsdb' });
    writeFileSync(back, Buffer.concat(pieces));
    run('backup.mjs', 'restore', back);
    const restored = open(storeOf('backup.mjs', 'restore'), { readOnly: true });
    assert.deepEqual(contents(restored), contents(here));
    for (const db of [here, there, restored]) db.close();
  });

  it('qoper8-cp runs four processes on one store, and a killed one holds nothing', () => {
    assert.match(run('pool.mjs'), /^\d{3,} requests checked/m);
  });
});
