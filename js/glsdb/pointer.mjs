// JSON Pointer (RFC 6901): `/address/city` names a node below another.

import { length } from './arrays.mjs';
import { failure } from './failure.mjs';
import { arrayIndex } from './keys.mjs';
import { isArray } from './kinds.mjs';

/** @typedef {import('./node.mjs').Node} Node */

/**
 * @param {Node} node where the pointer starts
 * @param {string} pointer `''` for the node itself
 * @returns {Node}
 * @throws {TypeError & {code: 'ERR_ARG'}} when it is no JSON Pointer
 */
export function pointed(node, pointer) {
  if (
    typeof pointer !== 'string' ||
    (pointer !== '' && !pointer.startsWith('/')) ||
    /~(?![01])/.test(pointer)
  ) {
    throw failure('ERR_ARG', `${JSON.stringify(pointer)} is no JSON Pointer: write it as in "/address/city"`);
  }
  let at = node;
  for (const token of pointer.split('/').slice(1))
    at = member(at, token.replaceAll('~1', '/').replaceAll('~0', '~'));
  return at;
}

/**
 * @param {Node} node
 * @param {string} token
 * @returns {Node}
 */
function member(node, token) {
  const index = token === '-' ? -1 : arrayIndex(token);
  if ((index < 0 && token !== '-') || !isArray(node)) return node.property(token);
  return node._(token === '-' ? length(node) : index);
}
