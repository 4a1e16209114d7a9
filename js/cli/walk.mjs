// What `caretdb list` shows: the nodes at and below one, as deep as asked.

import { withMark } from '../exchange/marks.mjs';
import { look } from './nodes.mjs';

/** @typedef {{ subscripts: any[], value: any, more: boolean }} Found `more`: it has children that are not shown */

/**
 * @param {any} db
 * @param {import('./nodes.mjs').Reference} reference
 * @param {number} depth how many levels below the node; Infinity for all
 * @returns {Generator<Found>}
 */
export function* walk(db, reference, depth) {
  const { name, subscripts } = reference;
  const { value, children } = look(db, reference);
  const more = children && depth === 0;
  if (value !== undefined || more) yield { subscripts, value, more };
  if (more) return;
  const node = db.global(name, ...subscripts);
  if (depth === Number.POSITIVE_INFINITY) yield* all(node, subscripts);
  else yield* level(node, subscripts, depth);
}

/** @param {any} node @param {any[]} above @returns {Generator<Found>} */
function* all(node, above) {
  for (const [below, value] of node.leaves()) {
    yield { subscripts: [...above, ...below], value: withMark(node, below, value), more: false };
  }
}

/** @param {any} node @param {any[]} above @param {number} depth @returns {Generator<Found>} */
function* level(node, above, depth) {
  for (const [subscript, value] of node.entries()) {
    const subscripts = [...above, subscript];
    const children = node.hasChildren(subscript);
    const stored = withMark(node, [subscript], value);
    const more = children && depth === 1;
    if (stored !== undefined || more) yield { subscripts, value: stored, more };
    if (children && !more) yield* level(node.at(subscript), subscripts, depth - 1);
  }
}
