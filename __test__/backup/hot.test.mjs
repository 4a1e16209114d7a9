// Promise: a backup has everything that was committed when it began, as of one moment, while threads and processes write;
// it is whole or not there, and it keeps the program running.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { open, server } from '../../js/index.mjs';

const NEIGHBOUR = fileURLToPath(new URL('./neighbour.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'caretdb-backup-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;
const fresh = () => join(folder, `${++made}`);

const LMDB = /** @type {const} */ (['relaxed', 'strict', 'process']);

/** @param {any} db @returns {any[]} everything in it */
const everything = (db) =>
  [...db.globals()].flatMap((name) => [
    [name, db.global(name).get()],
    ...[...db.global(name).leaves()].map((leaf) => [name, ...leaf]),
  ]);

/** @param {any} db */
function fill(db) {
  const global = db.global('Kept');
  db.transaction(() => {
    for (let id = 0; id < 2000; id++) global.setDocument(id, { name: `name ${id}`, tags: [id, null, true] });
  });
  global.set('large', 'x'.repeat(300_000));
  global.set('bytes', new Uint8Array([0, 255]));
  global.createIndex('name', ['name']);
}

for (const durability of LMDB) {
  test(`a backup of a ${durability} store opens with everything and with the same durability`, async () => {
    const [from, to] = [fresh(), fresh()];
    const db = open(from, { durability });
    fill(db);
    const wanted = everything(db);
    /** @type {number[][]} */
    const seen = [];
    await db.backup(to, { onProgress: (done, total) => seen.push([done, total]) });
    db.close();
    assert.deepEqual(readdirSync(to).sort(), ['durable.mdb', 'header']);
    const [done, total] = seen[seen.length - 1];
    assert.ok(done === total && done > 8000, `${done} of ${total}`);
    for (let round = 0; round < 2; round++) {
      const copy = new server();
      copy.open({ path: to });
      assert.equal(copy.durability(), durability);
      copy.close();
      const reopened = open(to);
      assert.deepEqual(everything(reopened), wanted);
      assert.equal([...reopened.global('Kept').find('name', { equals: 'name 7' })].length, 1);
      reopened.global('More').set(round, 1);
      wanted.push(['More', [round], 1]);
      if (round === 0) wanted.splice(-1, 0, ['More', undefined]);
      reopened.close();
    }
  });
}

test('the engine sled makes backups too', async () => {
  const [from, to] = [fresh(), fresh()];
  const db = open(from, { engine: 'sled' });
  fill(db);
  const wanted = everything(db);
  await db.backup(to);
  db.close();
  const copy = open(to, { engine: 'sled' });
  assert.deepEqual(everything(copy), wanted);
  copy.close();
});

test('while other processes and threads write, every backup is of one moment', {
  timeout: 120_000,
}, async () => {
  for (const durability of LMDB) {
    const from = fresh();
    const db = open(from, { durability });
    fill(db);
    const writers = [1, 2].map((who) =>
      spawn(process.execPath, [NEIGHBOUR, from, `${who}`], { stdio: 'inherit' }),
    );
    const global = db.global('Pair');
    try {
      while (global.get(1, 'a') === undefined || global.get(2, 'a') === undefined) await db.async.sync();
      for (let round = 0; round < 3; round++) {
        const to = fresh();
        const least = [1, 2].map((who) => /** @type {number} */ (global.get(who, 'a')));
        await db.backup(to);
        const copy = open(to);
        for (const who of [1, 2]) {
          const a = /** @type {number} */ (copy.global('Pair').get(who, 'a'));
          assert.equal(copy.global('Pair').get(who, 'b'), a, 'half of a transaction');
          assert.ok(a >= least[who - 1], `${a} is older than ${least}`);
        }
        assert.equal(copy.global('Kept').count(), 2002);
        copy.close();
      }
    } finally {
      for (const writer of writers) writer.kill('SIGKILL');
      db.close();
    }
  }
});

test('a target that holds something is refused and not touched', async () => {
  const db = open(fresh());
  db.global('G').set(1);
  const full = fresh();
  mkdirSync(full);
  writeFileSync(join(full, 'letter'), 'dear');
  const file = fresh();
  writeFileSync(file, '');
  for (const [to, what] of [
    [full, /is not empty/],
    [file, /is a file/],
    [join(db.path, 'inside'), /inside the store/],
  ]) {
    await assert.rejects(db.backup(/** @type {string} */ (to)), {
      code: 'ERR_ARG',
      message: /** @type {RegExp} */ (what),
    });
  }
  await assert.rejects(db.backup(''), { code: 'ERR_ARG' });
  await assert.rejects(db.backup(fresh(), { onProgress: /** @type {any} */ (1) }), { code: 'ERR_ARG' });
  assert.deepEqual(readdirSync(full), ['letter']);
  assert.ok(!existsSync(join(db.path, 'inside')));
  const empty = fresh();
  mkdirSync(empty);
  await db.backup(empty);
  await db.backup(join(fresh(), 'deep', 'down'));
  const copy = open(empty);
  assert.equal(copy.global('G').get(), 1);
  copy.close();
  db.close();
  await assert.rejects(db.backup(fresh()), { code: 'ERR_CLOSED' });
});

test('what the open transaction has written is not in it', async () => {
  const [to, db] = [fresh(), open(fresh())];
  db.global('G').set(1, 'committed');
  let done;
  db.transaction(() => {
    db.global('G').set(1, 'open');
    done = db.backup(to);
    // The copy is made while the transaction is open.
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (let turn = 0; !existsSync(to); turn += 1) {
      assert.ok(turn < 6000, 'the copy waits for the transaction');
      Atomics.wait(pause, 0, 0, 10);
    }
  });
  await done;
  db.close();
  const copy = open(to);
  assert.equal(copy.global('G').get(1), 'committed');
  copy.close();
});

test('a signal ends it, also while it waits, and leaves nothing', async () => {
  const [from, to, reason] = [fresh(), fresh(), new Error('enough')];
  const db = open(from, { timeout: -1 });
  mkdirSync(join(from, 'attachments'));
  const collecting = open(from);
  collecting.global('%caretdb', 'attachments').lock('collect');
  const controller = new AbortController();
  const backup = db.backup(to, { signal: controller.signal });
  while (!existsSync(`${to}.partial`)) await db.async.sync();
  controller.abort(reason);
  await assert.rejects(backup, (error) => error === reason);
  await assert.rejects(db.backup(to, { signal: controller.signal }), (error) => error === reason);
  assert.ok(!existsSync(to) && !existsSync(`${to}.partial`));
  collecting.close();
  await db.backup(to);
  db.close();
});

test('what the listener throws is what the call throws', async () => {
  const [db, to, reason] = [open(fresh()), fresh(), new Error('enough')];
  db.global('G').set(1);
  const onProgress = () => {
    throw reason;
  };
  await assert.rejects(db.backup(to, { onProgress }), (error) => error === reason);
  db.close();
});

test('the server of the mg-dbx face makes backups, and other calls go on meanwhile', async () => {
  const to = fresh();
  const db = new server();
  db.open({ path: fresh() });
  for (let id = 0; id < 5000; id++) db.set('G', id, 'z'.repeat(200));
  let settled = false;
  const backup = db.backup(to).then(() => {
    settled = true;
  });
  db.set('G', 'after', 'x');
  assert.equal(db.get('G', 'after'), 'x');
  assert.equal(settled, false);
  await backup;
  db.close();
  const copy = open(to);
  assert.equal(copy.global('G').get(4999), 'z'.repeat(200));
  copy.close();
});

test('attachments come along', async () => {
  const [from, to] = [fresh(), fresh()];
  const db = open(from);
  db.global('G').set(1);
  mkdirSync(join(from, 'attachments', 'ab'), { recursive: true });
  writeFileSync(join(from, 'attachments', 'ab', 'photo'), 'bytes');
  const collecting = open(from);
  collecting.global('%caretdb', 'attachments').lock('collect');
  const impatient = open(from, { timeout: 0.1 });
  await assert.rejects(impatient.backup(to), { code: 'ERR_BUSY' });
  collecting.close();
  await db.backup(to);
  for (const each of [impatient, db]) each.close();
  assert.deepEqual(readdirSync(join(to, 'attachments', 'ab')), ['photo']);
});
