// Where handler modules may be: what a configuration file names is code that will run, and comes from one folder only.

import { realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The path of a handler module, if it is in the folder: not by `..`, not by an absolute path, not by a symbolic link.
 * @param {string} folder
 * @param {string} handlerPath a file URL, or a path, relative to the folder
 * @returns {string} absolute, without symbolic links
 * @throws {TypeError} that says where it leads
 */
export function handlerWithin(folder, handlerPath) {
  const path = handlerPath.startsWith('file:') ? fileURLToPath(handlerPath) : resolve(folder, handlerPath);
  let root;
  let real;
  try {
    root = realpathSync(folder);
  } catch {
    throw new TypeError(`handlerPath: there is no folder ${resolve(folder)}`);
  }
  try {
    real = realpathSync(path);
  } catch {
    throw new TypeError(`handlerPath: there is no file ${path}`);
  }
  if (!real.startsWith(root.endsWith(sep) ? root : root + sep))
    throw new TypeError(`handlerPath: ${real} is outside of the folder of handlers, ${root}`);
  return real;
}
