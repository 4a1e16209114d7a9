// How the viewer's requests name a node: `{global, subscripts}`. Subscripts are an array, so that a dot, a bracket or any other
// character in one is that character. A subscript is text, as `as: 'string'` gives it, or `{bytes: hex}` where it is no UTF-8.

import { addon } from '../../addon.mjs';
import { RequestError } from '../../http/errors.mjs';

/**
 * @typedef {string | number | { bytes: string }} NamedSubscript a subscript in a request or a reply
 * @typedef {string | number | Uint8Array} Subscript
 *
 * @typedef {object} Address
 * @property {string} global with or without the caret
 * @property {NamedSubscript[]} [subscripts] none: the root of the global
 */

/**
 * A node, and the subscripts that the calls of its global take.
 *
 * @param {any} db the connection
 * @param {Address} address
 * @returns {{ name: string, bare: any, subscripts: Subscript[] }} `bare` has the native face's calls for one node
 */
export function nodeAt(db, { global, subscripts = [] }) {
  const name = global.replace(/^\^/, '');
  return { name, bare: new addon.Global(db, name), subscripts: subscripts.map(toSubscript) };
}

/**
 * @param {NamedSubscript} named
 * @returns {Subscript}
 */
export function toSubscript(named) {
  if (typeof named !== 'object') return named;
  if (named.bytes.length % 2 === 1)
    throw new RequestError(400, 'bytes of a subscript come as pairs of hexadecimal digits');
  return new Uint8Array(Buffer.from(named.bytes, 'hex'));
}

/** What text holds where bytes are no UTF-8. A subscript may hold the character itself too; either way it is looked at again. */
const REPLACEMENT = '\ufffd';

/** How a native scan is told that a bound belongs to the stretch, or does not. */
const BOUND = { included: 1, excluded: 0 };

/**
 * The subscripts of some children.
 *
 * @param {{ bare: any, subscripts: Subscript[] }} node
 * @param {object} stretch
 * @param {number} stretch.limit
 * @param {boolean} [stretch.reverse]
 * @param {{ at: Subscript, included: boolean }} [stretch.start] where it begins, in its direction
 * @param {string} [stretch.prefix] of subscripts that are strings
 * @returns {NamedSubscript[]} in the stretch's direction
 */
export function childSubscripts({ bare, subscripts }, { limit, reverse = false, start, prefix }) {
  const kind = start?.included ? BOUND.included : BOUND.excluded;
  /** @param {boolean} asText */
  const scan = (asText) =>
    bare.scan(subscripts, 0, limit, reverse, start?.at, kind, undefined, 0, asText, prefix);
  // Each text is followed by its place in the store, which only a scan that goes on needs.
  const texts = scan(true).filter((/** @type {string} */ _, /** @type {number} */ at) => at % 2 === 0);
  if (!texts.some((/** @type {string} */ text) => text.includes(REPLACEMENT))) return texts;
  return scan(false).map((/** @type {Subscript} */ typed, /** @type {number} */ at) =>
    typed instanceof Uint8Array ? { bytes: Buffer.from(typed).toString('hex') } : texts[at],
  );
}
