// What is known of attachments: their names and what stands behind them, read and changed inside the caller's transaction.

import { createHash } from 'node:crypto';
import { addon } from '../addon.mjs';
import { failure } from '../failure.mjs';
import { CHUNK, ownNode } from './layout.mjs';

/**
 * @typedef {object} Stored bytes that have arrived
 * @property {string} key what they are kept under
 * @property {'file' | 'nodes'} kind
 * @property {number} size in bytes
 * @property {string} sha256 in hexadecimal
 *
 * @typedef {Stored & {type: string, created: string}} Attachment what is known of one; `type` is its media type, `created` when, in ISO 8601
 *
 * @typedef {Attachment & {name: string}} Named
 */

/** How many entries one native call lists. */
const PAGE = 256;
const PLACE = 2;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NO_NAME = /^(|\.|\.\.)$|[\u0000-\u001f\u007f]/;
const MEDIA_TYPE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+\/[\x20-\x7e]{1,200}$/;

/**
 * @param {unknown} name of an attachment
 * @returns {string} the same
 */
export function checkedName(name) {
  if (typeof name === 'string' && !NO_NAME.test(name)) return name;
  throw failure(
    'ERR_ARG',
    `${JSON.stringify(name)} cannot be the name of an attachment: it must be text, not '', '.' or '..', without control characters`,
  );
}

/**
 * @param {unknown} type
 * @returns {string} the same; what is no media type is bytes
 */
export function checkedType(type) {
  return typeof type === 'string' && MEDIA_TYPE.test(type) ? type : 'application/octet-stream';
}

/**
 * The children of a node that have values, some at a time.
 * @param {any} node
 * @returns {Generator<[string, any]>}
 */
export function* entriesOf(node) {
  /** @type {string | undefined} */
  let behind;
  for (;;) {
    const kind = behind === undefined ? 0 : PLACE;
    /** @type {any[]} */
    const page = node.scan(undefined, 1, PAGE, false, behind, kind, undefined, 0, true, undefined);
    for (let at = 0; at < page.length; at += 3) yield [page[at], page[at + 1]];
    if (page.length < PAGE * 3) return;
    behind = page[page.length - 1];
  }
}

/** @param {Attachment} attachment @returns {string} its strong entity tag, which a new type changes too */
export function attachmentTag({ sha256, type }) {
  return `"${createHash('sha256').update(`${type}\n${sha256}`).digest('base64url').slice(0, 27)}"`;
}

/** The attachments that a store knows of. */
export class Records {
  /** @param {any} server a connection */
  constructor(server) {
    this.server = server;
    this.names = ownNode(server, 'attachment');
    this.owners = ownNode(server, 'attachments', 'owner');
    this.dropped = ownNode(server, 'attachments', 'dropped');
    this.bytes = ownNode(server, 'attachments', 'bytes');
  }

  /** @param {string} collection @param {string} id @returns {boolean} */
  hasDocument(collection, id) {
    const documents = new addon.Global(this.server, collection);
    return documents.has(id) || documents.hasChildren(id);
  }

  /**
   * @param {string} collection
   * @param {string} id
   * @param {string} name
   * @returns {Attachment | undefined} undefined also where the document is gone
   */
  read(collection, id, name) {
    const text = this.names.get(collection, id, name);
    return text === undefined || !this.hasDocument(collection, id) ? undefined : JSON.parse(text);
  }

  /** @param {string} collection @param {string} id @returns {Named[]} in the order of their names */
  list(collection, id) {
    if (!this.hasDocument(collection, id)) return [];
    const found = [];
    for (const [name, text] of entriesOf(ownNode(this.server, 'attachment', collection, id))) {
      if (text !== undefined) found.push({ name, ...JSON.parse(text) });
    }
    return found;
  }

  /**
   * Every attachment, also those of documents that are gone.
   * @returns {Generator<{owner: [collection: string, id: string, name: string], text: string}>} `text` is what the node holds
   */
  *all() {
    /** @type {string | undefined} */
    let behind;
    for (;;) {
      const kind = behind === undefined ? 0 : PLACE;
      /** @type {any[]} */
      const page = this.names.scan(undefined, 2, PAGE, false, behind, kind, undefined, 0, true, undefined);
      for (let at = 0; at < page.length; at += 3) yield { owner: page[at], text: page[at + 1] };
      if (page.length < PAGE * 3) return;
      behind = page[page.length - 1];
    }
  }

  /**
   * Gives bytes to a name; what it had before is dropped.
   * @param {string} collection
   * @param {string} id
   * @param {string} name
   * @param {Stored & {type: string}} stored
   * @param {Uint8Array} [bytes] where they are not stored yet
   * @returns {Attachment}
   * @throws {Error} `ERR_BUSY` where what was stored has been collected since
   */
  put(collection, id, name, { key, kind, size, sha256, type }, bytes) {
    // On a server the lock of an upload is a lease. It ends when the process stands still for too long.
    if (bytes === undefined && kind === 'nodes' && (this.dropped.has(key) || !this.bytes.has(key, 0))) {
      throw failure(
        'ERR_BUSY',
        `attachments: ${name} stood still on its way for longer than its lock lasts, and what had arrived was removed: send it again`,
      );
    }
    this.drop(collection, id, checkedName(name));
    const attachment = { key, kind, size, sha256, type, created: new Date().toISOString() };
    if (bytes !== undefined) this.write(key, bytes);
    this.names.set(collection, id, name, JSON.stringify(attachment));
    this.owners.set(key, JSON.stringify([collection, id, name]));
    return attachment;
  }

  /** @param {string} key @param {Uint8Array} bytes all of them */
  write(key, bytes) {
    for (let start = 0, n = 0; start < bytes.length; start += CHUNK, n += 1) {
      this.writeChunk(key, n, bytes.subarray(start, start + CHUNK));
    }
  }

  /** @param {string} key @param {number} n from 0 @param {Uint8Array} bytes */
  writeChunk(key, n, bytes) {
    this.bytes.set(key, n, bytes);
  }

  /** @param {string} key @param {number} n @returns {Uint8Array | undefined} */
  readChunk(key, n) {
    return this.bytes.get(key, n);
  }

  /**
   * @param {string} key of an attachment that was found a moment ago
   * @param {number} n
   * @returns {Uint8Array}
   * @throws {Error} `ERR_BUSY` where it was replaced or deleted so long ago that its bytes are gone, `ERR_CORRUPT` where they are lost
   */
  chunkOf(key, n) {
    const bytes = this.readChunk(key, n);
    if (bytes !== undefined) return bytes;
    // Bytes are removed only when they have had no owner for a while.
    if (this.owners.has(key)) {
      throw failure('ERR_CORRUPT', `attachments: the bytes ${key} are not all there; run caretdb check`);
    }
    throw failure('ERR_BUSY', 'attachments: it was replaced or deleted while it was read; read it again');
  }

  /**
   * Takes an attachment away. Its bytes stay until a collection, for those who are reading them.
   * @param {string} collection
   * @param {string} id
   * @param {string} name
   * @returns {boolean} whether there was one
   */
  drop(collection, id, name) {
    const text = this.names.get(collection, id, name);
    if (text === undefined) return false;
    const { key, kind } = JSON.parse(text);
    this.names.delete(collection, id, name);
    this.owners.delete(key);
    this.dropped.set(key, `${Date.now()} ${kind}`);
    return true;
  }

  /** @param {string} collection @param {string} id @returns {number} how many attachments the document had */
  dropAll(collection, id) {
    const names = [...entriesOf(ownNode(this.server, 'attachment', collection, id))].map(([name]) => name);
    return names.filter((name) => this.drop(collection, id, name)).length;
  }
}
