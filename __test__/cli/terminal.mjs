// Runs the `caretdb` command as a person's shell or a script does, on a store of the test's own.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

/** The program behind the command. */
export const PROGRAM = fileURLToPath(new URL('../../js/cli.mjs', import.meta.url));

/**
 * @typedef {object} Terminal
 * @property {string} folder a folder for files
 * @property {string} store where the store is or will be
 * @property {(...args: string[]) => { status: number | null, out: string, err: string }} caretdb
 * @property {(input: string | Uint8Array, ...args: string[]) => { status: number | null, out: string, err: string }} fed
 *   the same with something on the standard input
 */

/** @returns {Terminal} */
export function terminal() {
  const folder = mkdtempSync(join(tmpdir(), 'caretdb-cli-'));
  const store = join(folder, 'store');
  after(() => rmSync(folder, { recursive: true, force: true }));
  /** @type {Terminal['fed']} */
  const fed = (input, ...args) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
      input,
      encoding: 'utf8',
      cwd: folder,
      env: { ...process.env, CARETDB_PATH: store, CARETDB_HISTORY: '' },
    });
    return { status, out: stdout, err: stderr };
  };
  return { folder, store, fed, caretdb: (...args) => fed('', ...args) };
}
