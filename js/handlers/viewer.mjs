// The viewer's routes: the directory of globals, the root of one, and the children of any node, some at a time in either
// direction. A node is named by its glsDB path.

import { parsePath, pathOf } from '../glsdb/paths.mjs';
import { refusingWrongData } from './refusal.mjs';

/** How many children a reply has when the request does not say. */
const DEFAULT_MAX = 50;

/**
 * @typedef {object} ViewerContext
 * @property {{db: any, mcursor: any}} mgdbx
 * @property {(name: string, ...subscripts: string[]) => any} use
 *
 * @typedef {object} ChildNodesRequest
 * @property {string} path
 * @property {number} parentId the page's id of the node
 * @property {number} idCounter the last id that the page has given
 * @property {number} [maxSubscripts]
 * @property {boolean} [moreSiblings] go on from `seed`, which is included
 * @property {boolean} [morePreviousSiblings] go back from `seed`, which is included
 * @property {string | number} [seed]
 */

/** @param {ViewerContext} context */
function directory({ mgdbx: { db, mcursor } }) {
  const cursor = new mcursor(db, { global: '' }, { globaldirectory: true });
  const names = [];
  for (let name = cursor.next(); name !== null; name = cursor.next()) names.push(name.replace(/^\^/, ''));
  return { names };
}

/**
 * A value as the page gets it. Bytes are told by their number and their first few.
 * @param {any} global
 * @param {string[]} subscripts
 */
function shownValue(global, subscripts) {
  const value = global.typed(...subscripts);
  if (value instanceof Uint8Array) {
    return { bytes: value.length, hex: Buffer.from(value.subarray(0, 64)).toString('hex') };
  }
  return value === undefined ? global.get(...subscripts) : value;
}

/** @param {ViewerContext} context @param {string} documentName */
function documentNode(context, documentName) {
  const name = documentName.replace(/^\^/, '');
  const global = context.use(name);
  const leafNode = global.defined() === '1';
  const path = pathOf(name, []);
  const value = leafNode ? shownValue(global, []) : '';
  return {
    node: { documentName: name, path, parent: false, subscript: name, leafNode, value, id: 1 },
    idCounter: 1,
  };
}

/** Collects the nodes of one reply, and numbers them in the order in which they are found. */
class Listing {
  /** @param {any} global @param {string} name @param {string[]} subscripts @param {ChildNodesRequest} request */
  constructor(global, name, subscripts, request) {
    this.global = global;
    this.name = name;
    this.subscripts = subscripts;
    this.parent = request.parentId;
    this.idCounter = request.idCounter;
    this.path = request.path;
  }

  nextId() {
    this.idCounter += 1;
    return this.idCounter;
  }

  /** @param {string} subscript */
  child(subscript) {
    const subscripts = [...this.subscripts, subscript];
    const defined = this.global.defined(...subscripts);
    const path = pathOf(this.name, subscripts);
    const node = { path, subscript, leafNode: defined === '1', parent: this.parent, id: this.nextId() };
    // A node with both a value and children shows both.
    return defined === '10' || defined === '0'
      ? node
      : { ...node, value: shownValue(this.global, subscripts) };
  }

  /** @param {'moreSiblings' | 'morePreviousSiblings'} which @param {string} seed */
  more(which, seed) {
    return { id: this.nextId(), path: this.path, [which]: true, parent: this.parent, seed };
  }
}

/**
 * A node's child at the seed, or the nearest one after it (before it, when going back).
 * @param {any} global
 * @param {string[]} subscripts
 * @param {string} seed '' for the first (or last)
 * @param {'next' | 'previous'} step
 */
function childAt(global, subscripts, seed, step) {
  if (seed !== '' && global.defined(...subscripts, seed) !== '0') return seed;
  return global[step](...subscripts, seed);
}

/** What a direction means: the calls that go on and back, and the entries that stand for what a reply leaves out. */
const FORWARDS = /** @type {const} */ ({
  step: 'next',
  back: 'previous',
  ahead: 'moreSiblings',
  behind: 'morePreviousSiblings',
});
const BACKWARDS = /** @type {const} */ ({
  step: 'previous',
  back: 'next',
  ahead: 'morePreviousSiblings',
  behind: 'moreSiblings',
});

/** @param {ViewerContext} context @param {ChildNodesRequest} request */
function childNodes(context, request) {
  const [name, ...subscripts] = parsePath(request.path);
  const global = context.use(name);
  const listing = new Listing(global, name, subscripts, request);
  const backwards = request.morePreviousSiblings === true && request.moreSiblings !== true;
  const { step, back, ahead, behind } = backwards ? BACKWARDS : FORWARDS;
  const seed = request.moreSiblings || backwards ? String(request.seed ?? '') : '';
  const max = request.maxSubscripts ?? DEFAULT_MAX;

  const nodes = [];
  let subscript = childAt(global, subscripts, seed, step);
  const passed = seed === '' || subscript === '' ? '' : global[back](...subscripts, subscript);
  if (passed !== '') nodes.push(listing.more(behind, passed));
  for (let count = 0; count < max && subscript !== ''; count += 1) {
    nodes.push(listing.child(subscript));
    subscript = global[step](...subscripts, subscript);
  }
  if (subscript !== '') nodes.push(listing.more(ahead, subscript));
  return { nodes: backwards ? nodes.reverse() : nodes, idCounter: listing.idCounter };
}

export const handler = refusingWrongData(
  /** @this {ViewerContext} @param {any} messageObj @param {(reply: object) => void} finished */
  function (messageObj, finished) {
    const { routerPath, params, body } = messageObj.data;
    if (routerPath === '/viewer/globaldirectory') finished(directory(this));
    else if (routerPath === '/viewer/getChildNodes') finished(childNodes(this, body));
    else finished(documentNode(this, params.documentName));
  },
);
