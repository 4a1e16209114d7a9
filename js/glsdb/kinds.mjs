// What a node holds, as JSON sees it: an array, an object or a single value.

import { neighbourKey } from './children.mjs';
import { isMarkedName } from './keys.mjs';

/** @typedef {import('./node.mjs').Node} Node */

/**
 * Looks at the first and the last child, which tell an array from an object unless the object's keys look like indexes;
 * only then is the document itself looked at.
 *
 * @param {Node} node
 * @returns {'array' | 'object' | 'value' | undefined} undefined where nothing is stored
 */
export function kindOf(node) {
  const { handle } = node._tree;
  const first = neighbourKey(node, 'next', '');
  if (first === '') {
    const isValue = handle.typed(...node._subscripts) !== undefined;
    return isValue ? 'value' : kindOfText(handle.documentText(...node._subscripts));
  }
  if (!isMarkedName(first) || !isMarkedName(neighbourKey(node, 'previous', ''))) return 'object';
  return node._defined('isArray') === '10' ? 'array' : kindOfText(handle.documentText(...node._subscripts));
}

/**
 * @param {string | undefined} text JSON
 * @returns {'array' | 'object' | 'value' | undefined}
 */
function kindOfText(text) {
  if (text === undefined) return undefined;
  // Text with marked bytes begins with NUL.
  const first = text[text.charCodeAt(0) === 0 ? 1 : 0];
  if (first === '[') return 'array';
  return first === '{' ? 'object' : 'value';
}

/**
 * @param {Node} node
 * @returns {boolean} true for an empty array too
 */
export function isArray(node) {
  return kindOf(node) === 'array';
}
