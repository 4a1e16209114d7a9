// Where a store is: in a folder, or in a table of a server that a URL names. A URL may hold a password, so it is never
// shown; what may be shown is the `path` of an opened connection.

import { resolve } from 'node:path';
import { failure } from './failure.mjs';

/**
 * @param {unknown} place
 * @returns {place is string} whether it is the URL of a server
 */
export function isUrl(place) {
  return typeof place === 'string' && /^postgres(ql)?:\/\//i.test(place);
}

/**
 * @param {string} place a folder's path, or a URL
 * @param {string} [folder] what the path is relative to; default the working folder
 * @returns {string} the same place, wherever the program is
 */
export function fixedPlace(place, folder = '.') {
  return isUrl(place) ? place : resolve(folder, place);
}

/**
 * @param {string} place
 * @returns {boolean} whether it was meant as a URL, of whatever kind: it may hold a password
 */
export function looksLikeUrl(place) {
  return /^\s*[a-z][a-z\d+.-]*:\/\//i.test(place);
}

/**
 * @param {string} what the call
 * @param {unknown} path of a folder
 * @returns {string} the same
 * @throws {Error} `ERR_ARG`, or `ERR_UNSUPPORTED` for a URL, which is not shown
 */
export function checkedFolder(what, path) {
  if (typeof path !== 'string' || path === '')
    throw failure('ERR_ARG', `${what}: the path must be a non-empty string`);
  if (looksLikeUrl(path))
    throw failure(
      'ERR_UNSUPPORTED',
      `${what} is for folders, and this is a URL: a server has tools of its own`,
    );
  return path;
}
