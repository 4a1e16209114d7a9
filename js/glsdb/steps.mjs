// Documents in small steps, one call for each node or leaf, as the published glsdb does it: for programs that watch the
// events of every call, and to measure what one call for a whole document saves. Nothing is lost on these ways either.

import { DocumentText } from '../document-text.mjs';
import { callWith } from './call.mjs';
import { walk } from './children.mjs';
import { read, textOf } from './documents.mjs';
import {
  EMPTY_ARRAY,
  indexOfKey,
  isIndexKey,
  isMarkedName,
  propertyOfSubscript,
  subscriptOfProperty,
} from './keys.mjs';
import { isArray, kindOf } from './kinds.mjs';
import { leafValue, walkLeaves } from './leaves.mjs';

/**
 * @typedef {import('./node.mjs').Node} Node
 */

/**
 * @param {Node} node
 * @returns {any}
 */
function leafOf(node) {
  node._tell('get');
  return leafValue(node, node._subscripts, node._tree.handle.typed(...node._subscripts));
}

/**
 * Gives an object or array a member; `__proto__` is a key like any other.
 *
 * @param {any} container
 * @param {string} subscript the member's
 * @param {any} value
 * @returns {boolean} false where an array turns out to be none, because a child of it is no member
 */
function putMember(container, subscript, value) {
  if (Array.isArray(container)) {
    if (isIndexKey(subscript)) putAt(container, indexOfKey(subscript), value);
    return isMarkedName(subscript);
  }
  const name = propertyOfSubscript(subscript);
  if (name === '__proto__') {
    Object.defineProperty(container, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    container[name] = value;
  }
  return true;
}

/**
 * @param {any[]} array
 * @param {number} index
 * @param {any} value
 */
function putAt(array, index, value) {
  // JSON knows no holes.
  while (array.length < index) array.push(null);
  array[index] = value;
}

/**
 * @param {any} container
 * @param {string} subscript
 * @returns {any} undefined when there is no such member yet
 */
function ownMember(container, subscript) {
  if (Array.isArray(container)) return isIndexKey(subscript) ? container[indexOfKey(subscript)] : undefined;
  const name = propertyOfSubscript(subscript);
  return Object.hasOwn(container, name) ? Reflect.get(container, name) : undefined;
}

/**
 * Reads a document by nested steps: is it a leaf, which child is next, what is its value.
 *
 * @param {Node} node
 * @returns {any} `''` where nothing is stored
 */
export function readByNext(node) {
  return node.hasChildren ? readChildren(node) : leafOf(node);
}

/**
 * @param {Node} node one that has children
 * @returns {any}
 */
function readChildren(node) {
  const container = kindOf(node) === 'array' ? [] : {};
  let fits = true;
  walk(node, 'next', '', (key) => {
    if (key === EMPTY_ARRAY && isArray(node)) return;
    const value = isLeaf(node, key) ? childLeaf(node, key) : readChildren(node._child(key));
    fits = putMember(container, key, value) && fits;
  });
  return fits ? container : read(node);
}

/**
 * @param {Node} node
 * @param {string} key
 * @returns {boolean} whether a child is a leaf; a node is only made of it for those who listen
 */
function isLeaf(node, key) {
  const { connection, handle } = node._tree;
  if (connection.listening) return node._child(key).isLeafNode;
  return callWith(handle, 'defined', node._subscripts, key) === '1';
}

/**
 * @param {Node} node
 * @param {string} key a child that is a leaf
 * @returns {any}
 */
function childLeaf(node, key) {
  const { connection, handle } = node._tree;
  const stored = connection.listening ? undefined : callWith(handle, 'typed', node._subscripts, key);
  return stored === undefined ? leafOf(node._child(key)) : node._plain(stored);
}

/**
 * Reads a document with one cursor over its values.
 *
 * @param {Node} node
 * @returns {any} `''` where nothing is stored
 */
export function readByLeaves(node) {
  if (!node.hasChildren) return leafOf(node);
  const document = kindOf(node) === 'array' ? [] : {};
  const depth = node._subscripts.length;
  let fits = true;
  walkLeaves(node, false, (subscripts, stored) => {
    fits = putLeaf(document, subscripts, depth, leafValue(node, subscripts, stored)) && fits;
  });
  return fits ? document : read(node);
}

/**
 * Puts a value into a document, and the containers that lead to it.
 *
 * @param {any} document
 * @param {string[]} subscripts
 * @param {number} depth how many of them lead to the document
 * @param {any} value
 * @returns {boolean} false where an array turns out to be none
 */
function putLeaf(document, subscripts, depth, value) {
  const last = subscripts.length - 1;
  let container = document;
  let fits = true;
  for (let at = depth; at < last; at += 1) {
    let inner = ownMember(container, subscripts[at]);
    // Nothing yet, or the value of a node that turns out to have children, which then count.
    if (!isContainer(inner)) {
      inner = isMarkedName(subscripts[at + 1]) ? [] : {};
      fits = putMember(container, subscripts[at], inner) && fits;
    }
    container = inner;
  }
  return putMember(container, subscripts[last], value) && fits;
}

/**
 * @param {any} member
 * @returns {boolean} whether it is an object or array of a document
 */
function isContainer(member) {
  return typeof member === 'object' && member !== null && !(member instanceof Uint8Array);
}

/** Keys that stand for themselves as subscripts and that nothing takes for anything else. */
const PLAIN_KEY = /^[A-Za-z0-9_$]/;

/**
 * Writes a document with one `set` for each scalar, over what is there. Other readers can see it half-written.
 *
 * @param {Node} node
 * @param {any} value
 */
export function writeByLeaves(node, value) {
  writeLeaf(node, DocumentText.parse(textOf(node, value)));
}

/**
 * @param {Node} node
 * @param {any} value plain JSON
 */
function writeLeaf(node, value) {
  if (!isContainer(value)) {
    node.rawSet(value);
  } else if (Array.isArray(value) && value.length > 0) {
    for (let at = 0; at < value.length; at += 1) writeLeaf(node._(at), value[at]);
  } else {
    writeObject(node, value);
  }
}

/**
 * @param {Node} node
 * @param {any} value an object, or an empty array
 */
function writeObject(node, value) {
  const names = Object.keys(value);
  // What needs a mark or an escape is left to the one call that knows how.
  if (names.length === 0 || !names.every((name) => PLAIN_KEY.test(name))) {
    node.merge(value);
    return;
  }
  for (const name of names) writeLeaf(node._child(subscriptOfProperty(name)), value[name]);
}
