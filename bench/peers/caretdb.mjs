// CaretDB through its classes `mglobal` and `glsDB`, one commit for each call.

import { glsDB, mglobal, server } from '../../js/index.mjs';
import { checkDocument, scramble } from '../run/check.mjs';

/** @param {number} records @param {string} value */
const keyvalue = (records, value) => [
  {
    name: 'set',
    operations: records,
    /** @param {any} subject */
    run({ global }) {
      for (let n = 1; n <= records; n++) global.set(n, value);
    },
  },
  {
    name: 'get',
    operations: records,
    /** @param {any} subject */
    run({ global }) {
      for (let n = 1; n <= records; n++) if (global.get(n) !== value) throw new Error(`record ${n} is wrong`);
    },
  },
  {
    name: 'get, random',
    operations: records,
    /** @param {any} subject */
    run({ global }) {
      let n = 1;
      for (let at = 0; at < records; at++) {
        n = scramble(n, records);
        if (global.get(n) !== value) throw new Error(`record ${n} is wrong`);
      }
    },
  },
  {
    name: 'next',
    operations: records,
    /** @param {any} subject */
    run({ global }) {
      let count = 0;
      for (let n = global.next(''); n !== ''; n = global.next(n)) count++;
      if (count !== records) throw new Error(`${count} records instead of ${records}`);
    },
  },
  {
    name: 'increment',
    operations: records,
    /** @param {any} subject */
    run({ global }) {
      let last = '';
      for (let at = 0; at < records; at++) last = global.increment('counter', 1);
      if (last !== String(records)) throw new Error(`the counter is ${last}`);
    },
  },
];

/** @param {number} records @param {unknown} document */
const documents = (records, document) => [
  {
    name: 'write',
    operations: records,
    /** @param {any} subject */
    run({ documents }) {
      for (let n = 1; n <= records; n++) documents.$(n).document = document;
    },
  },
  {
    name: 'read',
    operations: records,
    /** @param {any} subject */
    run({ documents }) {
      for (let n = 1; n <= records; n++) checkDocument(documents.$(n).document, document, n, records);
    },
  },
];

/**
 * @param {string} name
 * @param {string} durability
 * @param {Record<string, unknown>} options of `open`
 */
const peer = (name, durability, options) => ({
  name,
  durability,
  /** @param {string} folder */
  open(folder) {
    const db = new server();
    db.open({ type: 'CaretDB', path: folder, ...options });
    const global = new mglobal(db, 'keyvalue');
    const documents = new glsDB({ db }).node('bmTest');
    return { db, global, documents };
  },
  /** @param {any} subject */
  close(subject) {
    subject.db.close();
  },
  keyvalue,
  documents,
});

export const caretdb = [
  peer('CaretDB relaxed', 'a killed process; a power cut after 100 ms', { durability: 'relaxed' }),
  peer('CaretDB process', 'a killed process', { durability: 'process' }),
];
