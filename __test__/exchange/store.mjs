// A store of its own for each test file that moves nodes, and short ways to move them.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { exportNodes } from '../../js/exchange/export.mjs';
import { importNodes } from '../../js/exchange/import.mjs';
import { withMark } from '../../js/exchange/marks.mjs';
import { open } from '../../js/index.mjs';

/** Opens a store in a temporary folder; both go when the tests are over. */
export function temporaryStore() {
  const folder = mkdtempSync(join(tmpdir(), 'caretdb-exchange-'));
  const db = open(join(folder, 'store'));
  after(() => {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { db, folder };
}

/** @param {any} db */
export function empty(db) {
  for (const name of [...db.globals()]) db.global(name).delete();
}

/** @param {any} db @param {import('../../js/exchange/export.mjs').ExportOptions} [options] @returns {Buffer} */
export function exported(db, options) {
  /** @type {Buffer[]} */
  const pieces = [];
  exportNodes(db, (piece) => pieces.push(piece), options);
  return Buffer.concat(pieces);
}

/**
 * @param {any} db
 * @param {string} folder
 * @param {string | Uint8Array} content
 * @param {import('../../js/exchange/import.mjs').ImportOptions} [options]
 */
export function imported(db, folder, content, options) {
  const path = join(folder, 'import');
  writeFileSync(path, content);
  return importNodes(db, path, options);
}

/** @param {any} db @returns {[string, any[], any][]} everything in it, with types and marks */
export function contents(db) {
  return [...db.globals()].flatMap((name) => {
    const global = db.global(name);
    const root = global.has() ? [[name, [], withMark(global, [], global.get())]] : [];
    const below = [...global.leaves()].map(([subscripts, value]) => [
      name,
      subscripts,
      withMark(global, subscripts, value),
    ]);
    return /** @type {[string, any[], any][]} */ ([...root, ...below]);
  });
}
