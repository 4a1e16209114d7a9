// Arrays in the store, with the methods of arrays in memory. What happens at the end of an array, or in place, touches
// only the members concerned; what moves members rewrites the array, since each of them gets another key. A method
// that takes several calls runs as one transaction.

import { neighbourKey } from './children.mjs';
import { readOrUndefined } from './documents.mjs';
import { failure } from './failure.mjs';
import { EMPTY_ARRAY, indexOfKey, isIndexKey } from './keys.mjs';
import { isArray, kindOf } from './kinds.mjs';

export { isArray };

/** @typedef {import('./node.mjs').Node} Node */

/**
 * @param {Node} node an array
 * @returns {number} how many members, holes included
 */
export function length(node) {
  return lastIndex(node) + 1;
}

/**
 * @param {Node} node an array
 * @returns {number} -1 when it is empty
 */
function lastIndex(node) {
  return indexBefore(node, '');
}

/**
 * @param {Node} node an array
 * @param {string} key
 * @returns {number} -1 when there is no member before the key
 */
function indexBefore(node, key) {
  const before = neighbourKey(node, 'previous', key);
  if (before === EMPTY_ARRAY) return indexBefore(node, EMPTY_ARRAY);
  return isIndexKey(before) ? indexOfKey(before) : -1;
}

/**
 * What an array stores for a value: JSON has null for what it cannot hold.
 *
 * @param {any} value
 * @returns {any}
 */
function memberValue(value) {
  const isNothing = value === undefined || typeof value === 'function' || typeof value === 'symbol';
  return isNothing ? null : value;
}

/**
 * Runs work on an array, which a node becomes when nothing is stored there.
 *
 * @template T
 * @param {Node} node
 * @param {string} method for the message
 * @param {(length: number) => T} work
 * @returns {T}
 */
function onArray(node, method, work) {
  return node._tree.connection.atomically(() => {
    const kind = kindOf(node);
    if (kind === undefined) return work(0);
    if (kind === 'array') return work(length(node));
    throw failure('ERR_BAD_VALUE', `${method}: the node ${node.path} is no array, what it holds is: ${kind}`);
  });
}

/**
 * @param {Node} node an array
 * @param {number} length its length
 * @param {any[]} values
 * @returns {number} its new length
 */
function append(node, length, values) {
  if (length === 0) {
    node.document = values;
  } else {
    for (const [at, value] of values.entries()) node._(length + at).document = memberValue(value);
  }
  return length + values.length;
}

/**
 * @param {Node} node an array
 * @param {number} length its length
 * @param {number} newLength a smaller one
 */
function truncate(node, length, newLength) {
  if (newLength === 0) {
    node.document = [];
    return;
  }
  for (let at = length - 1; at >= newLength; at -= 1) node._(at).delete();
  // A hole there would shorten the array further.
  if (!node._(newLength - 1).exists) node._(newLength - 1).document = null;
}

/**
 * @param {Node} node
 * @param {any[]} values
 * @returns {number} the new length
 */
export function push(node, values) {
  return onArray(node, 'push', (length) => append(node, length, values));
}

/**
 * @param {Node} node
 * @returns {any} the last member, undefined when there is none
 */
export function pop(node) {
  return onArray(node, 'pop', (length) => {
    if (length === 0) return undefined;
    const value = readOrUndefined(node._(length - 1));
    truncate(node, length, length - 1);
    return value;
  });
}

/**
 * Sets how many members an array has; longer ones end in null.
 *
 * @param {Node} node
 * @param {number} newLength
 */
export function resize(node, newLength) {
  onArray(node, 'length', (length) => {
    if (newLength < length) truncate(node, length, newLength);
    else if (newLength > length) node._(newLength - 1).document = null;
  });
}

/**
 * Reads an array, lets it be changed in memory, and writes it back.
 *
 * @template T
 * @param {Node} node
 * @param {(array: any[]) => T} change
 * @returns {T} what the change answers
 */
export function rewrite(node, change) {
  return onArray(node, 'change', (length) => {
    const array = length === 0 ? [] : node.document;
    const result = change(array);
    node.document = array;
    return result;
  });
}

/**
 * @param {Node} node
 * @returns {any}
 */
export function shift(node) {
  return onArray(node, 'shift', (length) => {
    if (length === 0) return undefined;
    return rewrite(node, (array) => array.shift());
  });
}

/**
 * @param {Node} node
 * @param {any[]} values
 * @returns {number} the new length
 */
export function unshift(node, values) {
  return rewrite(node, (array) => array.unshift(...values));
}

/**
 * @param {Node} node
 * @param {any[]} change start, count and values, as for Array.prototype.splice
 * @returns {any[]} what was removed
 */
export function splice(node, change) {
  return onArray(node, 'splice', (length) => {
    const start = position(change[0], length);
    const count = removals(change, start, length);
    const values = change.slice(2);
    if (count !== values.length && start + count < length) {
      return rewrite(node, (array) => array.splice(start, count, ...values));
    }
    return replaceMembers(node, length, start, count, values);
  });
}

/**
 * @param {any[]} change
 * @param {number} start
 * @param {number} length
 * @returns {number} how many members go
 */
function removals(change, start, length) {
  if (change.length === 0) return 0;
  if (change.length === 1) return length - start;
  return Math.min(Math.max(Math.trunc(Number(change[1])) || 0, 0), length - start);
}

/**
 * @param {any} index negative counts from the end
 * @param {number} length
 * @returns {number} within 0 and length
 */
function position(index, length) {
  const whole = Number(index);
  const from = Number.isNaN(whole) ? 0 : Math.trunc(whole);
  return from < 0 ? Math.max(length + from, 0) : Math.min(from, length);
}

/**
 * A splice that moves no member: as many go as come, or it reaches to the end.
 *
 * @param {Node} node
 * @param {number} length
 * @param {number} start
 * @param {number} count
 * @param {any[]} values
 * @returns {any[]}
 */
function replaceMembers(node, length, start, count, values) {
  /** @type {any[]} */
  const removed = [];
  for (let at = start; at < start + count; at += 1) removed.push(readOrUndefined(node._(at)) ?? null);
  const kept = Math.min(count, values.length);
  for (let at = 0; at < kept; at += 1) node._(start + at).document = memberValue(values[at]);
  if (count > kept) truncate(node, length, start + kept);
  else if (values.length > kept) append(node, length, values.slice(kept));
  return removed;
}

/**
 * Adds values, or the members of arrays, to the end of the stored array.
 *
 * @param {Node} node
 * @param {any[]} values
 * @returns {any[]} the whole array as it is then
 */
export function concat(node, values) {
  return onArray(node, 'concat', (length) => {
    const array = length === 0 ? [] : node.document;
    /** @type {any[]} */
    const added = [];
    append(node, length, added.concat(...values));
    return array.concat(...values);
  });
}

/**
 * @param {Node} node
 * @param {number} index negative counts from the end
 * @returns {any} undefined when there is no such member
 */
export function at(node, index) {
  const whole = Math.trunc(index) || 0;
  const position = whole < 0 ? length(node) + whole : whole;
  return position < 0 ? undefined : readOrUndefined(node._(position));
}
