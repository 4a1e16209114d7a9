// JSON Merge Patch (RFC 7396) on a stored document: null takes a key away, an object is followed, anything else is put
// in place. Only the nodes that the patch names are touched, in one transaction.

import { setProperty } from './documents.mjs';
import { kindOf } from './kinds.mjs';

/** @typedef {import('./node.mjs').Node} Node */

/**
 * @param {Node} node
 * @param {any} change the patch, any JSON value
 */
export function patch(node, change) {
  const plain = JSON.parse(JSON.stringify(change) ?? '""');
  if (!isObject(plain)) {
    node.document = plain;
    return;
  }
  node._tree.connection.atomically(() => {
    if (kindOf(node) !== 'object') node.document = {};
    patchObject(node, plain);
  });
}

/**
 * @param {any} value
 * @returns {boolean}
 */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * @param {Node} node what holds an object
 * @param {Record<string, any>} change
 */
function patchObject(node, change) {
  for (const [name, value] of Object.entries(change)) patchProperty(node, name, value);
  // The last key may have gone; an empty object is something else than nothing.
  if (!node.hasChildren) node.document = {};
}

/**
 * @param {Node} node what holds an object
 * @param {string} name
 * @param {any} value
 */
function patchProperty(node, name, value) {
  const child = node.property(name);
  if (value === null) {
    child.delete();
  } else if (isObject(value)) {
    if (kindOf(child) !== 'object') setProperty(node, name, {});
    patchObject(child, value);
  } else {
    setProperty(node, name, value);
  }
}
