// Walking the children of a node, in collation order or against it.

import { callWith } from './call.mjs';
import { compareSubscripts, isCanonicalNumber } from './collation.mjs';
import { EMPTY_ARRAY, propertyOfSubscript, subscriptOf } from './keys.mjs';
import { isArray } from './kinds.mjs';

/**
 * @typedef {import('./node.mjs').Node} Node
 * @typedef {'next' | 'previous'} Step
 * @typedef {object} Range
 * @property {string} [direction] `'reverse'` or `'backwards'`: from the last child to the first
 * @property {any} [from] the key to start with, itself included; it need not exist
 * @property {any} [to] the key to end with, itself included; it need not exist
 * @property {any} [startsWith] only keys that begin with this text
 */

/** Above every string subscript that begins like the bytes before it: no UTF-8 text has this byte. */
const ABOVE_TEXT = 0xff;

/** Below every string subscript but itself. */
const LOWEST_STRING = '\0';

/** Text that a canonical number can begin with. */
const NUMBER_START = /^-?\d*(?:\.\d*)?$/;

/**
 * The child that stands next to a key, whether there is a child with that key or not.
 *
 * @param {Node} node
 * @param {Step} step
 * @param {import('./keys.mjs').Subscript} seed `''` for the first (or last) child
 * @returns {Node | undefined}
 */
export function neighbour(node, step, seed) {
  const key = neighbourKey(node, step, seed);
  return key === '' ? undefined : node._child(key);
}

/**
 * @param {Node} node
 * @param {Step} step
 * @param {import('./keys.mjs').Subscript} seed
 * @returns {string} `''` at the end
 */
export function neighbourKey(node, step, seed) {
  const { connection, handle } = node._tree;
  if (connection.listening) connection.emit(step, { node, subscripts: [...node._subscripts, seed] });
  return callWith(handle, step, node._subscripts, seed);
}

/**
 * Visits the keys of the children that follow a seed, until there are none or the visitor answers false. The view is
 * live: a visitor may delete or add children.
 *
 * @param {Node} node
 * @param {Step} step
 * @param {import('./keys.mjs').Subscript} seed not visited itself
 * @param {(key: string) => unknown} visit
 */
export function walk(node, step, seed, visit) {
  const { connection, handle } = node._tree;
  const above = node._subscripts;
  for (let last = seed; ; ) {
    const key = callWith(handle, step, above, last);
    if (key === '') return;
    if (connection.listening) connection.emit(step, { node, subscripts: [...above, last] });
    if (visit(key) === false) return;
    last = key;
  }
}

/**
 * The seed from which a walk arrives at `key` first, or at its neighbour when there is no such child.
 *
 * @param {Node} node
 * @param {Step} step
 * @param {string} key `''` for all of them
 * @returns {string}
 */
function seedFor(node, step, key) {
  return key === '' ? '' : neighbourKey(node, step === 'next' ? 'previous' : 'next', key);
}

/**
 * @param {any} key an option of a range
 * @returns {string} `''` when it was not given
 */
function bound(key) {
  if (key === undefined || key === null) return '';
  const subscript = subscriptOf(key);
  return typeof subscript === 'string' ? subscript : new TextDecoder().decode(subscript);
}

/**
 * Visits children; the leaf `[]` that stands for an empty array is none.
 *
 * @param {Node} node
 * @param {Range} range
 * @param {((child: Node) => unknown) | undefined} callback answers false to stop
 */
export function forEachChildNode(node, range, callback) {
  const backwards = range.direction === 'reverse' || range.direction === 'backwards';
  const from = bound(range.from);
  const to = bound(range.to);
  const sign = backwards ? -1 : 1;
  /** @param {string} key */
  const visit = (key) => {
    if (to !== '' && sign * compareSubscripts(key, to) > 0) return false;
    if (key === EMPTY_ARRAY && isArray(node)) return true;
    return callback?.(node._child(key));
  };
  const prefix = range.startsWith === undefined ? '' : String(range.startsWith);
  const step = backwards ? 'previous' : 'next';
  if (prefix === '') walk(node, step, seedFor(node, step, from), visit);
  else walkPrefix(node, step, from, prefix, visit);
}

/**
 * Visits the keys that begin with a text. Among the strings they stand side by side; among the numbers they do not (1,
 * 10 to 19, 100 to 199 …), so those are sifted, when the text can begin a number at all.
 *
 * @param {Node} node
 * @param {Step} step
 * @param {string} from
 * @param {string} prefix
 * @param {(key: string) => unknown} visit
 */
function walkPrefix(node, step, from, prefix, visit) {
  let stopped = false;
  /** @param {string} key */
  const visitUntilStopped = (key) => {
    stopped = visit(key) === false;
    return !stopped;
  };
  const runs = [() => walkNumbers(node, step, from, prefix, visitUntilStopped)];
  runs.push(() => walkStrings(node, step, from, prefix, visitUntilStopped));
  if (!NUMBER_START.test(prefix)) runs.shift();
  if (step === 'previous') runs.reverse();
  for (const run of runs) if (!stopped) run();
}

/**
 * @param {Node} node
 * @param {Step} step
 * @param {string} from
 * @param {string} prefix
 * @param {(key: string) => unknown} visit
 */
function walkNumbers(node, step, from, prefix, visit) {
  const fromIsNumber = isCanonicalNumber(from);
  if (step === 'next' && from !== '' && !fromIsNumber) return;
  const seed = step === 'previous' && !fromIsNumber ? LOWEST_STRING : seedFor(node, step, from);
  walk(node, step, seed, (key) => {
    if (!isCanonicalNumber(key)) return false;
    return key.startsWith(prefix) ? visit(key) : true;
  });
}

/**
 * @param {Node} node
 * @param {Step} step
 * @param {string} from
 * @param {string} prefix
 * @param {(key: string) => unknown} visit
 */
function walkStrings(node, step, from, prefix, visit) {
  const forwards = step === 'next';
  const lowest = isCanonicalNumber(prefix) ? prefix + LOWEST_STRING : prefix;
  const inside = from !== '' && !isCanonicalNumber(from) && from.startsWith(prefix);
  if (!forwards && from !== '' && compareSubscripts(from, lowest) < 0) return;
  if (forwards && !inside && from !== '' && compareSubscripts(from, lowest) > 0) return;
  const seed = inside ? seedFor(node, step, from) : forwards ? seedFor(node, step, lowest) : above(prefix);
  walk(node, step, seed, (key) => (key.startsWith(prefix) && !isCanonicalNumber(key) ? visit(key) : false));
}

/**
 * @param {string} prefix
 * @returns {Uint8Array} a subscript behind every string that begins with the prefix
 */
function above(prefix) {
  const bytes = new TextEncoder().encode(prefix);
  const subscript = new Uint8Array(bytes.length + 1);
  subscript.set(bytes);
  subscript[bytes.length] = ABOVE_TEXT;
  return subscript;
}

/**
 * @param {Node} node
 * @returns {number} how many children it has
 */
export function count(node) {
  let children = 0;
  walk(node, 'next', '', () => {
    children += 1;
  });
  return children;
}

/**
 * @param {Node} node
 * @returns {string[]} the keys of an object's document, in the order of the nodes
 */
export function propertyNames(node) {
  /** @type {string[]} */
  const names = [];
  walk(node, 'next', '', (key) => {
    names.push(propertyOfSubscript(key));
  });
  return names;
}
