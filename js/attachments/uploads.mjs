// Bytes on their way into a store. Few are held until they are committed; more go to a file, or on engines that have no folder
// to nodes, as they come, so that no body is ever held as a whole. Whatever breaks off leaves nothing.

import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { addon } from '../addon.mjs';
import { systemFailure } from '../failure.mjs';
import { CHUNK, fileOf, partialOf, SMALL } from './layout.mjs';

/**
 * @typedef {object} Place where bytes go
 * @property {string} store the store's folder
 * @property {boolean} files whether large ones are files; else nodes
 * @property {boolean} durable whether they must be on the disk before they are referred to
 * @property {(key: string, n: number, bytes: Uint8Array) => Promise<void>} writeChunk
 * @property {(key: string) => Promise<void>} removeChunks
 * @property {(key: string) => Promise<void>} lock keeps a collection away from what has no owner yet
 * @property {(key: string) => Promise<void>} unlock
 *
 * @typedef {object} Writer
 * @property {(bytes: Uint8Array) => Promise<void>} write one piece after the other
 * @property {(rest: Uint8Array) => Promise<void>} finish writes the last piece, which may be empty
 * @property {() => Promise<void>} abandon removes all
 *
 * @typedef {import('./records.mjs').Stored & {bytes: Uint8Array | undefined}} Arrived
 */

/** How many bytes are written at a time. */
const PIECE = CHUNK;

/**
 * The keys whose bytes are arriving in this thread. Elsewhere a lock tells of them; to the connection that holds it, it tells nothing.
 * @type {Set<string>}
 */
export const underWay = new Set();

/**
 * Opens a file that is not there yet, in a folder that is made where it is missing.
 * @param {string} path
 */
async function openNew(path) {
  const begin = () => open(path, 'wx', 0o600);
  try {
    return await begin();
  } catch (error) {
    if (/** @type {any} */ (error).code !== 'ENOENT') throw error;
    await mkdir(dirname(path), { recursive: true });
    return begin();
  }
}

const goOn = () => true;

/** @param {Place} place @param {string} key @returns {Writer} */
function fileWriter({ store, durable }, key) {
  const partial = partialOf(store, key);
  const file = fileOf(store, key);
  /** @param {any} error @returns {never} */
  const fail = (error) => {
    throw systemFailure(error, 'attachments', partial);
  };
  /** @type {import('node:fs/promises').FileHandle | undefined} */
  let handle;
  const close = async () => {
    const opened = handle;
    handle = undefined;
    await opened?.close();
  };
  const write = async (/** @type {Uint8Array} */ bytes) => {
    handle ??= await openNew(partial);
    await handle.writeFile(bytes);
  };
  return {
    write: (bytes) => write(bytes).catch(fail),
    async finish(rest) {
      // One native call for what would be many: they wait for the disk on a thread of their own, and not in the few that the
      // runtime has for all files.
      if (handle === undefined) return void (await addon.keepLater(rest, file, durable, goOn));
      if (rest.length > 0) await write(rest).catch(fail);
      await close().catch(fail);
      await addon.keepLater(partial, file, durable, goOn);
    },
    async abandon() {
      await close();
      await rm(partial, { force: true });
      await rm(file, { force: true });
    },
  };
}

/** @param {Place} place @param {string} key @returns {Writer} */
function nodeWriter({ writeChunk, removeChunks }, key) {
  let n = 0;
  const write = async (/** @type {Uint8Array} */ bytes) => {
    for (let start = 0; start < bytes.length; start += CHUNK) {
      await writeChunk(key, n, bytes.subarray(start, start + CHUNK));
      n += 1;
    }
  };
  return { write, finish: write, abandon: () => removeChunks(key) };
}

/**
 * @param {Place} place
 * @param {string} key of bytes that are not there yet
 * @returns {Writer}
 */
export function writerOf(place, key) {
  return place.files ? fileWriter(place, key) : nodeWriter(place, key);
}

/** One stretch of bytes on its way. */
export class Upload {
  /** @param {Place} place @param {number} [small] how many bytes are held until they are committed; more are written as they come */
  constructor(place, small = SMALL) {
    this.place = place;
    this.small = small;
    this.key = randomBytes(16).toString('hex');
    this.hash = createHash('sha256');
    this.size = 0;
    /** What is not written yet. @type {Uint8Array[]} */
    this.held = [];
    this.heldSize = 0;
    /** @type {Writer | undefined} */
    this.writer = undefined;
    /** The write that is under way: the next bytes arrive meanwhile. @type {Promise<void>} */
    this.writing = Promise.resolve();
  }

  /**
   * Takes all bytes in.
   * @param {AsyncIterable<Uint8Array>} body
   * @param {() => Promise<unknown>} [becomesLarge] called before the first byte is written; may refuse
   * @returns {Promise<Arrived>} with the bytes where they are few
   */
  async take(body, becomesLarge = async () => {}) {
    try {
      for await (const piece of body) {
        this.hash.update(piece);
        this.size += piece.length;
        this.held.push(piece);
        this.heldSize += piece.length;
        if (this.writer === undefined && this.size > this.small) await this.begin(becomesLarge);
        if (this.writer !== undefined && this.heldSize >= PIECE) await this.flush();
      }
      if (this.writer !== undefined) {
        await this.writing;
        await this.writer.finish(this.rest());
      }
    } catch (error) {
      await this.abandon();
      throw error;
    }
    return {
      key: this.key,
      kind: this.writer !== undefined && this.place.files ? 'file' : 'nodes',
      size: this.size,
      sha256: this.hash.digest('hex'),
      bytes: this.writer === undefined ? this.rest() : undefined,
    };
  }

  /** @param {() => Promise<unknown>} becomesLarge */
  async begin(becomesLarge) {
    await becomesLarge();
    underWay.add(this.key);
    try {
      await this.place.lock(this.key);
      this.writer = writerOf(this.place, this.key);
    } catch (error) {
      underWay.delete(this.key);
      await this.place.unlock(this.key);
      throw error;
    }
  }

  /** What is held. @returns {Uint8Array} */
  rest() {
    return this.held.length === 1 ? this.held[0] : Buffer.concat(this.held);
  }

  /** Writes whole pieces of what is held. */
  async flush() {
    let bytes = this.rest();
    while (bytes.length >= PIECE) {
      await this.writing;
      const piece = bytes.subarray(0, PIECE);
      this.writing = /** @type {Writer} */ (this.writer).write(piece);
      // It is waited for later; meanwhile it must not count as one that nobody waits for.
      this.writing.catch(() => {});
      bytes = bytes.subarray(piece.length);
    }
    this.held = bytes.length === 0 ? [] : [bytes];
    this.heldSize = bytes.length;
  }

  /** Removes what has arrived. @returns {Promise<void>} */
  async abandon() {
    if (this.writer === undefined) return;
    await this.writing.catch(() => {});
    // What cannot be removed now is left to a collection. Why it is abandoned says more than that.
    await this.writer.abandon().catch(() => {});
    await this.release().catch(() => {});
  }

  /** Says that the bytes have an owner, or never will. @returns {Promise<void>} */
  async release() {
    if (this.writer === undefined) return;
    this.writer = undefined;
    underWay.delete(this.key);
    await this.place.unlock(this.key);
  }
}
