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

/**
 * @param {Record<string, unknown>} [options] for `open`, beside the path
 * @returns {{ db: server, path: string }} an open connection to a new store
 */
export function openServer(options = {}) {
  const path = newFolder();
  const db = new server();
  db.open({ type: 'CaretDB', path, ...options });
  after(() => {
    db.close();
  });
  return { db, path };
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
