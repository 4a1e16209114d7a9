// The path grammar: `Person.1.address.city`, `Person.1.colours[0]`. A path that a node gives always leads back to that
// node: the characters that the grammar needs for itself are spelt `#` and their octal code, as in `#056` for a dot.

import { failure } from './failure.mjs';
import { indexKey, indexOfKey, isIndexKey } from './keys.mjs';

/** @typedef {import('./keys.mjs').Subscript} Subscript */

/** @type {Record<string, string>} */
const CODE_OF = { '.': '#056', '[': '#133', ']': '#135', '#': '#043' };

/** @type {Record<string, string>} */
const CHARACTER_OF = { '#056': '.', '#133': '[', '#135': ']', '#043': '#' };

const SPECIAL = /[.[\]#]/;
const ESCAPED = /#(?:056|133|135|043)/g;
const TO_ESCAPE = /[.[\]]|#(?=056|133|135|043)/g;

/**
 * Takes a path apart.
 *
 * @param {string} path
 * @returns {string[]} the name of the global, then the subscripts
 * @throws {TypeError & {code: 'ERR_ARG'}} when there is no name in it
 */
export function parsePath(path) {
  if (path !== '' && !SPECIAL.test(path)) return [path];
  /** @type {string[]} */
  const keys = [];
  let at = 0;
  while (at < path.length) {
    const index = path[at] === '[' ? bracketedIndex(path, at) : undefined;
    const end = index === undefined ? endOfKey(path, at) : at + index.length + 2;
    if (index !== undefined) keys.push(indexKey(index));
    else if (end > at)
      keys.push(path.slice(at, end).replace(ESCAPED, (code) => /** @type {string} */ (CHARACTER_OF[code])));
    at = end === at ? at + 1 : end;
  }
  if (keys.length === 0) throw failure('ERR_ARG', `the path ${JSON.stringify(path)} names no global`);
  return keys;
}

/**
 * @param {string} path
 * @param {number} open where the bracket opens
 * @returns {string | undefined} the digits between the brackets, when there is nothing else
 */
function bracketedIndex(path, open) {
  const close = path.indexOf(']', open);
  if (close < open + 2) return undefined;
  const inside = path.slice(open + 1, close);
  return /^\d+$/.test(inside) ? inside : undefined;
}

/**
 * @param {string} path
 * @param {number} start
 * @returns {number} where the key that begins at `start` ends
 */
function endOfKey(path, start) {
  let end = start;
  while (end < path.length && !'.[]'.includes(/** @type {string} */ (path[end]))) end += 1;
  return end;
}

/**
 * Spells a node as a path.
 *
 * @param {string} name the global
 * @param {readonly Subscript[]} subscripts
 * @returns {string}
 */
export function pathOf(name, subscripts) {
  let path = escapeKey(name);
  for (const subscript of subscripts) {
    path += isIndexKey(subscript) ? `[${indexOfKey(subscript)}]` : `.${escapeKey(subscript)}`;
  }
  return path;
}

/**
 * @param {Subscript} key
 * @returns {string}
 */
function escapeKey(key) {
  const text = typeof key === 'string' ? key : new TextDecoder().decode(key);
  return SPECIAL.test(text)
    ? text.replace(TO_ESCAPE, (character) => /** @type {string} */ (CODE_OF[character]))
    : text;
}
