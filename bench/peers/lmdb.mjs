// lmdb for Node.js, one commit for each put, without waiting for the disk (kill-safe, as CaretDB's `process`).

import { checkDocument, scramble } from '../run/check.mjs';

/** @param {number} records @param {string} value */
const keyvalue = (records, value) => [
  {
    name: 'set',
    operations: records,
    /** @param {any} db */
    run(db) {
      for (let n = 1; n <= records; n++) db.putSync(n, value);
    },
  },
  {
    name: 'get',
    operations: records,
    /** @param {any} db */
    run(db) {
      for (let n = 1; n <= records; n++) if (db.get(n) !== value) throw new Error(`record ${n} is wrong`);
    },
  },
  {
    name: 'get, random',
    operations: records,
    /** @param {any} db */
    run(db) {
      let n = 1;
      for (let at = 0; at < records; at++) {
        n = scramble(n, records);
        if (db.get(n) !== value) throw new Error(`record ${n} is wrong`);
      }
    },
  },
  {
    name: 'increment',
    operations: records,
    /** @param {any} db */
    run(db) {
      for (let at = 0; at < records; at++) {
        db.transactionSync(() => db.putSync('counter', String(Number(db.get('counter') ?? 0) + 1)));
      }
      if (db.get('counter') !== String(records)) throw new Error(`the counter is ${db.get('counter')}`);
    },
  },
];

/** @param {number} records @param {unknown} document */
const documents = (records, document) => [
  {
    name: 'write',
    operations: records,
    /** @param {any} db */
    run(db) {
      for (let n = 1; n <= records; n++) db.putSync(n, JSON.stringify(document));
    },
  },
  {
    name: 'read',
    operations: records,
    /** @param {any} db */
    run(db) {
      for (let n = 1; n <= records; n++) checkDocument(JSON.parse(db.get(n)), document, n, records);
    },
  },
];

/** @returns {Promise<any>} */
export async function lmdb() {
  const name = 'lmdb, noSync + useWritemap';
  try {
    const { open } = await import('lmdb');
    return {
      name,
      durability: 'a killed process',
      /** @param {string} folder */
      open: (folder) =>
        open({ path: folder, noSync: true, useWritemap: true, mapSize: 2 ** 34, encoding: 'string' }),
      /** @param {any} db */
      close: (db) => db.close(),
      keyvalue,
      documents,
    };
  } catch (error) {
    return { name, missing: /** @type {Error} */ (error).message.split('\n')[0] };
  }
}
