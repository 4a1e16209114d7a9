// Attachments for programs: bytes of any length that belong to a document, `db.attachments`.

import { Buffer } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { addon } from '../addon.mjs';
import { asOne } from '../as-one.mjs';
import { failure } from '../failure.mjs';
import { collect, verify } from './collect.mjs';
import { CHUNK, fileOf, keepsFiles, ownNode } from './layout.mjs';
import { attachmentTag, checkedName, checkedType, Records } from './records.mjs';
import { Upload } from './uploads.mjs';

/**
 * @typedef {import('./uploads.mjs').Place} Place
 * @typedef {Uint8Array | string | AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string> | ReadableStream<Uint8Array>} Source
 */

/**
 * Where the bytes of a connection's store go.
 * @param {any} server the connection
 * @returns {Place}
 */
export function placeOf(server) {
  const records = new Records(server);
  const upload = (/** @type {string} */ key) => ownNode(server, 'attachments', 'upload', key);
  return {
    store: server.path(),
    files: keepsFiles(server),
    durable: server.durability() !== 'process',
    writeChunk: (key, n, bytes) => records.bytes.setLater(key, n, bytes),
    removeChunks: (key) => records.bytes.deleteLater(key),
    async lock(key) {
      if (!(await upload(key).lockLater(0)))
        throw failure('ERR_BUSY', `attachments: the upload ${key} is locked`);
    },
    unlock: (key) => upload(key).unlockLater(),
  };
}

/** @param {any} piece @returns {Uint8Array} a copy: its source may use the memory for what comes next */
function copyOf(piece) {
  if (typeof piece === 'string' || piece instanceof Uint8Array) return Buffer.from(piece);
  throw failure('ERR_ARG', 'attachments: give bytes, text, or an iterable or stream of bytes');
}

/** @param {any} source @returns {AsyncIterable<Uint8Array>} */
async function* piecesOf(source) {
  const isOne = typeof source === 'string' || source instanceof Uint8Array;
  if (isOne || (source?.[Symbol.asyncIterator] ?? source?.[Symbol.iterator]) === undefined)
    yield copyOf(source);
  else for await (const piece of source) yield copyOf(piece);
}

/** The attachments of the documents of a store. Made by `Database`. */
export class Attachments {
  #server;
  #records;

  /** @param {any} server a connection */
  constructor(server) {
    this.#server = server;
    this.#records = new Records(server);
  }

  /**
   * Stores an attachment, in place of the one of that name. Bytes that break off leave the old one.
   * @param {string} collection the document's global
   * @param {string | number} id its subscript; a document that is not there is made, as `{}`
   * @param {string} name
   * @param {Source} source
   * @param {{type?: string}} [options] `type`: its media type
   */
  async put(collection, id, name, source, options = {}) {
    checkedName(name);
    const upload = new Upload(placeOf(this.#server));
    const { bytes, ...stored } = await upload.take(piecesOf(source));
    try {
      const attachment = asOne(this.#server, () => {
        ensureDocument(this.#server, collection, String(id));
        const typed = { ...stored, type: checkedType(options.type) };
        return this.#records.put(collection, String(id), name, typed, bytes);
      });
      await upload.release();
      return shown(name, attachment);
    } catch (error) {
      await upload.abandon();
      throw error;
    }
  }

  /**
   * @param {string} collection
   * @param {string | number} id
   * @param {string} name
   */
  get(collection, id, name) {
    const attachment = this.#records.read(collection, String(id), checkedName(name));
    if (attachment === undefined) return undefined;
    const stream = (/** @type {{start?: number, end?: number}} */ range = {}) =>
      stretch(this.#server, this.#records, attachment, range);
    return {
      ...shown(name, attachment),
      stream,
      async bytes() {
        const pieces = [];
        for await (const piece of stream()) pieces.push(piece);
        return new Uint8Array(Buffer.concat(pieces));
      },
    };
  }

  /** @param {string} collection @param {string | number} id */
  list(collection, id) {
    return this.#records.list(collection, String(id)).map((attachment) => shown(attachment.name, attachment));
  }

  /**
   * @param {string} collection
   * @param {string | number} id
   * @param {string} name
   * @returns {boolean} whether there was one
   */
  delete(collection, id, name) {
    return asOne(this.#server, () => this.#records.drop(collection, String(id), checkedName(name)));
  }

  /** @param {{grace?: number}} [options] */
  collect(options = {}) {
    return collect(this.#server, { everything: true, ...options });
  }

  verify() {
    return verify(this.#server);
  }
}

/** @param {string} name @param {import('./records.mjs').Attachment} attachment */
function shown(name, attachment) {
  const { size, sha256, type, created } = attachment;
  return { name, size, type, sha256, etag: attachmentTag(attachment), created };
}

/**
 * @param {any} server
 * @param {string} collection
 * @param {string} id
 */
export function ensureDocument(server, collection, id) {
  if (new Records(server).hasDocument(collection, id)) return;
  new addon.Global(server, collection).setDocumentText(id, '{}');
}

/**
 * The bytes of an attachment, piece by piece.
 * @param {any} server
 * @param {Records} records
 * @param {import('./records.mjs').Attachment} attachment
 * @param {{start?: number, end?: number}} range `end` is left out
 * @returns {AsyncGenerator<Uint8Array, void, void>}
 */
async function* stretch(server, records, { key, kind, size }, { start = 0, end = size }) {
  const last = Math.min(end, size);
  if (start >= last) return;
  if (kind === 'file') {
    yield* createReadStream(fileOf(server.path(), key), { start, end: last - 1, highWaterMark: CHUNK });
    return;
  }
  for (let n = Math.floor(start / CHUNK); n * CHUNK < last; n += 1) {
    yield records.chunkOf(key, n).subarray(Math.max(0, start - n * CHUNK), last - n * CHUNK);
  }
}
