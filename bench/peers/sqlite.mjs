// better-sqlite3 with one row for each record and one transaction for each statement.

import { join } from 'node:path';
import { checkDocument, scramble } from '../run/check.mjs';

/** @param {number} records @param {string} value */
const keyvalue = (records, value) => [
  {
    name: 'set',
    operations: records,
    /** @param {any} subject */
    run({ put }) {
      for (let n = 1; n <= records; n++) put.run(n, value);
    },
  },
  {
    name: 'get',
    operations: records,
    /** @param {any} subject */
    run({ find }) {
      for (let n = 1; n <= records; n++) if (find.get(n) !== value) throw new Error(`record ${n} is wrong`);
    },
  },
  {
    name: 'get, random',
    operations: records,
    /** @param {any} subject */
    run({ find }) {
      let n = 1;
      for (let at = 0; at < records; at++) {
        n = scramble(n, records);
        if (find.get(n) !== value) throw new Error(`record ${n} is wrong`);
      }
    },
  },
  {
    name: 'next',
    operations: records,
    /** @param {any} subject */
    run({ after }) {
      let count = 0;
      for (let n = after.get(0); n !== undefined; n = after.get(n)) count++;
      if (count !== records) throw new Error(`${count} records instead of ${records}`);
    },
  },
  {
    name: 'increment',
    operations: records,
    /** @param {any} subject */
    run({ add }) {
      let last = 0;
      for (let at = 0; at < records; at++) last = add.get('counter');
      if (last !== records) throw new Error(`the counter is ${last}`);
    },
  },
];

/** @param {number} records @param {unknown} document */
const documents = (records, document) => [
  {
    name: 'write',
    operations: records,
    /** @param {any} subject */
    run({ put }) {
      for (let n = 1; n <= records; n++) put.run(n, JSON.stringify(document));
    },
  },
  {
    name: 'read',
    operations: records,
    /** @param {any} subject */
    run({ find }) {
      for (let n = 1; n <= records; n++) checkDocument(JSON.parse(find.get(n)), document, n, records);
    },
  },
];

/**
 * @param {string} name
 * @param {string} durability
 * @param {string[]} pragmas
 * @returns {Promise<any>}
 */
async function peer(name, durability, pragmas) {
  try {
    const { default: Database } = await import('better-sqlite3');
    return {
      name,
      durability,
      /** @param {string} folder */
      open(folder) {
        const db = new Database(join(folder, 'bench.db'));
        for (const pragma of pragmas) db.pragma(pragma);
        db.exec('create table keyvalue (k primary key, v) without rowid');
        return {
          db,
          put: db.prepare('insert into keyvalue values (?, ?) on conflict (k) do update set v = excluded.v'),
          find: db.prepare('select v from keyvalue where k = ?').pluck(),
          after: db.prepare('select k from keyvalue where k > ? order by k limit 1').pluck(),
          add: db
            .prepare('insert into keyvalue values (?, 1) on conflict (k) do update set v = v + 1 returning v')
            .pluck(),
        };
      },
      /** @param {any} subject */
      close: (subject) => subject.db.close(),
      keyvalue,
      documents,
    };
  } catch (error) {
    return { name, missing: /** @type {Error} */ (error).message.split('\n')[0] };
  }
}

export const sqlite = async () => [
  await peer('better-sqlite3, WAL NORMAL', 'a killed process; a power cut up to the last checkpoint', [
    'journal_mode = WAL',
    'synchronous = NORMAL',
  ]),
  await peer('better-sqlite3, OFF + EXCLUSIVE', 'a killed process, mostly', [
    'journal_mode = OFF',
    'synchronous = OFF',
    'locking_mode = EXCLUSIVE',
  ]),
];
