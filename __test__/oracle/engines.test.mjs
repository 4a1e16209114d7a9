// What a real M engine answered, row by row, asked of `mglobal` on every engine: collation, arithmetic, and a recorded
// trace of operations with the state it leaves.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { mcursor, mglobal } from 'caretdb';
import { openServer } from '../mg-dbx/store.mjs';
import { newUrls, skip } from '../real/postgres.mjs';

/** @param {string} name */
const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
/** @param {string} name @returns {any[]} */
const rows = (name) => JSON.parse(read(name));
/** @param {string} name @returns {any[]} */
const lines = (name) =>
  read(name)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

const newUrl = skip ? undefined : await newUrls();

for (const engine of ['lmdb', 'sled', 'postgres']) {
  // A charset is above all engines, and a server is asked over the line.
  for (const charset of engine === 'postgres' ? ['utf-8'] : ['utf-8', 'binary']) {
    const unavailable = engine === 'postgres' && skip;
    describe(`the recorded M engine, on ${engine} in ${charset}`, { skip: unavailable }, () => {
      if (unavailable) return;
      const { db } = openServer({ engine, ...(engine === 'postgres' ? { url: newUrl?.() } : {}) });
      db.charset(charset);

      it('orders all 490 subscripts as M does, both ways', () => {
        const global = new mglobal(db, 'collation');
        const expected = rows('collation.json');
        assert.equal(expected.length, 490);
        for (const row of [...expected].reverse()) global.set(row.in, 'x');
        const forwards = [];
        for (let key = global.next(''); key !== ''; key = global.next(key)) forwards.push(key);
        const outs = expected.map((row) => row.out);
        assert.deepEqual(forwards, outs);
        const backwards = [];
        for (let key = global.previous(''); key !== ''; key = global.previous(key)) backwards.push(key);
        assert.deepEqual(backwards.reverse(), outs);
        assert.deepEqual(global.getchildnodes({ max: 1000 }), outs);
      });

      it('counts as M does with every value', () => {
        const global = new mglobal(db, 'increment');
        const expected = rows('increment.json');
        assert.equal(expected.length, 490);
        for (const [number, row] of expected.entries()) {
          global.set(number, row.value);
          assert.equal(global.get(number), row.value);
          assert.equal(global.increment(number, 1), row.plus1, `1 added to ${JSON.stringify(row.value)}`);
          global.set(number, row.value);
          assert.equal(global.increment(number, 0), row.numeric, `+${JSON.stringify(row.value)}`);
          // The amount is read as a value is.
          global.delete(number);
          assert.equal(global.increment(number, row.value), row.numeric);
        }
      });

      it('answers all 2,998 operations of the trace as M did, and is left in the same state', () => {
        const global = new mglobal(db, 'trace');
        const trace = lines('trace.jsonl');
        assert.equal(trace.length, 2998);
        for (const [index, row] of trace.entries()) {
          const answer = perform(db, global, row);
          if (row.result !== undefined) {
            assert.deepEqual(answer, row.result, `line ${index + 1}: ${JSON.stringify(row)}`);
          }
        }
        const left = [];
        const cursor = new mcursor(db, { global: 'trace' }, { multilevel: true, getdata: true });
        for (let leaf = cursor.next(); leaf !== null; leaf = cursor.next()) left.push([leaf.key, leaf.data]);
        assert.deepEqual(left, lines('trace-final.jsonl'));
      });
    });
  }
}

/**
 * @param {import('caretdb').server} db
 * @param {any} global
 * @param {any} row one operation of the trace
 */
function perform(db, global, { op, subs, arg, from }) {
  switch (op) {
    case 'set':
      return global.set(...subs, arg) === '0' ? undefined : 'not set';
    case 'kill':
      return global.delete(...subs) === '0' ? undefined : 'not deleted';
    case 'merge':
      return global.merge(...subs, global, ...from) === '0' ? undefined : 'not merged';
    case 'get':
      return global.get(...subs);
    case 'data':
      return global.defined(...subs);
    case 'increment':
      return global.increment(...subs, arg);
    case 'next':
      return global.next(...subs);
    case 'previous':
      return global.previous(...subs);
    case 'query':
      return new mcursor(db, { global: 'trace', key: subs }, { multilevel: true }).next()?.key ?? null;
    default:
      throw new Error(`the trace has an operation ${op} that this test does not know`);
  }
}
