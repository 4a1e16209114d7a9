// The promise of a strict store in the pool: no reply before the disk has what its handler wrote, and requests that come
// together share a flush.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { mglobal, server } from '../../js/index.mjs';
import { WorkerStore } from '../../js/pool/context.mjs';

/** A connection to a strict store whose flushes end when the test says so. */
function slowConnection() {
  /** @type {(() => void)[]} */
  const flushes = [];
  let level = 0;
  let unlocks = 0;
  return {
    flushes,
    unlocks: () => unlocks,
    start() {
      level += 1;
    },
    db: {
      tlevel: () => String(level),
      trollback() {
        level -= 1;
      },
      unlockAll() {
        unlocks += 1;
      },
      durability: () => 'strict',
      syncLater: () => new Promise((resolve) => flushes.push(() => resolve(undefined))),
    },
  };
}

/** @param {any} connection */
function storeOn(connection) {
  const store = new WorkerStore({});
  store.opened = { db: connection.db };
  return store;
}

test('requests that end while a flush runs wait for the next one, and share it', async () => {
  const connection = slowConnection();
  const store = storeOn(connection);
  /** @type {string[]} */
  const replies = [];
  for (const name of ['first', 'second', 'third']) {
    store.touched = true;
    store.settle().durable?.then(() => replies.push(name));
  }
  assert.equal(connection.flushes.length, 1);
  connection.flushes[0]();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(replies, ['first']);
  assert.equal(connection.flushes.length, 2);
  connection.flushes[1]();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(replies, ['first', 'second', 'third']);
});

test('a request that did not reach for the store waits for nothing', () => {
  const connection = slowConnection();
  assert.equal(storeOn(connection).settle().durable, undefined);
  assert.equal(connection.flushes.length, 0);
});

test('what a handler left open is rolled back, and its locks are given back', () => {
  const connection = slowConnection();
  const store = storeOn(connection);
  connection.start();
  connection.start();
  store.touched = true;
  assert.equal(store.settle().rolledBack, true);
  assert.equal(connection.db.tlevel(), '0');
  assert.equal(connection.unlocks(), 1);
});

test('on a real strict store the wait ends, the transaction is gone and the lock is free', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'caretdb-strict-'));
  const store = new WorkerStore({ path: folder, durability: 'strict' });
  await store.load();
  const other = new server();
  try {
    const global = store.global('Strict', []);
    assert.equal(global.lock(1, 0), '1');
    store.open().db.tstart();
    global.set(1, 'undone');
    const { rolledBack, durable } = store.settle();
    assert.equal(rolledBack, true);
    assert.ok(durable instanceof Promise);
    await durable;
    other.open({ type: 'CaretDB', path: folder });
    const seen = new mglobal(other, 'Strict');
    assert.equal(seen.get(1), '');
    assert.equal(seen.lock(1, 0), '1');
  } finally {
    other.close();
    store.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
