// Documents: a JSON value as the nodes below one node. Each read and each write is one native call.

import { types } from 'node:util';
import { DocumentText } from '../document-text.mjs';
import { callWith } from './call.mjs';
import { describe, failure } from './failure.mjs';
import { isMarkedName } from './keys.mjs';
import { Node } from './node.mjs';
import { legacyValue } from './values.mjs';

/**
 * The node itself, where a program may have passed its proxy.
 *
 * @param {any} nodeOrProxy
 * @returns {Node}
 */
export function nodeOf(nodeOrProxy) {
  const node = nodeOrProxy instanceof Node ? nodeOrProxy : nodeOrProxy?._node;
  if (node instanceof Node) return node;
  throw failure('ERR_ARG', `expected a node or the proxy of one, not ${describe(nodeOrProxy)}`);
}

/**
 * Whether a value is a node or the proxy of one, which would be read property by property.
 *
 * @param {any} value
 * @returns {boolean}
 */
function isNodeOrProxy(value) {
  return value instanceof Node || (types.isProxy(value) && value._node instanceof Node);
}

/**
 * The text of what a program wants to store.
 *
 * @param {Node} node where
 * @param {any} value as for JSON.stringify, bytes are kept; undefined is stored as the empty string, as glsdb always did
 * @returns {string}
 */
export function textOf(node, value) {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === undefined) return '""';
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw failure('ERR_ARG', `${node.path}: ${describe(value)} is no document`);
  }
  return DocumentText.of(isNodeOrProxy(value) ? nodeOf(value).document : value, node.path);
}

/**
 * @param {string} _key
 * @param {unknown} value
 * @returns {unknown}
 */
function legacyReviver(_key, value) {
  return typeof value === 'string' ? legacyValue(value) : value;
}

/**
 * @param {Node} node
 * @returns {any} its document, or undefined where nothing is stored
 */
export function readOrUndefined(node) {
  const { connection, handle } = node._tree;
  const text = handle.documentText(...node._subscripts);
  node._tell('document_get');
  if (text === undefined) return undefined;
  return DocumentText.parse(text, connection.legacyValues ? legacyReviver : undefined);
}

/**
 * @param {Node} node
 * @returns {any} its document, or `''` where nothing is stored
 */
export function read(node) {
  const document = readOrUndefined(node);
  return document === undefined ? '' : document;
}

/**
 * Puts a document in place of everything that is stored at and below a node.
 *
 * @param {Node} node
 * @param {any} value
 */
export function replace(node, value) {
  callWith(node._tree.handle, 'setDocumentText', node._subscripts, textOf(node, value));
  node._tell('document_set', { value });
}

/**
 * Writes a document over what is there: what it does not name stays.
 *
 * @param {Node} node
 * @param {any} value
 */
export function merge(node, value) {
  callWith(node._tree.handle, 'mergeDocumentText', node._subscripts, textOf(node, value));
  node._tell('document_merge', { value });
}

/**
 * Changes a document by a JSON Merge Patch, RFC 7396: null takes a key away, an object is followed, anything else is put
 * in place.
 *
 * @param {Node} node
 * @param {any} change
 */
export function patch(node, change) {
  callWith(node._tree.handle, 'patchDocumentText', node._subscripts, textOf(node, change));
  node._tell('document_patch', { value: change });
}

/**
 * Puts a value under a key of an object, in place of what is there.
 *
 * @param {Node} node the object
 * @param {string} name any key that a JSON object can have
 * @param {any} value
 */
export function setProperty(node, name, value) {
  const child = node.property(name);
  if (!isMarkedName(name)) {
    replace(child, value);
    return;
  }
  // Such a key is only told from an array index by a mark at the object, which a merge puts there.
  node._tree.connection.atomically(() => {
    child.delete();
    merge(node, { [name]: value });
  });
}
