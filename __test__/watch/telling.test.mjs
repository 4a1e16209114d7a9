// `watch` tells of what was committed below a node, whole transactions in the order of their commits, and of nothing else.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { open } from 'caretdb';
import { newFolder } from '../mg-dbx/store.mjs';
import { contents, Replica, until } from './replica.mjs';

/**
 * What is told while `work` runs, up to a change of `^Until`.
 *
 * @param {any[]} place
 * @param {(db: import('caretdb').Database) => void} work
 * @param {(db: import('caretdb').Database) => void} [before]
 */
async function toldOf(place, work, before = () => {}) {
  const db = open(newFolder());
  before(db);
  /** @type {import('caretdb').Change[]} */
  const told = [];
  let over = false;
  const end = db.watch('Until', [], () => {
    over = true;
  });
  const watcher = /** @type {any} */ (db).watch(...place, (/** @type {any} */ change) => told.push(change));
  work(db);
  const marker = db.global(place[0] ?? 'Until');
  marker.set(...(place[1] ?? []), 'marker', 'end');
  db.global('Until').set(1);
  await until('the end', () => over && told.some(({ value }) => value === 'end'));
  watcher.close();
  end.close();
  db.close();
  return told
    .filter(({ global, value }) => global !== 'Until' && value !== 'end')
    .map(({ kind, subscripts, value, last }) => [kind, subscripts, ...(kind === 'set' ? [value] : []), last]);
}

describe('watch', () => {
  it('tells of values with their types, below the node and at it', async () => {
    const told = await toldOf(['Person', [1]], (db) => {
      const person = db.global('Person');
      person.set(1, 'root');
      person.set(1, 'name', 'Zoë');
      person.set(1, -1.5, 'x', 42);
      person.set(1, 'none', null);
      person.set(1, 'yes', true);
      person.set(1, 'bytes', new Uint8Array([0, 255]));
      person.set(1, 'long', 'é'.repeat(100_000));
      person.set(1, 'long', 'short');
      person.increment(1, 'count', 2);
      person.set(2, 'name', 'not watched');
      person.set(11, 'not watched either');
      db.global('Personal').set(1, 'nor this');
    });
    assert.deepEqual(told, [
      ['set', [1], 'root', true],
      ['set', [1, 'name'], 'Zoë', true],
      ['set', [1, -1.5, 'x'], 42, true],
      ['set', [1, 'none'], null, true],
      ['set', [1, 'yes'], true, true],
      ['set', [1, 'bytes'], new Uint8Array([0, 255]), true],
      ['set', [1, 'long'], 'é'.repeat(100_000), true],
      ['set', [1, 'long'], 'short', true],
      ['set', [1, 'count'], 2, true],
    ]);
  });

  it('shows where a transaction ends, and tells nothing of one that was undone', async () => {
    const told = await toldOf(['A', []], (db) => {
      const a = db.global('A');
      db.transaction(() => {
        a.set(1, 1);
        a.set(2, 2);
        db.global('B').set('elsewhere');
      });
      assert.throws(() =>
        db.transaction(() => {
          a.set(3, 3);
          throw new Error('no');
        }),
      );
      a.set(4, 4);
    });
    assert.deepEqual(told, [
      ['set', [1], 1, false],
      ['set', [2], 2, true],
      ['set', [4], 4, true],
    ]);
  });

  it('takes back what an inner transaction did and undid', async () => {
    const replica = new Replica();
    const db = open(newFolder());
    const a = db.global('A');
    a.set('old', 'old');
    replica.nodes.set('["A","old"]', 'old');
    const watcher = db.watch(replica.apply);
    db.transaction(() => {
      a.set(1, 'child', 'x');
      assert.throws(() =>
        db.transaction(() => {
          a.set(1, 'y'.repeat(9000));
          a.delete('old');
          throw new Error('no');
        }),
      );
      a.set(2, 2);
    });
    await until('the end', () => replica.nodes.has('["A",2]') && replica.whole);
    assert.deepEqual(replica.entries(), contents(db));
    assert.equal(replica.nodes.get('["A","old"]'), 'old');
    assert.equal(replica.nodes.has('["A",1]'), false);
    watcher.close();
    db.close();
  });

  it('tells of a deletion above the watched node as one of the watched node', async () => {
    const told = await toldOf(
      ['A', [1, 'x']],
      (db) => {
        db.global('A').delete(1, 'x', 'deep');
        db.global('A').delete(1);
        db.global('A').delete();
        db.global('A').set(1, 'x', 'again');
      },
      (db) => {
        db.global('A').set(1, 'x', 'deep', 'v');
        db.global('A').set(1, 'y', 'v');
        db.global('A').set(2, 'v');
      },
    );
    assert.deepEqual(told, [
      ['delete', [1, 'x', 'deep'], true],
      ['delete', [1, 'x'], true],
      ['delete', [1, 'x'], true],
      ['set', [1, 'x'], 'again', true],
    ]);
  });

  it('tells of a document leaf by leaf, after the deletion of what was there', async () => {
    const told = await toldOf(['A', []], (db) => {
      db.global('A').set(1, 'b', 'old', 'v');
      db.global('A').setDocument(1, { b: [true, {}], c: 'x' });
    });
    assert.deepEqual(told, [
      ['set', [1, 'b', 'old'], 'v', true],
      ['delete', [1], false],
      ['set', [1, 'b', '[000000]'], true, false],
      ['set', [1, 'b', '[000001]'], undefined, false],
      ['set', [1, 'c'], 'x', true],
    ]);
  });

  it('tells of all globals where none is named, but not of the entries of indexes', async () => {
    const db = open(newFolder());
    db.global('A').createIndex('city', ['city']);
    const replica = new Replica();
    const watcher = db.watch(replica.apply);
    db.global('A').setDocument(1, { city: 'Redhill' });
    db.global('A').setDocument(1, { city: 'Reigate' });
    db.global('B').set(1);
    await until('the end', () => replica.nodes.has('["B"]'));
    assert.deepEqual(replica.entries(), [
      ['["A",1,"city"]', 'Reigate'],
      ['["B"]', 1],
    ]);
    watcher.close();
    db.close();
  });

  it('begins with the call', async () => {
    const told = await toldOf(
      ['A', []],
      (db) => db.global('A').set('after', 1),
      (db) => {
        for (let number = 0; number < 1000; number++) db.global('A').set(number, 'before');
      },
    );
    assert.deepEqual(told, [['set', ['after'], 1, true]]);
  });

  it('goes on where the log goes on in another file, again and again', async () => {
    const db = open(newFolder(), { flushInterval: 5, logLimit: 8 << 20 });
    const replica = new Replica();
    const watcher = db.watch('A', [], replica.apply);
    const text = 'x'.repeat(3000);
    for (let number = 0; number < 12_000; number++) {
      db.global('A').set(number % 50, number, text);
      if (number % 500 === 0) await until('the listener', () => replica.told === number + 1);
    }
    await until('the end', () => replica.told === 12_000);
    assert.equal(replica.lost, 0);
    assert.deepEqual(replica.entries(), contents(db));
    watcher.close();
    db.close();
  });

  it('tells of a transaction that is larger than the log may be', async () => {
    const db = open(newFolder(), { logLimit: 8 << 20 });
    const replica = new Replica();
    const watcher = db.watch('A', [], replica.apply);
    const text = 'x'.repeat(4000);
    db.transaction(() => {
      for (let number = 0; number < 5000; number++) db.global('A').set(number, text);
    });
    await until('the end', () => replica.told === 5000);
    assert.equal(replica.whole, true);
    assert.deepEqual(replica.entries(), contents(db));
    watcher.close();
    db.close();
  });
});
