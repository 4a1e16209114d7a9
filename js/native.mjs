// The native face: `open()`, `Database` and `Global`, with typed values, iterators, transactions and promises. The calls
// of one node are native methods that `Global` inherits; this file adds what is made of several.

import { addon } from './addon.mjs';
import { asOne } from './as-one.mjs';
import { DocumentText } from './document-text.mjs';
import { failure } from './failure.mjs';
import { find } from './find.mjs';
import { checkRange, iterate, SHAPES } from './iterate.mjs';

/** @typedef {string | number | Uint8Array} Subscript */

/** Keeps the constructors for `open` and `Database.global`. */
const INTERNAL = Symbol('internal');

/** What `open` takes; a misspelt option would otherwise be one that is silently off. */
const OPTIONS = new Set([
  'path',
  'engine',
  'durability',
  'flushInterval',
  'logLimit',
  'timeout',
  'readOnly',
  'create',
]);

/**
 * Opens a store.
 *
 * @param {string | Record<string, any>} [path] the store's folder, or the options
 * @param {Record<string, any>} [options]
 * @returns {Database}
 * @example
 * const db = open('./data');
 * db.global('Person').set(1, 'name', 'Rob');
 */
export function open(path, options) {
  const settings = readOptions(path, options);
  const server = new addon.server();
  server.open({ ...settings, type: 'CaretDB' });
  return new Database(INTERNAL, server);
}

/**
 * @param {unknown} path
 * @param {unknown} options
 * @returns {Record<string, unknown>}
 */
function readOptions(path, options) {
  const isAlone = typeof path === 'object' && path !== null;
  const given = isAlone ? path : (options ?? {});
  if (typeof given !== 'object' || (isAlone && options !== undefined))
    throw failure('ERR_ARG', 'open takes a path and options, or options alone');
  for (const name of Object.keys(given)) {
    if (!OPTIONS.has(name))
      throw failure(
        'ERR_ARG',
        `open has no option ${JSON.stringify(name)}: it takes ${[...OPTIONS].join(', ')}`,
      );
  }
  const settings = isAlone || path === undefined ? { ...given } : { ...given, path };
  if (settings.path !== undefined && (typeof settings.path !== 'string' || settings.path === ''))
    throw failure('ERR_ARG', 'open: the path must be a non-empty string');
  return settings;
}

/** One connection to a store. Made by {@link open}. */
export class Database {
  #server;
  #holds = 0;
  #path;

  /**
   * @param {symbol} key
   * @param {any} server
   */
  constructor(key, server) {
    if (key !== INTERNAL) throw failure('ERR_ARG', 'a Database is made by open()');
    this.#server = server;
    this.#path = server.path();
    /** The same calls as promises, off the event loop. */
    this.async = new AsyncDatabase(INTERNAL, server);
  }

  /** @returns {string} the store's folder */
  get path() {
    return this.#path;
  }

  /** @returns {boolean} */
  get closed() {
    return this.#server.path() === '';
  }

  /**
   * @param {string} name
   * @param {...Subscript} fixed
   * @returns {Global} the node `^name(...fixed)`
   */
  global(name, ...fixed) {
    return new Global(INTERNAL, this.#server, name, fixed);
  }

  /**
   * The names of the globals, in order; the product's own `%caretdb` is left out.
   *
   * @param {{ from?: string, to?: string, after?: string, before?: string, prefix?: string, reverse?: boolean, limit?: number }} [range]
   * @returns {IterableIterator<string>}
   */
  globals(range = {}) {
    this.#check();
    checkNames(range);
    return names(this.#server, range);
  }

  /**
   * Runs `work` in a transaction: it commits when `work` returns and is undone when it throws. Calls may nest.
   *
   * @template T
   * @param {() => T} work it must not return a promise
   * @returns {T}
   */
  transaction(work) {
    if (typeof work !== 'function') throw failure('ERR_ARG', 'transaction: the work must be a function');
    this.#check();
    return asOne(this.#server, () => {
      const result = work();
      if (isPromise(result)) {
        throw failure(
          'ERR_TX',
          'transaction: the function must not be async: a transaction cannot stay open across an await',
        );
      }
      return result;
    });
  }

  /**
   * Runs `work`, whose reads all see one moment.
   *
   * @template T
   * @param {() => T} work it must not return a promise
   * @returns {T}
   */
  snapshot(work) {
    if (typeof work !== 'function') throw failure('ERR_ARG', 'snapshot: the work must be a function');
    this.#check();
    if (this.#holds === 0) this.#server.hold();
    this.#holds += 1;
    try {
      const result = work();
      if (isPromise(result)) throw failure('ERR_ARG', 'snapshot: the function must not be async');
      return result;
    } finally {
      this.#holds -= 1;
      if (this.#holds === 0 && !this.closed) this.#server.release();
    }
  }

  /** Waits until all writes that have returned are durable, without blocking the event loop. @returns {Promise<void>} */
  sync() {
    return this.async.sync();
  }

  /** Waits until all writes that have returned are durable. */
  syncNow() {
    this.#check();
    this.#server.sync();
  }

  /** @returns {Record<string, number>} what the store holds and takes */
  stats() {
    this.#check();
    return this.#server.stats();
  }

  /** Closes the connection: an open transaction is undone, locks are released. Closing twice does nothing. */
  close() {
    this.#server.close();
  }

  [Symbol.dispose]() {
    this.close();
  }

  #check() {
    if (this.closed) throw failure('ERR_CLOSED', 'the connection is closed');
  }
}

/**
 * @param {any} server
 * @param {any} range
 * @returns {Generator<string>}
 */
function* names(server, range) {
  const { reverse = false, prefix = '' } = range;
  const cursor = new addon.mcursor(server, { global: firstName(range) }, { globaldirectory: true });
  let left = range.limit ?? Number.POSITIVE_INFINITY;
  while (left > 0) {
    if (server.path() === '') throw failure('ERR_CLOSED', 'globals: the connection is closed');
    const found = reverse ? cursor.previous() : cursor.next();
    if (found === null) return;
    const name = found.slice(1);
    if (isBeyond(name, range)) return;
    if (!isWithin(name, range) || !name.startsWith(prefix)) continue;
    left -= 1;
    yield name;
  }
}

/** @param {any} range */
function checkNames(range) {
  checkRange(range);
  for (const bound of ['from', 'to', 'after', 'before']) {
    if (range[bound] !== undefined && typeof range[bound] !== 'string')
      throw failure('ERR_ARG', `globals: ${bound} must be a name`);
  }
}

/** @param {unknown} value */
function isPromise(value) {
  return typeof (/** @type {any} */ (value)?.then) === 'function';
}

/** @param {any} range the seed of a directory in its direction; a cursor leaves its seed out, so it starts one earlier */
function firstName({ reverse, from, after, to, before, prefix }) {
  if (reverse) return before ?? (to === undefined ? '' : `${to}0`);
  return after ?? (from ?? prefix ?? '').slice(0, -1);
}

/** @param {string} name @param {any} range */
function isWithin(name, { from, to, after, before }) {
  return (
    (from === undefined || name >= from) &&
    (after === undefined || name > after) &&
    (to === undefined || name <= to) &&
    (before === undefined || name < before)
  );
}

/** @param {string} name @param {any} range whether no later name can belong to the range */
function isBeyond(name, { reverse, from, to, after, before, prefix }) {
  if (reverse) {
    return (
      name < (from ?? '') || (after !== undefined && name <= after) || (prefix !== undefined && name < prefix)
    );
  }
  return (
    (to !== undefined && name > to) ||
    (before !== undefined && name >= before) ||
    (prefix !== undefined && name > prefix && !name.startsWith(prefix))
  );
}

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
    this.setDocumentText(...subscriptsThenDocument, DocumentText.of(document));
  }

  /** @param {...any} subscriptsThenDocument keeps what the document does not name, in one write */
  mergeDocument(...subscriptsThenDocument) {
    const document = subscriptsThenDocument.pop();
    this.mergeDocumentText(...subscriptsThenDocument, DocumentText.of(document));
  }

  /** @param {...any} subscriptsThenPatch an RFC 7396 merge patch, in one write */
  patch(...subscriptsThenPatch) {
    const patch = subscriptsThenPatch.pop();
    this.patchDocumentText(...subscriptsThenPatch, DocumentText.of(patch));
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

/** A {@link Database} whose calls answer with promises; they run in call order on a thread of the runtime's pool. */
export class AsyncDatabase {
  #server;

  /**
   * @param {symbol} key
   * @param {any} server
   */
  constructor(key, server) {
    if (key !== INTERNAL) throw failure('ERR_ARG', 'an AsyncDatabase is db.async');
    this.#server = server;
  }

  /**
   * @param {string} name
   * @param {...Subscript} fixed
   * @returns {AsyncGlobal}
   */
  global(name, ...fixed) {
    return new AsyncGlobal(INTERNAL, this.#server, name, fixed);
  }

  /** @returns {Promise<void>} settles when all writes that have returned are durable */
  async sync() {
    return this.#server.syncLater();
  }
}

/** A {@link Global} whose calls answer with promises. */
export class AsyncGlobal {
  #bare;
  #server;

  /**
   * @param {symbol} key
   * @param {any} server
   * @param {string} name
   * @param {Subscript[]} fixed
   */
  constructor(key, server, name, fixed) {
    if (key !== INTERNAL) throw failure('ERR_ARG', 'an AsyncGlobal is made by db.async.global()');
    this.#server = server;
    this.#bare = new addon.Global(server, name, ...fixed);
  }

  /** @param {...any} subscripts @returns {Promise<any>} */
  async get(...subscripts) {
    return this.#bare.getLater(...subscripts);
  }

  /** @param {...any} subscriptsThenValue @returns {Promise<void>} */
  async set(...subscriptsThenValue) {
    return this.#bare.setLater(...subscriptsThenValue);
  }

  /** @param {...any} subscripts @returns {Promise<boolean>} */
  async has(...subscripts) {
    return this.#bare.hasLater(...subscripts);
  }

  /** @param {...any} subscripts @returns {Promise<boolean>} */
  async hasChildren(...subscripts) {
    return this.#bare.hasChildrenLater(...subscripts);
  }

  /** @param {...any} subscripts @returns {Promise<void>} */
  async delete(...subscripts) {
    return this.#bare.deleteLater(...subscripts);
  }

  /** @param {...any} subscriptsThenAmount @returns {Promise<number>} */
  async increment(...subscriptsThenAmount) {
    return this.#bare.incrementLater(...subscriptsThenAmount);
  }

  /** @param {...any} subscripts @returns {Promise<Subscript | undefined>} */
  async next(...subscripts) {
    return this.#bare.nextLater(...subscripts);
  }

  /** @param {...any} subscripts @returns {Promise<Subscript | undefined>} */
  async previous(...subscripts) {
    return this.#bare.previousLater(...subscripts);
  }

  /** @param {...any} subscripts @returns {Promise<number>} */
  async count(...subscripts) {
    return this.#bare.countLater(...subscripts);
  }

  /** @param {Global | AsyncGlobal} source @returns {Promise<void>} */
  async merge(source) {
    return this.#bare.mergeLater(source instanceof AsyncGlobal ? source.#bare : source);
  }

  /** @param {...any} subscripts @returns {Promise<any>} */
  async getDocument(...subscripts) {
    return DocumentText.parse(await this.#bare.documentTextLater(...subscripts));
  }

  /** @param {...any} subscriptsThenDocument @returns {Promise<void>} */
  async setDocument(...subscriptsThenDocument) {
    const document = subscriptsThenDocument.pop();
    return this.#bare.setDocumentTextLater(...subscriptsThenDocument, DocumentText.of(document));
  }

  /** @param {...any} subscriptsThenDocument @returns {Promise<void>} */
  async mergeDocument(...subscriptsThenDocument) {
    const document = subscriptsThenDocument.pop();
    return this.#bare.mergeDocumentTextLater(...subscriptsThenDocument, DocumentText.of(document));
  }

  /** @param {...any} subscriptsThenPatch @returns {Promise<void>} */
  async patch(...subscriptsThenPatch) {
    const patch = subscriptsThenPatch.pop();
    return this.#bare.patchDocumentTextLater(...subscriptsThenPatch, DocumentText.of(patch));
  }

  /** @param {...any} subscripts @returns {Promise<boolean>} */
  async lock(...subscripts) {
    return this.#bare.lockLater(...subscripts, Number(this.#server.settimeout()));
  }

  /** @param {number} seconds @param {...any} subscripts @returns {Promise<boolean>} */
  async lockFor(seconds, ...subscripts) {
    return this.#bare.lockLater(...subscripts, seconds);
  }

  /** @param {...any} subscripts @returns {Promise<void>} */
  async unlock(...subscripts) {
    return this.#bare.unlockLater(...subscripts);
  }
}
