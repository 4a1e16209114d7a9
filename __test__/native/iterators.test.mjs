// Iterators: in order and back, within bounds, live, cheap to leave, and never lost.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { mglobal, open, server } from 'caretdb';
import { withCode } from '../mg-dbx/store.mjs';
import { ENGINES, missing, newStore } from '../real/engines.mjs';

/**
 * What is in a range, by the plainest means.
 *
 * @param {any[]} all every subscript, in order
 * @param {any} range
 */
function within(all, { from, to, after, before, prefix, reverse, limit }) {
  const index = (/** @type {any} */ subscript) => all.indexOf(subscript);
  let found = all.filter(
    (_, at) =>
      (from === undefined || at >= index(from)) &&
      (after === undefined || at > index(after)) &&
      (to === undefined || at <= index(to)) &&
      (before === undefined || at < index(before)),
  );
  if (prefix !== undefined) found = found.filter((key) => typeof key === 'string' && key.startsWith(prefix));
  if (reverse) found.reverse();
  return found.slice(0, limit);
}

for (const engine of ENGINES) {
  describe(`iterators on ${engine}`, { skip: missing(engine) }, () => {
    if (missing(engine)) return;
    const db = open(newStore(engine));
    const keys = [-7, -0.5, 0, 3, 20, 100, 'a', 'ab', 'abc', 'ac', 'b', 'ä', 'äö'];
    const node = db.global('Range');
    for (const [index, key] of keys.entries()) {
      if (index % 3 !== 2) node.set(key, `=${key}`);
      if (index % 3 !== 0) for (let i = 0; i < 30; i++) node.set(key, 'deep', i, i);
    }

    it('stay within their bounds, in both directions, for every pair of bounds', () => {
      for (const low of [{}, ...keys.flatMap((key) => [{ from: key }, { after: key }])]) {
        for (const high of [{}, ...keys.flatMap((key) => [{ to: key }, { before: key }])]) {
          for (const reverse of [false, true]) {
            const range = { ...low, ...high, reverse };
            assert.deepEqual([...node.keys(range)], within(keys, range), JSON.stringify(range));
          }
        }
      }
    });

    it('show values beside keys, and stop at their limit', () => {
      for (const range of [{}, { reverse: true }, { limit: 4 }, { limit: 4, reverse: true }, { limit: 0 }]) {
        const expected = within(keys, range).map((key) => [key, node.get(key)]);
        assert.deepEqual([...node.entries(range)], expected);
      }
      assert.deepEqual([...node.keys({ limit: Number.POSITIVE_INFINITY })], keys);
      assert.deepEqual([...node.at('nothing').keys()], []);
    });

    it('take a prefix of string subscripts', () => {
      for (const prefix of ['a', 'ab', 'ä', 'z', '1']) {
        for (const reverse of [false, true]) {
          const range = { prefix, reverse };
          assert.deepEqual([...node.keys(range)], within(keys, range), JSON.stringify(range));
          const leaves = [...node.leaves(range)].map(([path]) => path[0]);
          assert.deepEqual([...new Set(leaves)], within(keys, range));
        }
      }
      assert.deepEqual([...node.keys({ prefix: 'a', after: 'a', before: 'ac' })], ['ab', 'abc']);
    });

    it('show every leaf below, from and to any depth', () => {
      const all = [...node.leaves()];
      assert.equal(all.length, 9 + 8 * 30);
      for (const [path, value] of all) assert.deepEqual(node.get(...path), value);
      assert.deepEqual([...node.leaves({ reverse: true })], all.toReversed());
      const middle = /** @type {[any[], any]} */ (all[100]);
      assert.deepEqual([...node.leaves({ from: middle[0] })], all.slice(100));
      assert.deepEqual([...node.leaves({ after: middle[0] })], all.slice(101));
      assert.deepEqual([...node.leaves({ to: middle[0] })], all.slice(0, 101));
      assert.deepEqual(
        [...node.leaves({ before: middle[0], reverse: true })],
        all.slice(0, 100).toReversed(),
      );
      assert.deepEqual(
        [...node.leaves({ from: 'a', to: 'a' })],
        all.filter(([path]) => path[0] === 'a'),
      );
    });

    it('give strings where they are asked to, also for bytes that are no text', () => {
      const odd = db.global('Odd');
      for (let byte = 128; byte < 256; byte++) odd.set(new Uint8Array([byte]), byte);
      odd.set(0.5, 'half');
      for (const reverse of [false, true]) {
        const strings = [...odd.keys({ as: 'string', reverse })];
        assert.equal(strings.length, 129);
        assert.equal(strings[reverse ? 128 : 0], '.5');
        const values = [...odd.entries({ as: 'string', reverse })].map(([, value]) => value);
        assert.equal(new Set(values).size, 129);
        assert.equal([...odd.leaves({ as: 'string', reverse })].length, 129);
      }
    });

    it('walk many entries, whatever is written beside them', () => {
      const many = db.global('Many');
      db.transaction(() => {
        for (let i = 0; i < 5000; i++) many.set(i, 'x');
      });
      let seen = 0;
      for (const key of many.keys()) {
        assert.equal(key, seen);
        if (seen % 100 === 0) db.global('Beside').set(seen, 'x');
        seen += 1;
      }
      assert.equal(seen, 5000);
      assert.equal([...many.entries({ reverse: true })].length, 5000);
      assert.equal([...many.leaves()].length, 5000);
    });

    it('see what is written ahead of them, and not what is behind', () => {
      const live = db.global('Live');
      for (const key of [1, 2, 3, 9]) live.set(key, 'x');
      const seen = [];
      for (const key of live.keys()) {
        seen.push(key);
        if (key === 2) {
          live.delete(3);
          live.set(4, 'x');
          live.set(0, 'x');
        }
        if (key === 9) live.set(10, 'x');
      }
      assert.deepEqual(seen, [1, 2, 4, 9, 10]);
      const back = [];
      for (const [key] of live.entries({ reverse: true })) {
        back.push(key);
        if (key === 9) live.delete(4);
      }
      assert.deepEqual(back, [10, 9, 2, 1, 0]);
      for (const [path] of live.leaves()) {
        path.push('spoilt');
        live.delete(path[0]);
      }
      assert.equal(live.count(), 0);
    });

    it('see at the next step whatever their own thread wrote, by whichever way', async () => {
      const { url, path } = newStore(engine);
      const folder = String(url ?? path);
      const own = open(folder, { engine });
      const other = open(folder, { engine });
      const connection = new server();
      connection.open({ type: 'CaretDB', path: folder, engine });
      const classic = new mglobal(connection, 'Seen');
      const seen = own.global('Seen');
      /** @type {Record<string, () => unknown>} */
      const ways = {
        set: () => seen.set(2, 'x'),
        increment: () => seen.increment(2, 1),
        below: () => seen.set(2, 'deep', 'x'),
        'at another node': () => own.global('Seen', 2).set('x'),
        document: () => seen.setDocument(2, { a: 1 }),
        'merged document': () => seen.mergeDocument(2, { a: 1 }),
        'another global': () => {
          own.global('From').set(2, 'x');
          seen.merge(own.global('From'));
        },
        transaction: () => own.transaction(() => seen.set(2, 'x')),
        'another connection': () => other.global('Seen').set(2, 'x'),
        'the mg-dbx face': () => classic.set(2, 'x'),
        promise: () => own.async.global('Seen').set(2, 'x'),
        'a promise of another connection': () => other.async.global('Seen').set(2, 'x'),
        callback: () => new Promise((resolve) => classic.set(2, 'x', resolve)),
      };
      for (const [way, write] of Object.entries(ways)) {
        seen.delete();
        for (const key of [1, 3]) seen.set(key, 'x');
        const keys = [];
        for (const key of seen.keys()) {
          keys.push(key);
          if (key === 1) await write();
        }
        assert.deepEqual(keys, [1, 2, 3], way);
        const left = [];
        for (const key of seen.keys()) {
          left.push(key);
          if (key === 1) {
            own.global('Seen', 1).delete();
            own.global('Seen', 2).delete();
          }
        }
        assert.deepEqual(left, [1, 3], way);
      }
      assert.throws(() => {
        for (const _key of seen.keys()) own.close();
      }, withCode('ERR_CLOSED'));
      other.close();
      connection.close();
    });

    it('see soon what another thread wrote', async () => {
      const { url, path } = newStore(engine);
      const folder = String(url ?? path);
      const own = open(folder, { engine });
      const seen = own.global('Seen');
      for (let key = 0; key < 2000; key += 1) seen.set(key, 'x');
      const worker = new Worker(new URL('fixtures/writer.mjs', import.meta.url), {
        workerData: { folder, engine },
      });
      const written = new Int32Array(new SharedArrayBuffer(4));
      let steps = 0;
      let found = 0;
      for (const key of seen.keys()) {
        if (typeof key === 'string') found = steps;
        // It is waited for without a turn of the loop of events, which would let this thread hear of it another way.
        if (key === 1000) {
          worker.postMessage(written);
          assert.equal(Atomics.wait(written, 0, 0, 60_000), 'ok');
        }
        steps += 1;
        if (key === 1999) assert.fail('the walk met what was deleted');
      }
      assert.equal(found, 1000 + 1 + 99, 'what was written is the last of a hundred that are left');
      await worker.terminate();
      own.close();
    });

    it('may be left early, run side by side, and in transactions', () => {
      for (const key of node.keys()) {
        assert.equal(key, keys[0]);
        break;
      }
      const pairs = [];
      for (const a of node.keys({ limit: 3 })) for (const b of node.keys({ limit: 2 })) pairs.push([a, b]);
      assert.equal(pairs.length, 6);
      const inside = db.transaction(() => {
        node.set('zz', 'new');
        return [...node.keys()];
      });
      assert.deepEqual(inside, [...keys.slice(0, 11), 'zz', ...keys.slice(11)]);
      node.delete('zz');
      db.snapshot(() => {
        const other = open(db.path, { engine });
        other.global('Range').set('zz', 'x');
        assert.deepEqual([...node.keys()], keys);
        other.global('Range').delete('zz');
        other.close();
      });
    });

    it('show the globals', () => {
      const other = open(newStore(engine));
      for (const name of ['B', 'A', 'Ab', 'Abc', 'Ac', 'a', '%z', 'A.b']) other.global(name).set(1, 'x');
      other.global('%caretdb').set(1, 'x');
      const all = ['%z', 'A', 'A.b', 'Ab', 'Abc', 'Ac', 'B', 'a'];
      assert.deepEqual([...other.globals()], all);
      for (const low of [{}, ...['A', 'Ab', 'B'].flatMap((name) => [{ from: name }, { after: name }])]) {
        for (const high of [{}, ...['A', 'Abc', 'a'].flatMap((name) => [{ to: name }, { before: name }])]) {
          for (const reverse of [false, true]) {
            const range = { ...low, ...high, reverse };
            assert.deepEqual([...other.globals(range)], within(all, range), JSON.stringify(range));
          }
        }
      }
      assert.deepEqual([...other.globals({ prefix: 'A' })], within(all, { prefix: 'A' }));
      assert.deepEqual([...other.globals({ prefix: 'Ab', reverse: true, limit: 1 })], ['Abc']);
      assert.deepEqual([...other.globals({ from: 'Aa', to: 'Az' })], ['Ab', 'Abc', 'Ac']);
      other.close();
    });

    it('say at once what is wrong with a range', () => {
      const wrong = /** @type {any} */ (node);
      for (const range of [
        null,
        5,
        { limit: '3' },
        { limit: -1 },
        { limit: 1.5 },
        { limit: Number.NaN },
        { prefix: '' },
        { prefix: 5 },
        { reverse: 1 },
        { as: 'number' },
        { start: 1 },
        { from: 1, after: 1 },
        { to: 1, before: 1 },
        { from: [] },
        { to: [] },
        { after: [] },
        { before: [] },
      ]) {
        for (const method of ['keys', 'entries', 'leaves']) {
          assert.throws(() => wrong[method](range), withCode('ERR_ARG'), JSON.stringify(range));
        }
        assert.throws(
          () => /** @type {any} */ (db).globals(range),
          withCode('ERR_ARG'),
          JSON.stringify(range),
        );
      }
      assert.throws(() => [...wrong.keys({ from: null })], withCode('ERR_ARG', /iterating \^Range/));
      assert.throws(() => [...wrong.keys({ from: {} })], withCode('ERR_ARG'));
      assert.throws(() => [...node.keys({ from: '' })], withCode('ERR_BAD_KEY'));
      assert.throws(() => [...node.keys({ from: 'k'.repeat(2000) })], withCode('ERR_KEY_TOO_LONG'));
      assert.throws(() => [...node.keys({ prefix: '\ud800' })], withCode('ERR_ARG', /surrogate/));
      assert.throws(() => wrong.scan(1), withCode('ERR_ARG'));
    });
  });
}
