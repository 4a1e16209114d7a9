// What the viewer reads: children some at a time from any seed in either direction, one node, its document, its bytes, and how
// many nodes a subtree has. Whatever a request asks for, a reply is bounded and so is the work for it.

import { DocumentText } from '../../document-text.mjs';
import { RequestError } from '../../http/errors.mjs';
import { refusingWrongData } from '../refusal.mjs';
import { childSubscripts, nodeAt, toSubscript } from './address.mjs';
import { LINE, PANEL, shownValue } from './shown.mjs';

/**
 * @typedef {import('./address.mjs').Address} Address
 * @typedef {import('./address.mjs').NamedSubscript} NamedSubscript
 * @typedef {import('./shown.mjs').Shown} Shown
 *
 * @typedef {Address & { limit?: number, reverse?: boolean, from?: NamedSubscript, after?: NamedSubscript, find?: string }} ChildrenRequest
 *   `from` begins at a seed, `after` behind one, in the direction; the seed need not exist. `find` begins at the child that has this
 *   text as its subscript, else at the first one that begins with it, else at the next one
 *
 * @typedef {{ subscript: NamedSubscript, hasChildren: boolean, value?: Shown }} Child
 */

const DEFAULT_LIMIT = 50;

/** A document of more nodes or characters is not built. */
const MOST_DOCUMENT_NODES = 20_000;
const MOST_DOCUMENT_LENGTH = 4 * 1024 * 1024;

/** Bytes that one reply has at most. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Counting stops at this many values. */
const MOST_COUNTED = 1_000_000;

/** How many values one call reads; and how much they may take for the next call to read more. */
const FEWEST_TOGETHER = 8;
const MOST_TOGETHER = 1024;
const MOST_TOGETHER_LENGTH = 256 * 1024;

/**
 * All reads of one reply see one moment.
 *
 * @template T
 * @param {any} db
 * @param {() => T} read
 * @returns {T}
 */
function atOneMoment(db, read) {
  db.hold();
  try {
    return read();
  } finally {
    db.release();
  }
}

/**
 * @param {any} db
 * @param {ChildrenRequest} request
 * @returns {{ children: Child[], before: boolean, after: boolean }} in collation order, and whether there are more on either side
 */
function children(db, request) {
  const { limit = DEFAULT_LIMIT, reverse = false } = request;
  const node = nodeAt(db, request);
  const start = startOf(node, request);
  const found = childSubscripts(node, { limit: limit + 1, reverse, start });
  const ahead = found.length > limit;
  found.length = Math.min(found.length, limit);
  const behind = start !== undefined && isAnythingBehind(node, found[0], start, reverse);
  if (reverse) found.reverse();
  return {
    children: found.map((subscript) => child(node, subscript)),
    before: reverse ? ahead : behind,
    after: reverse ? behind : ahead,
  };
}

/**
 * @typedef {ReturnType<typeof nodeAt>} Node
 * @typedef {{ at: import('./address.mjs').Subscript, included: boolean }} Start
 *
 * @param {Node} node
 * @param {ChildrenRequest} request
 * @returns {Start | undefined}
 */
function startOf(node, { from, after, find }) {
  if (find !== undefined) return foundStart(node, find);
  if (from !== undefined) return { at: toSubscript(from), included: true };
  return after === undefined ? undefined : { at: toSubscript(after), included: false };
}

/** @param {Node} node @param {string} text @returns {Start} */
function foundStart(node, text) {
  const start = { at: text, included: true };
  const [nearest] = childSubscripts(node, { limit: 1, start });
  if (nearest === text) return start;
  // Text that spells a number is one, and stands before all strings; those that begin with it are further on.
  const [beginning] = childSubscripts(node, { limit: 1, prefix: text });
  return beginning === undefined ? start : { at: toSubscript(beginning), included: true };
}

/**
 * @param {Node} node
 * @param {NamedSubscript | undefined} first what was found first
 * @param {Start} start
 * @param {boolean} reverse
 */
function isAnythingBehind(node, first, start, reverse) {
  const from = first === undefined ? start : { at: toSubscript(first), included: false };
  return childSubscripts(node, { limit: 1, reverse: !reverse, start: from }).length > 0;
}

/** @param {Node} node @param {NamedSubscript} subscript @returns {Child} */
function child({ bare, subscripts }, subscript) {
  const below = [...subscripts, toSubscript(subscript)];
  return { subscript, hasChildren: bare.hasChildren(...below), value: shownValue(bare, below, LINE) };
}

/** @param {any} db @param {Address} address */
function oneNode(db, address) {
  const { bare, subscripts } = nodeAt(db, address);
  const value = shownValue(bare, subscripts, PANEL);
  const hasChildren = bare.hasChildren(...subscripts);
  return { exists: value !== undefined || hasChildren, hasChildren, value };
}

/** @param {any} value */
function sizeOf(value) {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
}

/**
 * Goes through the values of a subtree until told to stop. They come together, as many as are not too much to hold.
 *
 * @param {Node} node
 * @param {(value: any) => boolean} visit whether to go on
 */
function visitValues({ bare, subscripts }, visit) {
  let place;
  for (let together = FEWEST_TOGETHER; ; ) {
    /** @type {any[]} */
    const page = bare.scan(subscripts, 2, together, false, place, 2, undefined, 0, false, undefined);
    let size = 0;
    for (let at = 1; at < page.length; at += 3) {
      size += sizeOf(page[at]);
      if (!visit(page[at])) return;
    }
    if (page.length < together * 3) return;
    place = page.at(-1);
    together = size > MOST_TOGETHER_LENGTH ? FEWEST_TOGETHER : Math.min(2 * together, MOST_TOGETHER);
  }
}

/**
 * @param {any} db
 * @param {Address} address
 * @returns {object} `{json, editable}`: the document as text, and whether writing it back would keep everything; or an error
 */
function document(db, address) {
  const node = nodeAt(db, address);
  let nodes = 0;
  let length = 0;
  let withBytes = false;
  visitValues(node, (value) => {
    nodes += 1;
    length += sizeOf(value);
    withBytes ||= value instanceof Uint8Array;
    return nodes <= MOST_DOCUMENT_NODES && length <= MOST_DOCUMENT_LENGTH;
  });
  if (nodes > MOST_DOCUMENT_NODES || length > MOST_DOCUMENT_LENGTH) {
    const most = `${MOST_DOCUMENT_NODES.toLocaleString('en-US')} values or ${MOST_DOCUMENT_LENGTH / 2 ** 20} MiB`;
    return { error: `This document has more than ${most}: open a part of it`, errorCode: 413 };
  }
  const { bare, subscripts } = node;
  const text = bare.documentText(...subscripts);
  if (text === undefined) return { error: 'Nothing is stored here', errorCode: 404 };
  // A document has no place for the value of a node that has children too.
  const hasBoth = bare.hasChildren(...subscripts) && bare.get(...subscripts) !== undefined;
  return { json: JSON.stringify(DocumentText.parse(text), showBytes, 2), editable: !withBytes && !hasBoth };
}

/** @this {any} @param {string} _key @param {unknown} value */
function showBytes(_key, value) {
  return value instanceof Uint8Array ? `<${value.length.toLocaleString('en-US')} bytes>` : value;
}

/**
 * @param {any} db
 * @param {Address & { offset?: number, length?: number }} request
 */
function bytes(db, { offset = 0, length = MOST_BYTES, ...address }) {
  const { bare, subscripts } = nodeAt(db, address);
  const value = bare.get(...subscripts);
  if (!(value instanceof Uint8Array)) return { error: 'No bytes are stored here', errorCode: 404 };
  const body = value.slice(offset, offset + Math.min(length, MOST_BYTES));
  return { http_response: { headers: { 'content-type': 'application/octet-stream' }, body } };
}

/**
 * How many values a subtree has: what deleting it would take away.
 *
 * @param {any} db
 * @param {Address} address
 * @returns {{ values: number, more: boolean }} `more`: there are more than were counted
 */
function count(db, address) {
  const node = nodeAt(db, address);
  const { bare, subscripts } = node;
  let values = bare.get(...subscripts) === undefined && bare.mark(...subscripts) === undefined ? 0 : 1;
  visitValues(node, () => {
    values += 1;
    return values <= MOST_COUNTED;
  });
  return { values: Math.min(values, MOST_COUNTED), more: values > MOST_COUNTED };
}

/** @type {Record<string, (db: any, body: any) => object>} */
const ANSWERS = {
  '/viewer/children': children,
  '/viewer/node': oneNode,
  '/viewer/document': document,
  '/viewer/bytes': bytes,
};

export const handler = refusingWrongData(
  /** @this {{ db: any }} @param {any} messageObj @param {(reply: object) => void} finished */
  function (messageObj, finished) {
    const { routerPath, body } = messageObj.data;
    const { db } = this;
    if (body === undefined || body === null)
      throw new RequestError(400, 'The body must name a node: {global, subscripts}');
    // Counting may take a second, in which one moment must not be held: the store could reuse no space.
    if (routerPath === '/viewer/count') finished(count(db, body));
    else finished(atOneMoment(db, () => ANSWERS[routerPath](db, body)));
  },
);
