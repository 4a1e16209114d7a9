// SQLite by its three bindings, one row for each record and one transaction for each statement: better-sqlite3, Node.js's own
// and Bun's own. The SQL is the same; what differs is how a binding prepares a statement and gives one column.

import { join } from 'node:path';

const SET = 'insert into keyvalue values (?, ?) on conflict (k) do update set v = excluded.v';
const GET = 'select v from keyvalue where k = ?';
const NEXT = 'select k from keyvalue where k > ? order by k limit 1';
const KEYS = "select k from keyvalue where k <> 'counter' order by k";
const INCREMENT =
  "insert into keyvalue values ('counter', 1) on conflict (k) do update set v = v + 1 returning v";

const WAL = {
  name: 'WAL NORMAL',
  durability: 'a killed process; a power cut, up to the last checkpoint',
  pragmas: ['journal_mode = WAL', 'synchronous = NORMAL'],
};
const OFF = {
  name: 'OFF + EXCLUSIVE',
  durability: 'a killed process, mostly: one killed inside a write may damage the file',
  pragmas: ['journal_mode = OFF', 'synchronous = OFF', 'locking_mode = EXCLUSIVE'],
};

/**
 * @typedef {object} Binding
 * @property {(file: string) => any} open
 * @property {(db: any, sql: string) => (...values: any[]) => any} first the first column of the first row, undefined without
 * @property {(db: any, sql: string) => () => Iterable<any>} column the first column of all rows
 */

/** @type {Binding} */
const betterSqlite3 = {
  async open(file) {
    const { default: Database } = await import('better-sqlite3');
    return new Database(file);
  },
  first(db, sql) {
    const statement = db.prepare(sql).pluck();
    return (...values) => statement.get(...values);
  },
  column(db, sql) {
    const statement = db.prepare(sql).pluck();
    return () => statement.iterate();
  },
};

/**
 * `first` of a library whose rows are objects.
 *
 * @type {Binding['first']}
 */
function firstByName(db, sql) {
  const statement = db.prepare(sql);
  const column = /returning v|select v/.test(sql) ? 'v' : 'k';
  return (...values) => statement.get(...values)?.[column];
}

/** @type {Binding} */
const nodeSqlite = {
  async open(file) {
    const { DatabaseSync } = await import('node:sqlite');
    return new DatabaseSync(file);
  },
  first: firstByName,
  column(db, sql) {
    const statement = db.prepare(sql);
    return function* () {
      for (const row of statement.iterate()) yield row.k;
    };
  },
};

/** @type {Binding} */
const bunSqlite = {
  async open(file) {
    const { Database } = await import('bun:sqlite');
    return new Database(file);
  },
  first: firstByName,
  column(db, sql) {
    const statement = db.prepare(sql);
    return function* () {
      for (const [key] of statement.values()) yield key;
    };
  },
};

/**
 * @param {Binding} binding
 * @param {string} folder
 * @param {string[]} pragmas
 */
async function openStore(binding, folder, pragmas) {
  const db = await binding.open(join(folder, 'bench.db'));
  for (const pragma of pragmas) db.exec(`pragma ${pragma}`);
  db.exec('create table keyvalue (k primary key, v) without rowid');
  const set = db.prepare(SET);
  const get = binding.first(db, GET);
  const next = binding.first(db, NEXT);
  return {
    /** @param {number} n @param {string} value */
    set: (n, value) => set.run(n, value),
    get,
    /** @param {number | ''} n */
    next(n) {
      const found = next(n === '' ? 0 : n);
      return found === undefined || found === 'counter' ? '' : found;
    },
    keys: binding.column(db, KEYS),
    increment: binding.first(db, INCREMENT),
    /** @param {Uint32Array} numbers @param {string} value */
    load(numbers, value) {
      db.exec('begin');
      for (const n of numbers) set.run(n, value);
      db.exec('commit');
    },
    /** @param {number} n @param {unknown} document */
    write: (n, document) => set.run(n, JSON.stringify(document)),
    /** @param {number} n */
    read: (n) => JSON.parse(get(n)),
    close: () => db.close(),
  };
}

/**
 * @param {string} title
 * @param {Binding} binding
 * @param {typeof WAL} mode
 * @param {import('../run/runtimes.mjs').RuntimeName[]} runtimes
 */
const variant = (title, binding, mode, runtimes) => ({
  name: `${title}, ${mode.name}`,
  durability: mode.durability,
  runtimes,
  /** @param {string} folder */
  open: (folder) => openStore(binding, folder, mode.pragmas),
});

export const keyvalue = [
  variant('better-sqlite3', betterSqlite3, WAL, ['node']),
  variant('better-sqlite3', betterSqlite3, OFF, ['node']),
  variant('node:sqlite', nodeSqlite, OFF, ['new-node']),
  variant('bun:sqlite', bunSqlite, OFF, ['bun']),
];

export const documents = keyvalue;

/** Throws where better-sqlite3 cannot be used; the package alone, without its addon, can be imported. */
export const probe = async () => (await betterSqlite3.open(':memory:')).close();

export const items = [
  {
    id: 'better-sqlite3',
    name: 'better-sqlite3, a transaction with fsync for each batch',
    durability: 'a power cut, after the batch (WAL FULL)',
    /** @param {string} folder */
    async open(folder) {
      const db = await betterSqlite3.open(join(folder, 'bench.db'));
      db.pragma('journal_mode = WAL');
      db.pragma('synchronous = FULL');
      db.exec('create table item (k blob primary key, v blob) without rowid');
      const set = db.prepare('insert into item values (?, ?)');
      const get = betterSqlite3.first(db, 'select v from item where k = ?');
      return {
        /** @param {(insert: (key: Buffer, value: Buffer) => void) => void} work */
        batch: (work) => db.transaction(() => work((key, value) => set.run(key, value)))(),
        fetch: get,
        close: () => db.close(),
      };
    },
  },
];

export const attachments = [
  {
    name: 'better-sqlite3, blob',
    durability: 'a power cut, after the flush at the end (WAL NORMAL)',
    /** @param {string} folder */
    async open(folder) {
      const db = await betterSqlite3.open(join(folder, 'bench.db'));
      // Writers in other threads are waited for.
      for (const pragma of [...WAL.pragmas, 'busy_timeout = 10000']) db.pragma(pragma);
      db.exec('create table if not exists picture (id primary key, data blob)');
      const set = db.prepare('insert into picture values (?, ?)');
      return {
        prepare: (/** @type {Buffer} */ image) => image,
        /** @param {string} id @param {Buffer} image */
        write: (id, image) => set.run(id, image),
        read: betterSqlite3.first(db, 'select data from picture where id = ?'),
        sync: () => db.pragma('wal_checkpoint(TRUNCATE)'),
        close: () => db.close(),
      };
    },
  },
];
