// Walking the values below a node, at any depth, with one cursor over the whole subtree.

import { DocumentText } from '../document-text.mjs';
import { length } from './arrays.mjs';
import { EMPTY_ARRAY } from './keys.mjs';
import { isArray } from './kinds.mjs';

/**
 * @typedef {import('./node.mjs').Node} Node
 * @typedef {import('./keys.mjs').Subscript} Subscript
 * @typedef {object} LeafOptions
 * @property {string} [direction] `'reverse'` or `'backwards'`: from the last value to the first
 * @property {boolean} [getdata] pass keys and value to the callback, instead of a node
 */

/**
 * Visits the keys of every node with a value below a node; the node itself is not among them.
 *
 * @param {Node} node
 * @param {boolean} backwards
 * @param {(subscripts: string[], stored: unknown) => unknown} visit given all subscripts of the value, and what is stored,
 *   undefined for a mark; answers false to stop
 */
export function walkLeaves(node, backwards, visit) {
  const { connection, name } = node._tree;
  const { db } = connection;
  const { mcursor } = connection.classes;
  const base = node._subscripts.map(String);
  const key = backwards ? [...node._subscripts, ''] : node._subscripts.slice();
  const cursor = new mcursor(db, { global: name, key }, { multilevel: true, getdata: true, typed: true });
  for (;;) {
    const found = backwards ? cursor.previous() : cursor.next();
    if (found === null) return;
    if (connection.listening) {
      connection.emit(backwards ? 'cursor_previous' : 'cursor_next', {
        node,
        subscripts: [name, ...found.key],
      });
    }
    if (!isBelow(found.key, base) || visit(found.key, found.data) === false) return;
  }
}

/**
 * A stored leaf as a JSON value; the marks of empty objects and arrays are read as documents.
 *
 * @param {Node} node any node of the global
 * @param {Subscript[]} subscripts the leaf's
 * @param {unknown} stored its value, undefined for a mark and where there is none
 * @returns {any} `''` where nothing is stored
 */
export function leafValue(node, subscripts, stored) {
  if (stored !== undefined) return node._plain(stored);
  const text = node._tree.handle.documentText(...subscripts);
  return text === undefined ? '' : DocumentText.parse(text);
}

/**
 * @param {string[]} subscripts
 * @param {string[]} base
 * @returns {boolean} whether the subscripts are those of a descendant
 */
function isBelow(subscripts, base) {
  if (subscripts.length <= base.length) return false;
  for (let at = base.length - 1; at >= 0; at -= 1) if (subscripts[at] !== base[at]) return false;
  return true;
}

/**
 * What a leaf that a cursor found is to a program. The leaf `[]` of an empty array is the array; a mark at an object that
 * has members is nothing.
 *
 * @param {Node} node the node whose leaves are visited
 * @param {string[]} subscripts
 * @param {unknown} stored the value, undefined for a mark
 * @returns {string[] | undefined} the subscripts to show, undefined for none
 */
function shownLeaf(node, subscripts, stored) {
  if (stored !== '' && stored !== undefined) return subscripts;
  if (subscripts.at(-1) === EMPTY_ARRAY) {
    const array = node._descendant(subscripts.slice(0, -1));
    if (isArray(array)) return isEmptyBelow(node, array) ? subscripts.slice(0, -1) : undefined;
  }
  const isMark = stored === undefined && node._tree.handle.defined(...subscripts) === '11';
  return isMark ? undefined : subscripts;
}

/**
 * @param {Node} node
 * @param {Node} array
 * @returns {boolean} whether an array has no members, and is not the node itself
 */
function isEmptyBelow(node, array) {
  return array._subscripts.length > node._subscripts.length && length(array) === 0;
}

/**
 * @param {Node} node
 * @param {LeafOptions} options
 * @param {((...found: any[]) => unknown) | undefined} callback gets a node, or `(keys, value)` with `getdata`
 */
export function forEachLeafNode(node, options, callback) {
  const backwards = options.direction === 'reverse' || options.direction === 'backwards';
  const { name } = node._tree;
  walkLeaves(node, backwards, (subscripts, stored) => {
    const shown = shownLeaf(node, subscripts, stored);
    if (shown === undefined) return true;
    if (!options.getdata) return callback?.(node._descendant(shown));
    // An empty array is shown in place of the leaf that stands for it.
    const value = shown === subscripts ? stored : node._tree.handle.typed(...shown);
    return callback?.([name, ...shown], leafValue(node, shown, value));
  });
}
