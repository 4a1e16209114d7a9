// Removes bytes that no attachment refers to: those that were replaced or deleted, and those that a process left behind which
// ended in the midst of an upload. And checks that what is referred to is there.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { asOne } from '../as-one.mjs';
import { CHUNK, fileOf, filesFolder, keepsFiles, ownNode, partialOf, uploadsFolder } from './layout.mjs';
import { entriesOf, Records } from './records.mjs';
import { underWay } from './uploads.mjs';

/**
 * @typedef {object} Collected
 * @property {boolean} busy whether somebody else collects, or a backup runs: nothing was done then
 * @property {number} removed how many stretches of bytes were removed
 * @property {number} references how many attachments of documents that are gone were removed
 *
 * @typedef {object} Problem
 * @property {string} collection
 * @property {string} id
 * @property {string} name
 * @property {string} problem in words
 *
 * @typedef {object} Verified
 * @property {number} attachments how many there are
 * @property {number} bytes how many they have
 * @property {Problem[]} problems references to bytes that are not there, or not those that were stored
 * @property {string[]} strays keys of bytes that nothing refers to; the next collection removes them
 */

/** For so long, in milliseconds, bytes stay that were replaced or deleted: somebody may just have looked up where they are. */
export const GRACE = 10_000;

/**
 * Collects.
 * @param {any} server a connection of this purpose, or of a program; it must have no transaction open
 * @param {{everything?: boolean, grace?: number}} [options] `everything`: look at all files and references, not only at what is
 *   known to be dropped; `grace`: milliseconds
 * @returns {Promise<Collected>}
 */
export async function collect(server, { everything = false, grace = GRACE } = {}) {
  const lock = ownNode(server, 'attachments', 'collect');
  if (!(await lock.lockLater(0))) return { busy: true, removed: 0, references: 0 };
  try {
    const collector = new Collector(server);
    const references = everything ? await collector.forgetDocuments() : 0;
    if (everything) await collector.strays((key) => collector.removeStray(key));
    await collector.removeDropped(grace);
    return { busy: false, removed: collector.removed, references };
  } finally {
    await lock.unlockLater();
  }
}

/** Lets the event loop go round after so many steps. */
const PAUSE = 200;

class Collector {
  /** @param {any} server */
  constructor(server) {
    this.server = server;
    this.records = new Records(server);
    this.files = keepsFiles(server);
    this.store = server.path();
    this.removed = 0;
    this.steps = 0;
  }

  async pause() {
    this.steps += 1;
    if (this.steps % PAUSE === 0) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Drops the attachments of documents that were deleted by other means. @returns {Promise<number>} */
  async forgetDocuments() {
    let forgotten = 0;
    for (const { owner } of this.records.all()) {
      const [collection, id, name] = owner;
      await this.pause();
      if (this.records.hasDocument(collection, id)) continue;
      asOne(this.server, () => {
        if (this.records.hasDocument(collection, id)) return;
        if (this.records.drop(collection, id, name)) forgotten += 1;
      });
    }
    return forgotten;
  }

  /** @param {number} grace */
  async removeDropped(grace) {
    const until = Date.now() - grace;
    /** @type {[string, string][]} */
    const due = [];
    for (const [key, value] of entriesOf(this.records.dropped)) {
      const [time, kind] = String(value).split(' ');
      if (Number(time) <= until) due.push([key, kind]);
    }
    if (due.length === 0) return;
    // A power cut may take the store back to where it referred to these bytes, unless that change is on the disk.
    await this.server.syncLater();
    for (const [key, kind] of due) {
      await this.remove(key, kind);
      await this.records.dropped.deleteLater(key);
    }
  }

  /** @param {string} key @param {string} kind */
  async remove(key, kind) {
    if (kind === 'file') await rm(fileOf(this.store, key), { force: true });
    else await this.records.bytes.deleteLater(key);
    this.removed += 1;
  }

  /** @param {string} key @returns {boolean} */
  isKnown(key) {
    return this.records.owners.has(key) || this.records.dropped.has(key);
  }

  /**
   * Finds bytes that nothing refers to and nobody is just bringing.
   * @param {(key: string) => Promise<unknown>} visit called while a lock keeps the bytes from being given to an owner
   */
  async strays(visit) {
    for await (const key of this.keys()) {
      await this.pause();
      if (underWay.has(key) || this.isKnown(key)) continue;
      const upload = ownNode(this.server, 'attachments', 'upload', key);
      if (!(await upload.lockLater(0))) continue;
      try {
        // It may have been given to its owner in this very moment.
        if (!this.isKnown(key)) await visit(key);
      } finally {
        await upload.unlockLater();
      }
    }
  }

  /** Every key that bytes are kept under. */
  async *keys() {
    const { bytes } = this.records;
    for (let key = bytes.next(''); key !== undefined; key = bytes.next(key)) yield String(key);
    if (!this.files) return;
    yield* await namesIn(uploadsFolder(this.store));
    for (const folder of await namesIn(filesFolder(this.store))) {
      yield* await namesIn(join(filesFolder(this.store), folder));
    }
  }

  /** @param {string} key */
  async removeStray(key) {
    if (this.files) {
      await rm(partialOf(this.store, key), { force: true });
      await rm(fileOf(this.store, key), { force: true });
    }
    // Not removed here: who brings the bytes may be giving them an owner though its lock has ended. One of the two transactions
    // sees the other.
    asOne(this.server, () => {
      if (!this.isKnown(key)) this.records.dropped.set(key, '0 nodes');
    });
  }
}

/** @param {string} folder @returns {Promise<string[]>} */
async function namesIn(folder) {
  try {
    return await readdir(folder);
  } catch (error) {
    if (/** @type {any} */ (error).code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Checks every attachment: its bytes are there, as many as there were, with the same hash. It reads all of them.
 * @param {any} server a connection
 * @param {(bytes: number) => void} [report] told how many were read, after each attachment
 * @returns {Promise<Verified>}
 */
export async function verify(server, report = () => {}) {
  const collector = new Collector(server);
  /** @type {Verified} */
  const verified = { attachments: 0, bytes: 0, problems: [], strays: [] };
  for (const { owner, text } of collector.records.all()) {
    const [collection, id, name] = owner;
    const attachment = JSON.parse(text);
    verified.attachments += 1;
    verified.bytes += attachment.size;
    const problem = await problemOf(collector, owner, attachment);
    report(verified.bytes);
    // What was replaced while it was read is no problem.
    if (problem === undefined || collector.records.names.get(collection, id, name) !== text) continue;
    verified.problems.push({ collection, id, name, problem });
  }
  await collector.strays(async (key) => verified.strays.push(key));
  return verified;
}

/**
 * @param {Collector} collector
 * @param {string[]} owner
 * @param {import('./records.mjs').Attachment} attachment
 * @returns {Promise<string | undefined>}
 */
async function problemOf({ records, store }, owner, { key, kind, size, sha256 }) {
  if (records.owners.get(key) !== JSON.stringify(owner)) return 'its bytes are not marked as its own';
  const hash = createHash('sha256');
  let found = 0;
  if (kind === 'file') {
    const file = fileOf(store, key);
    const status = await stat(file).catch(() => undefined);
    if (status === undefined) return `its file is missing: ${file}`;
    for await (const piece of createReadStream(file, { highWaterMark: CHUNK })) {
      hash.update(piece);
      found += piece.length;
    }
  } else {
    for (let n = 0; found < size; n += 1) {
      const chunk = records.readChunk(key, n);
      if (chunk === undefined) return `its bytes end after ${found} of ${size}`;
      hash.update(chunk);
      found += chunk.length;
    }
  }
  if (found !== size) return `it has ${found} bytes, not ${size}`;
  return hash.digest('hex') === sha256 ? undefined : 'its bytes are not those that were stored';
}
