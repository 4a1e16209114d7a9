// Where the store of a command is.

import { existsSync } from 'node:fs';
import { fault } from '../exchange/faults.mjs';
import { looksLikeUrl } from '../place.mjs';

/**
 * Where the store is.
 *
 * @param {string} [data] `--data`
 * @returns {string}
 */
export function storeFolder(data) {
  return data || process.env.CARETDB_PATH || 'caretdb-data';
}

/** @param {string} folder */
export function requireStore(folder) {
  // What is wrong with a URL, opening it tells.
  if (looksLikeUrl(folder) || existsSync(folder)) return;
  throw fault(
    'ERR_IO',
    `there is no store at ${folder}: name its folder with --data or CARETDB_PATH; set and import make a new one`,
  );
}
