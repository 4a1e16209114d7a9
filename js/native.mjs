// The native face: `open()` and `Database`, with typed values, iterators, transactions and promises. Nodes are in
// native/global.mjs, the calls that answer with promises in native/later.mjs.

import { addon } from './addon.mjs';
import { asOne } from './as-one.mjs';
import { Attachments } from './attachments/attachments.mjs';
import { failure } from './failure.mjs';
import { checkNames, names } from './native/directory.mjs';
import { Global } from './native/global.mjs';
import { INTERNAL } from './native/internal.mjs';
import { AsyncDatabase } from './native/later.mjs';
import { backup } from './native/long-work.mjs';
import { closeWatchers, Watcher, watch } from './native/watch.mjs';

export { AsyncDatabase, AsyncGlobal } from './native/later.mjs';
export { Global, Watcher };

/** @typedef {string | number | Uint8Array} Subscript */

/** What `open` takes; a misspelt option would otherwise be one that is silently off. */
const OPTIONS = new Set([
  'path',
  'engine',
  'url',
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
  /** @type {Attachments | undefined} */
  #attachments;

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

  /** @returns {Attachments} bytes of any length that belong to documents */
  get attachments() {
    this.#check('attachments');
    this.#attachments ??= new Attachments(this.#server);
    return this.#attachments;
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
    this.#check('globals');
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
    this.#check('transaction');
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
    this.#check('snapshot');
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
    this.#check('syncNow');
    this.#server.sync();
  }

  /**
   * Copies the store, as of one moment, into a folder that is empty or does not exist, while others read and write.
   *
   * @param {string} path
   * @param {import('./native/long-work.mjs').WorkOptions} [options]
   * @returns {Promise<void>}
   */
  backup(path, options) {
    return backup(this.#server, path, options);
  }

  /**
   * Tells of every change below a node, by any thread and process, from now on.
   *
   * @param {...any} place `[global, [subscripts,]] [listener]`; without a global all globals, without a listener the
   *   watcher is to be iterated over
   * @returns {import('./native/watch.mjs').Watcher}
   */
  watch(...place) {
    this.#check('watch');
    return watch(this.#server, place);
  }

  /** @returns {Record<string, any>} what the store holds and takes, and `warnings` */
  stats() {
    this.#check('stats');
    return this.#server.stats();
  }

  /** Closes the connection: an open transaction is undone, locks are released. Closing twice does nothing. */
  close() {
    closeWatchers(this.#server);
    this.#server.close();
  }

  [Symbol.dispose]() {
    this.close();
  }

  /** @param {string} call */
  #check(call) {
    if (this.closed) throw failure('ERR_CLOSED', `${call}: the connection is closed`);
  }
}

/** @param {unknown} value */
function isPromise(value) {
  return typeof (/** @type {any} */ (value)?.then) === 'function';
}
