// A node as glsDB gives it to a program: its place in the tree, its value, its document, its neighbours. The longer
// pieces of work live beside this file; a node itself is three references, so that making one costs next to nothing.
// What each member promises to a program is said once, in js/types/glsdb.d.mts.

import { inspect } from 'node:util';
import * as arrays from './arrays.mjs';
import { callWith } from './call.mjs';
import * as children from './children.mjs';
import * as documents from './documents.mjs';
import { describe, failure } from './failure.mjs';
import { indexKey, isIndexKey, numberKey, subscriptOf, subscriptOfProperty } from './keys.mjs';
import { forEachLeafNode } from './leaves.mjs';
import { pathOf } from './paths.mjs';
import { pointed } from './pointer.mjs';
import { proxyOf } from './proxy.mjs';
import { readByLeaves, writeByLeaves } from './steps.mjs';
import { legacyValue } from './values.mjs';

/**
 * @typedef {import('./connection.mjs').Tree} Tree
 * @typedef {import('./keys.mjs').Subscript} Subscript
 */

export class Node {
  /**
   * @param {Tree} tree the global
   * @param {Subscript[]} subscripts never changed afterwards; neighbours may share it
   * @param {Node} [parent]
   */
  constructor(tree, subscripts, parent) {
    this._tree = tree;
    this._subscripts = subscripts;
    this._parent = parent;
  }

  // Place

  get name() {
    return this._tree.name;
  }

  get subscripts() {
    return this._subscripts.slice();
  }

  get keys() {
    return [this._tree.name, ...this._subscripts];
  }

  get key() {
    return this._subscripts.at(-1) ?? '';
  }

  get path() {
    return pathOf(this._tree.name, this._subscripts);
  }

  get isArrayMember() {
    return isIndexKey(this.key);
  }

  /** What `console.log` shows; the rest of a node is of no interest. */
  [inspect.custom]() {
    return `node ${this.path}`;
  }

  toJSON() {
    return this.document;
  }

  // Value

  /**
   * Tells the listeners, if there are any, that a call was made for this node.
   *
   * @param {string} type
   * @param {object} [more] what the payload has beside node and subscripts
   */
  _tell(type, more) {
    const { connection } = this._tree;
    if (connection.listening)
      connection.emit(type, { node: this, subscripts: this._subscripts.slice(), ...more });
  }

  /**
   * @param {unknown} stored a value from the store
   * @returns {any} the value as programs get it: `''` where there is none
   */
  _plain(stored) {
    if (stored === undefined) return '';
    return typeof stored === 'string' && this._tree.connection.legacyValues ? legacyValue(stored) : stored;
  }

  get value() {
    const { connection, handle } = this._tree;
    // Those who count calls get the two that the published glsdb makes; otherwise one is enough for a value.
    const defined = connection.listening ? this.defined : '1';
    if (defined === '0') return '';
    if (defined === '10') return this.document;
    const stored = handle.typed(...this._subscripts);
    this._tell('get');
    return stored === undefined ? this.document : this._plain(stored);
  }

  /** @param {any} value */
  set value(value) {
    this.rawSet(value);
  }

  getValue() {
    const stored = this._tree.handle.typed(...this._subscripts);
    this._tell('get');
    return this._plain(stored);
  }

  /** @param {any} value */
  rawSet(value) {
    if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array)) {
      this.document = value;
      return;
    }
    if (typeof value === 'function' || typeof value === 'symbol') {
      throw failure('ERR_ARG', `${this.path}: ${describe(value)} is no value`);
    }
    const stored = value === undefined ? '' : typeof value === 'bigint' ? String(value) : value;
    callWith(this._tree.handle, 'setTyped', this._subscripts, stored);
    this._tell('set', { value: stored });
  }

  /** @param {number | string} [amount] */
  increment(amount = 1) {
    this._tell('increment', { by: amount });
    const { handle } = this._tree;
    // Only text can say what M makes of "12abc".
    if (typeof amount !== 'number') return handle.increment(...this._subscripts, amount);
    const sum = handle.incrementTyped(...this._subscripts, amount);
    return typeof sum === 'number' ? numberKey(sum) : sum;
  }

  delete() {
    this._tree.handle.delete(...this._subscripts);
    this._tell('delete');
  }

  // Whether it is there

  /**
   * @param {string} method the property that asks
   * @returns {string} `'0'` nothing, `'1'` a value, `'10'` children, `'11'` both
   */
  _defined(method) {
    this._tell('defined', { method });
    return this._tree.handle.defined(...this._subscripts);
  }

  get defined() {
    return this._defined('defined');
  }

  get exists() {
    return this._defined('exists') !== '0';
  }

  get hasChildren() {
    return this._defined('hasChildren').length === 2;
  }

  get isLeafNode() {
    return this._defined('isLeafNode') === '1';
  }

  get hasValue() {
    return this._defined('hasValue').endsWith('1');
  }

  get isArray() {
    return arrays.isArray(this);
  }

  // Document

  get document() {
    return documents.read(this);
  }

  set document(value) {
    documents.replace(this, value);
  }

  get document_q() {
    return readByLeaves(this);
  }

  /** @param {any} value */
  merge(value) {
    documents.merge(this, value);
  }

  /** @param {any} change */
  patch(change) {
    documents.patch(this, change);
  }

  /** @param {any} value */
  setLeaves(value) {
    writeByLeaves(this, value);
  }

  /** @param {string} pointer */
  pointer(pointer) {
    return pointed(this, pointer);
  }

  get proxy() {
    return proxyOf(this);
  }

  /** @param {Node} source */
  import(source) {
    const from = documents.nodeOf(source);
    return this._tree.handle.merge(...this._subscripts, from._tree.handle, ...from._subscripts);
  }

  // Neighbours

  /**
   * @param {Subscript} subscript as stored
   * @returns {Node}
   */
  _child(subscript) {
    const above = this._subscripts;
    // Most children are made at the root of a global, where no array needs to be copied.
    return new Node(this._tree, above.length === 0 ? [subscript] : [...above, subscript], this);
  }

  /**
   * @param {Subscript[]} subscripts all of them, from the global down
   * @returns {Node}
   */
  _descendant(subscripts) {
    return new Node(this._tree, subscripts);
  }

  /** @param {any} key */
  getChild(key) {
    return this._child(subscriptOf(key));
  }

  /** @param {any} key a key, or an array of keys that leads further down */
  $(key) {
    if (!Array.isArray(key)) return this._child(subscriptOf(key));
    /** @type {Node} */
    let node = this;
    for (const part of key) node = node._child(subscriptOf(part));
    return node;
  }

  /** @param {number | string} index */
  _(index) {
    return this._child(indexKey(index));
  }

  /** @param {string} name */
  property(name) {
    return this._child(subscriptOfProperty(name));
  }

  get parent() {
    if (this._parent === undefined && this._subscripts.length > 0) {
      this._parent = new Node(this._tree, this._subscripts.slice(0, -1));
    }
    return this._parent;
  }

  get firstChild() {
    return children.neighbour(this, 'next', '');
  }

  get lastChild() {
    return children.neighbour(this, 'previous', '');
  }

  get nextSibling() {
    const { parent } = this;
    return parent && children.neighbour(parent, 'next', this.key);
  }

  get previousSibling() {
    const { parent } = this;
    return parent && children.neighbour(parent, 'previous', this.key);
  }

  /** @param {any} seed */
  getChildAfter(seed) {
    return children.neighbour(this, 'next', subscriptOf(seed));
  }

  /** @param {any} seed */
  childAfter(seed) {
    return this.getChildAfter(seed);
  }

  /** @param {any} seed */
  getChildBefore(seed) {
    return children.neighbour(this, 'previous', subscriptOf(seed));
  }

  /** @param {any} seed */
  childBefore(seed) {
    return this.getChildBefore(seed);
  }

  /**
   * @param {any} options
   * @param {(child: Node) => unknown} [callback]
   */
  forEachChildNode(options, callback) {
    if (typeof options === 'function') children.forEachChildNode(this, {}, options);
    else children.forEachChildNode(this, options ?? {}, callback);
  }

  get childNodes() {
    /** @type {Node[]} */
    const found = [];
    children.forEachChildNode(this, {}, (child) => {
      found.push(child);
    });
    return found;
  }

  get children() {
    return this.childNodes;
  }

  get properties() {
    return arrays.isArray(this) ? this.document : children.propertyNames(this);
  }

  get length() {
    return arrays.isArray(this) ? arrays.length(this) : children.count(this);
  }

  /**
   * @param {any} options
   * @param {(...found: any[]) => unknown} [callback]
   */
  forEachLeafNode(options, callback) {
    if (typeof options === 'function') forEachLeafNode(this, {}, options);
    else forEachLeafNode(this, options ?? {}, callback);
  }

  get leafNodes() {
    /** @type {Node[]} */
    const found = [];
    forEachLeafNode(this, {}, (leaf) => {
      found.push(leaf);
    });
    return found;
  }

  // Locks

  /** @param {number} [timeout] seconds; -1, the default, waits for as long as it takes */
  lock(timeout = -1) {
    this._tell('lock', { subscripts: [...this._subscripts, timeout] });
    return this._tree.handle.lock(...this._subscripts, timeout) === '1';
  }

  unlock() {
    this._tell('unlock');
    return this._tree.handle.unlock(...this._subscripts) === '1';
  }

  // Arrays

  /** @param {any[]} values */
  push(...values) {
    return arrays.push(this, values);
  }

  pop() {
    return arrays.pop(this);
  }

  shift() {
    return arrays.shift(this);
  }

  /** @param {any[]} values */
  unshift(...values) {
    return arrays.unshift(this, values);
  }

  /** @param {[any?, any?, ...any[]]} change start, how many to remove, what to put there */
  splice(...change) {
    return arrays.splice(this, change);
  }

  /** @param {any[]} values */
  concat(...values) {
    return arrays.concat(this, values);
  }

  /** @param {(a: any, b: any) => number} [compare] */
  sort(compare) {
    arrays.rewrite(this, (array) => array.sort(compare));
    return this;
  }

  reverse() {
    arrays.rewrite(this, (array) => array.reverse());
    return this;
  }

  /**
   * @param {any} value
   * @param {number} [start]
   * @param {number} [end]
   */
  fill(value, start, end) {
    arrays.rewrite(this, (array) => array.fill(value, start, end));
    return this;
  }

  /** @param {number} index */
  at(index) {
    return arrays.at(this, index);
  }

  /** @param {[number?, number?]} range */
  slice(...range) {
    return arrays.isArray(this) ? this.document.slice(...range) : undefined;
  }

  /** @param {[any, number?]} wanted */
  includes(...wanted) {
    return arrays.isArray(this) && this.document.includes(...wanted);
  }

  /** @param {[any, number?]} wanted */
  indexOf(...wanted) {
    return arrays.isArray(this) ? this.document.indexOf(...wanted) : -1;
  }

  /** @param {[any, number?]} wanted */
  lastIndexOf(...wanted) {
    return arrays.isArray(this) ? this.document.lastIndexOf(...wanted) : -1;
  }

  /** @param {string} [separator] */
  join(separator) {
    return arrays.isArray(this) ? this.document.join(separator) : undefined;
  }
}
