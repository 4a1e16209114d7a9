// The native face with promises: the calls of `Database` and `Global`, off the event loop.

import { addon } from '../addon.mjs';
import { DocumentText } from '../document-text.mjs';
import { failure } from '../failure.mjs';
import { INTERNAL } from './internal.mjs';

/**
 * @typedef {string | number | Uint8Array} Subscript
 * @typedef {import('./global.mjs').Global} Global
 */

/** A Database whose calls answer with promises; they run in call order on a thread of the runtime's pool. */
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

/** A Global whose calls answer with promises. */
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
    return this.#bare.setDocumentTextLater(
      ...subscriptsThenDocument,
      DocumentText.of(document, 'setDocument'),
    );
  }

  /** @param {...any} subscriptsThenDocument @returns {Promise<void>} */
  async mergeDocument(...subscriptsThenDocument) {
    const document = subscriptsThenDocument.pop();
    return this.#bare.mergeDocumentTextLater(
      ...subscriptsThenDocument,
      DocumentText.of(document, 'mergeDocument'),
    );
  }

  /** @param {...any} subscriptsThenPatch @returns {Promise<void>} */
  async patch(...subscriptsThenPatch) {
    const patch = subscriptsThenPatch.pop();
    return this.#bare.patchDocumentTextLater(...subscriptsThenPatch, DocumentText.of(patch, 'patch'));
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
