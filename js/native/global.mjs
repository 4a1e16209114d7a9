// `Global`: one node and all that can be done with it and below it. The calls of one node are native methods that it
// inherits; this file adds what is made of several.

import { addon } from '../addon.mjs';
import { DocumentText } from '../document-text.mjs';
import { failure } from '../failure.mjs';
import { find } from '../find.mjs';
import { iterate, SHAPES } from '../iterate.mjs';
import { INTERNAL } from './internal.mjs';
import { watch } from './watch.mjs';

/** @typedef {string | number | Uint8Array} Subscript */

/** A node and what can be done with it and below it. Made by `Database.global` and `Global.at`. */
export class Global extends addon.Global {
  #server;
  #name;
  #fixed;

  /**
   * @param {symbol} key
   * @param {any} server
   * @param {string} name
   * @param {Subscript[]} fixed
   */
  constructor(key, server, name, fixed) {
    if (key !== INTERNAL) throw failure('ERR_ARG', 'a Global is made by db.global()');
    super(server, name, ...fixed);
    this.#server = server;
    // The bare node has copied the subscripts; bytes among them may change later.
    this.#fixed = fixed.map((subscript) =>
      subscript instanceof Uint8Array ? new Uint8Array(subscript) : subscript,
    );
    this.#name = name.startsWith('^') ? name.slice(1) : name;
  }

  /** @returns {string} the global's name, without caret */
  get name() {
    return this.#name;
  }

  /**
   * @param {...Subscript} subscripts
   * @returns {Global} the node below this one
   */
  at(...subscripts) {
    return new Global(INTERNAL, this.#server, this.#name, [...this.#fixed, ...subscripts]);
  }

  /** @param {any} [range] @returns {IterableIterator<Subscript>} the children's subscripts */
  keys(range) {
    return iterate(this, this.#server, SHAPES.keys, range);
  }

  /** @param {any} [range] @returns {IterableIterator<any>} the children's subscripts and values */
  entries(range) {
    return iterate(this, this.#server, SHAPES.entries, range);
  }

  /** @param {any} [range] @returns {IterableIterator<any>} every node below that has a value */
  leaves(range) {
    return iterate(this, this.#server, SHAPES.leaves, range);
  }

  /** The document below this node; setting it replaces the subtree. @returns {any} */
  get document() {
    return this.getDocument();
  }

  set document(document) {
    this.setDocument(document);
  }

  /** @param {...any} subscripts @returns {any} the document, or undefined */
  getDocument(...subscripts) {
    return DocumentText.parse(this.documentText(...subscripts));
  }

  /** @param {...any} subscriptsThenDocument replaces the subtree, in one write */
  setDocument(...subscriptsThenDocument) {
    const document = subscriptsThenDocument.pop();
    this.setDocumentText(...subscriptsThenDocument, DocumentText.of(document, 'setDocument'));
  }

  /** @param {...any} subscriptsThenDocument keeps what the document does not name, in one write */
  mergeDocument(...subscriptsThenDocument) {
    const document = subscriptsThenDocument.pop();
    this.mergeDocumentText(...subscriptsThenDocument, DocumentText.of(document, 'mergeDocument'));
  }

  /** @param {...any} subscriptsThenPatch an RFC 7396 merge patch, in one write */
  patch(...subscriptsThenPatch) {
    const patch = subscriptsThenPatch.pop();
    this.patchDocumentText(...subscriptsThenPatch, DocumentText.of(patch, 'patch'));
  }

  /**
   * Makes an index of the documents one level below this node, on the value at a path inside each, and fills it.
   *
   * @param {string} name
   * @param {(string | number)[]} path members' names and elements' indexes; empty for the child's own value
   * @param {{ unique?: boolean }} [options]
   */
  createIndex(name, path, options = {}) {
    if (!Array.isArray(path)) throw failure('ERR_ARG', 'createIndex: the path must be an array');
    if (typeof options !== 'object' || options === null) {
      throw failure('ERR_ARG', 'createIndex: the options must be an object');
    }
    const { unique = false } = options;
    if (typeof unique !== 'boolean') throw failure('ERR_ARG', 'createIndex: unique must be true or false');
    this.addIndex(name, JSON.stringify(path), unique);
  }

  /** @param {string} name the index is no more; the documents stay */
  dropIndex(name) {
    this.removeIndex(name);
  }

  /**
   * @param {string} index its name
   * @param {any} [query]
   * @returns {IterableIterator<any>} subscripts and documents, in the order of the indexed values
   */
  find(index, query = {}) {
    return find(this, this.#server, index, query);
  }

  /**
   * Tells of every change to this node and below it, as `Database.watch` does.
   *
   * @param {(change: import('./watch.mjs').Change) => void} [listener]
   * @returns {import('./watch.mjs').Watcher}
   */
  watch(listener) {
    return watch(this.#server, [this.#name, this.#fixed, listener]);
  }

  /**
   * Locks a node as M's LOCK does, waiting as long as the connection's timeout.
   *
   * @param {...Subscript} subscripts
   * @returns {boolean} whether it is locked
   */
  lock(...subscripts) {
    return this.lockWithin(...subscripts, Number(this.#server.settimeout()));
  }

  /**
   * @param {number} seconds the longest wait; a negative number waits for ever
   * @param {...Subscript} subscripts
   * @returns {boolean} whether it is locked
   */
  lockFor(seconds, ...subscripts) {
    return this.lockWithin(...subscripts, seconds);
  }
}
