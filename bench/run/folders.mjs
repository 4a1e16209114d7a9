// Folders for databases, which are gone when the benchmark ends, however it ends.

import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { workFolder } from './machine.mjs';

/** @type {Set<string>} */
const made = new Set();

/**
 * A new, empty folder.
 *
 * @param {string} [name] how its name begins
 * @param {string} [above] the folder that it is in
 */
export function makeFolder(name = 'caretdb-bench', above = workFolder()) {
  watchEnd();
  const folder = mkdtempSync(join(above, `${name}-`));
  made.add(folder);
  return folder;
}

/** @param {string} folder from `makeFolder` */
export function removeFolder(folder) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  made.delete(folder);
}

let watching = false;

function watchEnd() {
  if (watching) return;
  watching = true;
  process.on('exit', () => {
    for (const folder of made) removeFolder(folder);
  });
  // A signal alone would end the process without that, and leave its children running.
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM']))
    process.once(signal, () => process.exit(1));
}
