// Where a store is: in a folder, or in a table of a server that a URL names. A URL may hold a password, so it is never
// shown; what may be shown is the `path` of an opened connection.

import { resolve } from 'node:path';

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
