// What the nodes of one glsDB instance share: the store's connection, one native handle for each global, the event
// listeners.

import { asOne } from '../as-one.mjs';
import { mclass, mcursor, mglobal, server } from '../mg-dbx.mjs';
import { failure } from './failure.mjs';

/**
 * @typedef {import('./keys.mjs').Subscript} Subscript
 * @typedef {{ db: any, mglobal: any, mcursor: any, mclass: any }} Classes the mg-dbx face, as handlers use it
 * @typedef {(name: string, ...fixed: any[]) => any} Use gives the `mglobal` of a global
 */

/**
 * Stands in for the handle of a global while no store is open, so that the calls themselves need not look.
 */
const CLOSED = new Proxy(
  {},
  {
    get() {
      return () => {
        throw failure('ERR_CLOSED', 'no store is open: call glsdb.open() first');
      };
    },
  },
);

/** A global, as the nodes below it hold it. */
export class Tree {
  /**
   * @param {Connection} connection
   * @param {string} name without caret
   * @param {any} handle the global's `mglobal`
   */
  constructor(connection, name, handle) {
    this.connection = connection;
    this.name = name;
    this.handle = handle;
  }
}

export class Connection {
  /** @type {Map<string, Tree>} */
  #trees = new Map();

  /** @type {Map<string, (payload: any) => void>} */
  #listeners = new Map();

  /** @type {Use | undefined} */
  #use;

  /** Whether anybody listens to any event; nothing is built for an event while this is false. */
  listening = false;

  /**
   * @param {object} owner the glsDB instance; listeners are called on it
   * @param {{ db?: any, use?: Use, mglobal?: any, mcursor?: any, mclass?: any, legacyValues?: boolean }} options
   */
  constructor(owner, options) {
    this.owner = owner;
    this.legacyValues = options.legacyValues === true;
    /** @type {Classes} */
    this.classes = {
      db: options.db,
      mglobal: options.mglobal ?? mglobal,
      mcursor: options.mcursor ?? mcursor,
      mclass: options.mclass ?? mclass,
    };
    this.#use = options.use;
  }

  /**
   * Opens a store; an earlier one stays open for those who hold its connection.
   *
   * @param {object} parameters those of `server.open`
   */
  open(parameters) {
    const db = new server();
    db.open(parameters);
    this.#use = undefined;
    this.classes = { db, mglobal, mcursor, mclass };
    for (const tree of this.#trees.values()) tree.handle = this.#handleOf(tree.name);
  }

  close() {
    const { db } = this.classes;
    if (db === undefined) return;
    this.classes = { ...this.classes, db: undefined };
    for (const tree of this.#trees.values()) tree.handle = CLOSED;
    db.close();
  }

  /**
   * The open connection.
   *
   * @throws {Error & {code: 'ERR_CLOSED'}}
   */
  get db() {
    if (this.classes.db === undefined)
      throw failure('ERR_CLOSED', 'no store is open; call glsdb.open() first');
    return this.classes.db;
  }

  /**
   * @param {string} name a global's name, with or without caret
   * @returns {Tree} the same one for the same name
   */
  tree(name) {
    let tree = this.#trees.get(name);
    if (tree === undefined) {
      const plain = name.startsWith('^') ? name.slice(1) : name;
      tree = plain === name ? new Tree(this, name, this.#handleOf(name)) : this.tree(plain);
      this.#trees.set(name, tree);
    }
    return tree;
  }

  /** @param {string} name */
  #handleOf(name) {
    const { db, mglobal: Handle } = this.classes;
    if (db === undefined) return CLOSED;
    return this.#use === undefined ? new Handle(db, name) : this.#use(name);
  }

  /**
   * Runs several calls as one: all of them happen, or none.
   *
   * @template T
   * @param {() => T} work
   * @returns {T}
   */
  atomically(work) {
    return asOne(this.db, work);
  }

  /**
   * @param {string} type
   * @param {(payload: any) => void} callback
   */
  on(type, callback) {
    if (typeof callback !== 'function')
      throw failure('ERR_ARG', `on(${JSON.stringify(type)}): the callback is missing`);
    if (!this.#listeners.has(type)) this.#listeners.set(type, callback);
    this.listening = true;
  }

  /** @param {string} type */
  off(type) {
    this.#listeners.delete(type);
    this.listening = this.#listeners.size > 0;
  }

  /**
   * @param {string} type
   * @param {any} [payload]
   */
  emit(type, payload) {
    this.#listeners.get(type)?.call(this.owner, payload);
  }
}
