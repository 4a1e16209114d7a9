// Stores of their own for test files: folders that are removed when the file is done.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { server } from 'caretdb';

/** @returns {string} a new folder, removed when the test file is done */
export function newFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'caretdb-test-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

let tables = 0;

/**
 * What opens a new store of the engine that `CARETDB_TEST_ENGINE` names, and for `postgres` on the server of the URL in
 * `CARETDB_TEST_POSTGRES`: ../engine/suites.test.mjs runs whole files so on the engines that they do not name.
 *
 * @returns {import('caretdb').OpenOptions}
 */
export function chosenStore() {
  const engine = /** @type {import('../real/engines.mjs').Engine} */ (
    process.env.CARETDB_TEST_ENGINE ?? 'lmdb'
  );
  if (engine !== 'postgres') return { engine, path: newFolder() };
  tables += 1;
  return { engine, url: `${process.env.CARETDB_TEST_POSTGRES}?table=s_${process.pid}_${tables}` };
}

/**
 * @param {Record<string, unknown>} [options] for `open`; without an engine or a path these are chosen
 * @returns {{ db: server, path: string, store: import('caretdb').OpenOptions }} an open connection to a new store, and what
 *   opens that again
 */
export function openServer(options = {}) {
  const named = ['engine', 'path', 'url', 'durability'].some((name) => name in options);
  const whole = { ...(named ? {} : chosenStore()), ...options };
  // A server's table has no folder: its path is the URL.
  const path = String(whole.url ?? whole.path ?? newFolder());
  const db = new server();
  db.open({ type: 'CaretDB', ...(whole.url === undefined ? { path } : {}), ...whole });
  after(() => {
    db.close();
  });
  return { db, path, store: whole.url === undefined ? { ...whole, path } : whole };
}

/**
 * What a call with a callback answers.
 *
 * @param {(callback: (isError: boolean, result: string) => void) => unknown} call
 * @returns {Promise<{ returned: unknown, isError: boolean, result: string }>}
 */
export function callBack(call) {
  return new Promise((resolve) => {
    const returned = call((isError, result) => resolve({ returned, isError, result }));
  });
}

/**
 * Checks an error's code, that its message says something, and that it is a TypeError exactly for wrong arguments.
 *
 * @param {string} code
 * @param {RegExp} [message]
 * @returns {(error: any) => boolean} for `assert.throws` and `assert.rejects`
 */
export function withCode(code, message = /\w/) {
  return (error) => {
    const right =
      error instanceof Error &&
      /** @type {any} */ (error).code === code &&
      error instanceof TypeError === (code === 'ERR_ARG') &&
      message.test(error.message);
    if (!right) console.error(`expected ${code} ${message}, got`, error);
    return right;
  };
}
