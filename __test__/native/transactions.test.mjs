// Transactions and snapshots of the native face, alone and beside other connections.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { open } from 'caretdb';
import { withCode } from '../mg-dbx/store.mjs';
import { ENGINES, missing, newStore } from '../real/engines.mjs';
import { startNeighbour } from './neighbour.mjs';

for (const engine of ENGINES) {
  describe(`transactions on ${engine}`, { skip: missing(engine) }, () => {
    if (missing(engine)) return;
    /** @param {import('caretdb').OpenOptions} [options] */
    const openNew = (options) => open({ ...newStore(engine), ...options });

    it('commit when the work returns, and are undone when it throws', () => {
      const db = openNew();
      const node = db.global('T');
      assert.equal(
        db.transaction(() => {
          node.set('a', 1);
          return 'result';
        }),
        'result',
      );
      assert.equal(node.get('a'), 1);
      const failure = new RangeError('mine');
      assert.throws(
        () =>
          db.transaction(() => {
            node.set('a', 2);
            node.delete();
            node.setDocument({ b: [1, 2] });
            node.merge(node.at('b'));
            node.increment('n', 1);
            assert.equal(node.get('n'), 1, 'it reads its own writes');
            throw failure;
          }),
        (error) => error === failure,
      );
      assert.deepEqual([...node.leaves()], [[['a'], 1]]);
      db.close();
    });

    it('nest: an inner one that throws undoes its own part only', () => {
      const db = openNew();
      const node = db.global('T');
      node.set('kept', 'before');
      db.transaction(() => {
        node.set('outer', 1);
        assert.throws(() =>
          db.transaction(() => {
            node.set('outer', 2);
            node.set('inner', 1);
            node.delete('kept');
            db.transaction(() => node.setDocument('deep', { a: 1 }));
            throw new Error('undo');
          }),
        );
        assert.deepEqual(
          [...node.entries()],
          [
            ['kept', 'before'],
            ['outer', 1],
          ],
        );
        db.transaction(() => node.set('second', 2));
      });
      assert.deepEqual([...node.keys()], ['kept', 'outer', 'second']);
      db.close();
    });

    it('refuse an async function, and leave nothing open', () => {
      const db = openNew();
      const node = db.global('T');
      const wrong = /** @type {any} */ (db);
      assert.throws(
        () =>
          wrong.transaction(async () => {
            node.set('a', 1);
          }),
        withCode('ERR_TX', /async/),
      );
      assert.equal(node.has('a'), false);
      assert.throws(() => wrong.snapshot(async () => 1), withCode('ERR_ARG', /async/));
      for (const method of ['transaction', 'snapshot']) {
        for (const work of [undefined, null, 5, {}])
          assert.throws(() => wrong[method](work), withCode('ERR_ARG'));
      }
      const other = open(db.path, { engine });
      other.global('T').set('b', 1);
      other.close();
      db.close();
    });

    it('end with the connection when the work closes it', () => {
      const db = openNew();
      const other = open(db.path, { engine });
      assert.throws(
        () =>
          db.transaction(() => {
            db.global('T').set('a', 1);
            db.close();
          }),
        withCode('ERR_CLOSED'),
      );
      assert.equal(other.global('T').has('a'), false);
      other.global('T').set('b', 1);
      const failure = new Error('mine');
      assert.throws(
        () =>
          other.transaction(() => {
            other.close();
            throw failure;
          }),
        (error) => error === failure,
      );
      assert.throws(
        () =>
          other.snapshot(() => {
            throw failure;
          }),
        withCode('ERR_CLOSED'),
      );
    });

    it('refuse a second writer of the same thread at once, whatever its timeout', () => {
      const db = openNew();
      const other = open(db.path, { engine, timeout: -1 });
      db.transaction(() => {
        assert.throws(() => other.global('T').set('a', 1), withCode('ERR_TX', /this thread/));
        assert.throws(() => other.transaction(() => 1), withCode('ERR_TX', /this thread/));
        assert.equal(other.global('T').get('a'), undefined);
      });
      other.global('T').set('a', 1);
      other.close();
      db.close();
    });

    it('make others wait for their timeout, then ERR_BUSY; then these go on', async () => {
      const db = openNew({ timeout: 0.05 });
      const node = db.global('Neighbour');
      node.set('in', 'before');
      const { letGo, message } = await startNeighbour('holdTransaction', db.path, { engine });
      assert.equal(node.get('in'), 'before', 'what is not committed is not seen');
      // Some engines let others write elsewhere meanwhile; what the transaction wrote waits on all of them.
      assert.throws(() => node.set('in', 1), withCode('ERR_BUSY', /set \^Neighbour/));
      assert.throws(() => node.delete(), withCode('ERR_BUSY'));
      assert.throws(() => db.transaction(() => node.set('in', 1)), withCode('ERR_BUSY'));
      await assert.rejects(db.async.global('Neighbour').increment('in', 1), withCode('ERR_BUSY'));
      letGo();
      assert.equal(await message(), 'done');
      assert.equal(node.get('in'), 'transaction');
      node.set('a', 1);
      db.close();
    });

    it('run the promises made inside them at once', async () => {
      const db = openNew();
      const later = db.async.global('T');
      /** @type {Promise<any>[]} */
      const promises = [];
      db.transaction(() => {
        promises.push(later.set('a', 1), later.get('a'));
      });
      assert.deepEqual(await Promise.all(promises), [undefined, 1]);
      assert.throws(() =>
        db.transaction(() => {
          promises.push(later.set('b', 1));
          throw new Error('undo');
        }),
      );
      await Promise.all(promises);
      assert.equal(await later.get('b'), undefined);
      db.close();
    });

    it('keep snapshots at one moment, for all reads, also nested', () => {
      const db = openNew();
      const node = db.global('T');
      node.set('a', 1);
      node.setDocument('d', { x: 1 });
      const other = open(db.path, { engine });
      const theirs = other.global('T');
      const result = db.snapshot(() => {
        theirs.set('a', 2);
        theirs.delete('d');
        theirs.set('new', 1);
        assert.equal(node.get('a'), 1);
        assert.deepEqual(node.getDocument('d'), { x: 1 });
        assert.equal(node.has('new'), false);
        assert.deepEqual([...node.keys()], ['a', 'd']);
        assert.equal(node.count(), 2);
        assert.equal(
          db.snapshot(() => node.get('a')),
          1,
        );
        assert.equal(node.get('a'), 1, 'the inner end does not end the outer');
        return 'result';
      });
      assert.equal(result, 'result');
      assert.equal(node.get('a'), 2);
      assert.throws(() =>
        db.snapshot(() => {
          throw new Error('mine');
        }),
      );
      theirs.set('a', 3);
      assert.equal(node.get('a'), 3, 'a moment ends when its work throws');
      other.close();
      db.close();
    });

    it('work in two stores at a time', () => {
      const one = openNew();
      const two = openNew();
      assert.throws(() =>
        one.transaction(() => {
          one.global('T').set('a', 'one');
          two.transaction(() => two.global('T').set('a', 'two'));
          throw new Error('undo the outer store only');
        }),
      );
      assert.equal(one.global('T').has('a'), false);
      assert.equal(two.global('T').get('a'), 'two');
      one.close();
      two.close();
    });
  });
}
