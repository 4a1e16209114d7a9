// lmdb for Node.js, which keeps its bytes in the engine that CaretDB uses too. With `noSync` a commit does not wait for the
// disk, as CaretDB's do not.

import { join } from 'node:path';
import { flushFile } from '../run/disk.mjs';

const SURVIVES = 'a killed process';

/** @param {string} folder @param {Record<string, unknown>} options */
async function openLmdb(folder, options) {
  const { open } = await import('lmdb');
  return open({ path: folder, noSync: true, useWritemap: true, mapSize: 2 ** 36, ...options });
}

/** Throws where the package cannot be used. */
export const probe = () => import('lmdb');

export const keyvalue = [
  {
    name: 'lmdb, noSync + useWritemap',
    durability: SURVIVES,
    runtimes: ['node', 'bun'],
    /** @param {string} folder */
    async open(folder) {
      const db = await openLmdb(folder, { encoding: 'string', dupSort: false });
      // The counter is a string key, so that it stands behind all numbers.
      const records = { end: Number.POSITIVE_INFINITY };
      const range = { start: 0, limit: 1, exclusiveStart: true, end: records.end };
      return {
        /** @param {number} n @param {string} value */
        set: (n, value) => db.putSync(n, value),
        /** @param {number} n */
        get: (n) => db.get(n),
        /** @param {number | ''} n */
        next(n) {
          range.start = n === '' ? 0 : n;
          for (const key of db.getKeys(range)) return key;
          return '';
        },
        keys: () => db.getKeys(records),
        increment: () =>
          db.transactionSync(() => {
            const sum = String(Number(db.get('counter') ?? 0) + 1);
            db.putSync('counter', sum);
            return sum;
          }),
        /** @param {Uint32Array} numbers @param {string} value */
        load: (numbers, value) =>
          db.transactionSync(() => {
            for (const n of numbers) db.putSync(n, value);
          }),
        close: () => db.close(),
      };
    },
  },
];

export const documents = [
  {
    name: 'lmdb, JSON text',
    durability: SURVIVES,
    runtimes: ['node', 'bun'],
    /** @param {string} folder */
    async open(folder) {
      const db = await openLmdb(folder, { encoding: 'string' });
      return {
        /** @param {number} n @param {unknown} document */
        write: (n, document) => db.putSync(n, JSON.stringify(document)),
        /** @param {number} n */
        read: (n) => JSON.parse(db.get(n)),
        close: () => db.close(),
      };
    },
  },
  {
    name: 'lmdb, msgpack with shared structures',
    durability: SURVIVES,
    /** @param {string} folder */
    async open(folder) {
      const db = await openLmdb(folder, { sharedStructuresKey: Symbol.for('structures') });
      return {
        /** @param {number} n @param {unknown} document */
        write: (n, document) => db.putSync(n, document),
        /** @param {number} n */
        read: (n) => db.get(n),
        close: () => db.close(),
      };
    },
  },
];

/** @param {string} folder @param {boolean} noSync */
async function openItems(folder, noSync) {
  const binary = { keyEncoding: 'binary', encoding: 'binary' };
  return openLmdb(folder, { ...binary, noSync, useWritemap: noSync });
}

export const items = [
  {
    id: 'lmdb',
    name: 'lmdb, a transaction with fsync for each batch',
    durability: 'a power cut, after the batch',
    /** @param {string} folder */
    async open(folder) {
      const db = await openItems(folder, false);
      return {
        /** @param {(insert: (key: Buffer, value: Buffer) => void) => void} work */
        batch: (work) => db.transactionSync(() => work((key, value) => db.putSync(key, value))),
        /** @param {Buffer} key */
        fetch: (key) => db.get(key),
        close: () => db.close(),
      };
    },
  },
  {
    id: 'lmdb-nosync',
    name: 'lmdb, noSync + useWritemap',
    durability: 'a killed process: one commit for each item',
    /** @param {string} folder */
    async open(folder) {
      const db = await openItems(folder, true);
      return {
        /** @param {(insert: (key: Buffer, value: Buffer) => void) => void} work */
        batch: (work) => work((key, value) => db.putSync(key, value)),
        /** @param {Buffer} key */
        fetch: (key) => db.get(key),
        close: () => db.close(),
      };
    },
  },
];

export const attachments = [
  {
    name: 'lmdb, bytes',
    durability: 'a power cut, after the flush at the end',
    /** @param {string} folder */
    async open(folder) {
      const db = await openLmdb(folder, { encoding: 'binary' });
      return {
        prepare: (/** @type {Buffer} */ image) => image,
        /** @param {string} id @param {Buffer} image */
        write: (id, image) => db.putSync(id, image),
        /** @param {string} id */
        read: (id) => db.get(id),
        sync: () => flushFile(join(folder, 'data.mdb')),
        close: () => db.close(),
      };
    },
  },
];
