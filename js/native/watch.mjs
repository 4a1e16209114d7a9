// `watch()`: being told of what any thread or process commits, whole transactions in the order of their commits.

import { addon } from '../addon.mjs';
import { failure } from '../failure.mjs';
import { INTERNAL } from './internal.mjs';

/**
 * @typedef {object} Change
 * @property {'set' | 'delete' | 'deleteValue' | 'lost'} kind
 * @property {string} global
 * @property {(string | number | Uint8Array)[]} subscripts
 * @property {any} value
 * @property {number} transaction
 * @property {boolean} last whether the transaction has no further change here
 */

/** @typedef {{ global: string, subscripts: any[] }} Place */

/** The watchers of each connection. @type {WeakMap<object, Set<Watcher>>} */
const OPEN = new WeakMap();

/** How long one turn of the event loop goes on telling, in milliseconds. */
const TURN = 10;
/** How many members of what the addon answers are one change. */
const CHANGE = 4;

/** Tells of changes until it is closed. Made by `Database.watch` and `Global.watch`. */
export class Watcher {
  #native;
  #listener;
  #place;
  #closed = false;
  /** What the last transaction has left for the iterator, the next change last. @type {Change[]} */
  #left = [];
  /** Iterators that wait. @type {(() => void)[]} */
  #waiting = [];
  /** Those of the same connection. @type {Set<Watcher>} */
  #others;

  /**
   * @param {symbol} key
   * @param {any} server
   * @param {Place | undefined} place all globals where left out
   * @param {((change: Change) => void) | undefined} listener
   */
  constructor(key, server, place, listener) {
    if (key !== INTERNAL) throw failure('ERR_ARG', 'a Watcher is made by db.watch()');
    this.#place = place ?? { global: '', subscripts: [] };
    this.#listener = listener;
    const node = place === undefined ? [] : [place.global, ...place.subscripts];
    this.#native = new addon.Watcher(server, () => this.#ready(), ...node);
    this.#others = OPEN.get(server) ?? new Set();
    OPEN.set(server, this.#others.add(this));
    // The first look says that there is somebody to call; nobody is called before they have the watcher.
    if (listener !== undefined) queueMicrotask(() => this.#tell());
  }

  /** @returns {boolean} */
  get closed() {
    return this.#closed;
  }

  /** Nothing is told after this. */
  close() {
    if (this.#closed) return;
    this.#closed = true;
    this.#native.close();
    this.#others.delete(this);
    this.#wake();
  }

  [Symbol.dispose]() {
    this.close();
  }

  /** Lets the process live for this watcher's sake, as it does from the beginning. */
  ref() {
    this.#native.ref();
    return this;
  }

  /** Lets the process end although this watcher is open. */
  unref() {
    this.#native.unref();
    return this;
  }

  /** @returns {AsyncGenerator<Change, void>} leaving it closes the watcher */
  async *[Symbol.asyncIterator]() {
    if (this.#listener !== undefined) {
      throw failure('ERR_ARG', 'watch: with a listener there is nothing left to iterate over: leave it out');
    }
    try {
      while (!this.#closed) {
        const change = this.#left.pop() ?? this.#take();
        if (change !== undefined) yield change;
        else await new Promise((resolve) => this.#waiting.push(() => resolve(undefined)));
      }
    } finally {
      this.close();
    }
  }

  /** @returns {Change | undefined} the first change of the next transaction; the others are left */
  #take() {
    this.#left = this.#transaction()?.reverse() ?? [];
    return this.#left.pop();
  }

  /** @returns {Change[] | undefined} */
  #transaction() {
    const told = this.#native.take();
    if (told === undefined) return undefined;
    if (told === null) {
      return [{ kind: 'lost', ...this.#place, value: undefined, transaction: 0, last: true }];
    }
    const [transaction] = told;
    const changes = [];
    for (let at = 1; at < told.length; at += CHANGE) {
      const [kind, global, subscripts, value] = [told[at], told[at + 1], told[at + 2], told[at + 3]];
      changes.push({ kind, global, subscripts, value, transaction, last: false });
    }
    changes[changes.length - 1].last = true;
    return changes;
  }

  #ready() {
    if (this.#listener === undefined) this.#wake();
    else this.#tell();
  }

  #wake() {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Calls the listener for what there is, with a pause for others now and then, and only between transactions. */
  #tell() {
    const until = performance.now() + TURN;
    while (!this.#closed) {
      const changes = this.#nextForListener();
      if (changes === undefined) return;
      for (const change of changes) {
        if (this.#closed) return;
        this.#call(change);
      }
      if (performance.now() > until) {
        setImmediate(() => this.#tell());
        return;
      }
    }
  }

  /** @returns {Change[] | undefined} */
  #nextForListener() {
    try {
      return this.#transaction();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** @param {Change} change */
  #call(change) {
    try {
      /** @type {any} */ (this.#listener)(change);
    } catch (error) {
      // As an event emitter's: it is the program's to catch, and the others are still told.
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}

/**
 * @param {any} server
 * @param {unknown[]} args `[global, [subscripts,]] [listener]`
 * @returns {Watcher}
 */
export function watch(server, args) {
  const given = [...args];
  const listener = typeof given.at(-1) === 'function' ? given.pop() : undefined;
  while (given.length > 0 && given.at(-1) === undefined) given.pop();
  const [global, subscripts = [], ...more] = given;
  if (more.length > 0 || (given.length > 0 && typeof global !== 'string') || !Array.isArray(subscripts)) {
    throw failure(
      'ERR_ARG',
      'watch takes the name of a global, an array of subscripts, and a function that is told; each may be left out',
    );
  }
  const place = given.length === 0 ? undefined : { global: plain(global), subscripts: [...subscripts] };
  return new Watcher(INTERNAL, server, place, /** @type {any} */ (listener));
}

/** @param {any} global @returns {string} without caret */
function plain(global) {
  return global.startsWith('^') ? global.slice(1) : global;
}

/** @param {any} server whose watchers end with it */
export function closeWatchers(server) {
  for (const watcher of OPEN.get(server) ?? []) watcher.close();
}
