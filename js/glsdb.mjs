// glsDB: JavaScript objects, arrays and JSON documents that live in a store. The surface is that of the published
// glsdb, so that programs and handlers written for it run here; `types/glsdb.d.mts` has its types.

import { Connection } from './glsdb/connection.mjs';
import { nodeOf, read } from './glsdb/documents.mjs';
import { describe, failure } from './glsdb/failure.mjs';
import { subscriptOf } from './glsdb/keys.mjs';
import { Node } from './glsdb/node.mjs';
import { parsePath } from './glsdb/paths.mjs';
import { readByLeaves, readByNext } from './glsdb/steps.mjs';
import { server } from './mg-dbx.mjs';

/**
 * @param {Connection} connection
 * @param {string | any[]} path
 * @returns {Node}
 */
function nodeAt(connection, path) {
  if (typeof path === 'string') {
    const [name, ...subscripts] = parsePath(path);
    return new Node(connection.tree(name), subscripts);
  }
  if (Array.isArray(path) && path.length > 0) {
    const [name, ...keys] = path;
    return new Node(connection.tree(String(name)), keys.map(subscriptOf));
  }
  throw failure('ERR_ARG', `a node is named by a path or an array of keys, not by ${describe(path)}`);
}

/**
 * @param {Connection} connection
 * @returns {any} a class for `new glsdb.node(path)` that works without `new` too
 */
function nodeClass(connection) {
  /** @param {string | any[]} path */
  function node(path) {
    return nodeAt(connection, path);
  }
  node.prototype = Node.prototype;
  return node;
}

/**
 * What belongs to M routines or classes of InterSystems products.
 *
 * @param {string} member
 * @returns {() => never}
 */
function unsupported(member) {
  return () => {
    throw failure('ERR_UNSUPPORTED', `glsdb.${member}: this store runs no M routines and has no classes`);
  };
}

export class glsDB {
  #connection;

  /**
   * @param {any} [options] `{db, use}` to work on a connection that is open already; `legacyValues: true` to read text
   *   as the published glsdb does. The name of a database product in front of the options is accepted and ignored.
   * @param {any} [optionsAfterType]
   */
  constructor(options, optionsAfterType) {
    const given = (typeof options === 'string' ? optionsAfterType : options) ?? {};
    refuseOtherWidths(given);
    this.#connection = new Connection(this, given);
    this.node = nodeClass(this.#connection);
    this.transaction = this.#transaction();
    this.function = unsupported('function');
    this.classMethod = unsupported('classMethod');
    this.irisClass = unsupported('irisClass');
    this.irisClassExists = unsupported('irisClassExists');
    this.irisProxy = unsupported('irisProxy');
  }

  /** @param {string | object} [parameters] the store's folder, or what `server.open` takes: `{type: 'CaretDB', path}` */
  open(parameters) {
    const given = typeof parameters === 'string' ? { path: parameters } : parameters;
    this.#connection.open({ type: 'CaretDB', ...given });
  }

  close() {
    this.#connection.close();
  }

  get dbx() {
    return this.#connection.classes;
  }

  get version() {
    return (this.dbx.db ?? new server()).version();
  }

  #transaction() {
    const connection = this.#connection;
    return {
      start: () => connection.db.tstart(),
      level: () => connection.db.tlevel(),
      commit: () => connection.db.tcommit(),
      rollback: () => connection.db.trollback(),
    };
  }

  /**
   * @param {any} node a node or the proxy of one
   * @param {string} [version] `'next'` reads by nested steps, `'mcursor'` by a cursor over the values; without it one
   *   call reads the document
   */
  document(node, version) {
    const found = nodeOf(node);
    if (version === undefined) return read(found);
    return version === 'next' ? readByNext(found) : readByLeaves(found);
  }

  /**
   * @param {any} options
   * @param {(name: string) => unknown} [callback]
   */
  forEachGlobal(options, callback) {
    const visit = typeof options === 'function' ? options : callback;
    const from = typeof options === 'function' ? '' : (options?.from ?? '');
    const { mcursor } = this.dbx;
    const cursor = new mcursor(this.#connection.db, { global: from }, { globaldirectory: true });
    for (let found = cursor.next(); found !== null; found = cursor.next()) {
      if (visit?.(found.startsWith('^') ? found.slice(1) : found) === false) return;
    }
  }

  get directory() {
    /** @type {string[]} */
    const names = [];
    this.forEachGlobal((/** @type {string} */ name) => {
      names.push(name);
    });
    return names;
  }

  /**
   * @param {string} type
   * @param {(payload: any) => void} callback
   */
  on(type, callback) {
    this.#connection.on(type, callback);
  }

  /** @param {string} type */
  off(type) {
    this.#connection.off(type);
  }

  /**
   * @param {string} type
   * @param {any} [payload]
   */
  emit(type, payload) {
    this.#connection.emit(type, payload);
  }
}

/**
 * The width of array keys is part of the storage format here, and arrays of any length keep their order.
 *
 * @param {{ maxArrayDigits?: number, arrayPadChar?: string }} options
 */
function refuseOtherWidths({ maxArrayDigits = 6, arrayPadChar = '0' }) {
  if (maxArrayDigits === 6 && String(arrayPadChar) === '0') return;
  throw failure(
    'ERR_UNSUPPORTED',
    'maxArrayDigits and arrayPadChar cannot be changed: array keys have six digits here, and longer arrays keep their order without it',
  );
}
