// Promise: a backup is put in place only where nothing is lost by it, and compacting gives space back.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { check, compact, open, restore } from '../../js/index.mjs';
import { terminal } from '../cli/terminal.mjs';

const folder = mkdtempSync(join(tmpdir(), 'caretdb-restore-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;
const fresh = () => join(folder, `${++made}`);

/** @param {string} path @param {string} value @param {any} [options] */
function write(path, value, options) {
  const db = open(path, options);
  db.global('G').set(1, value);
  db.close();
}

/** @param {string} path @param {any} [options] */
function read(path, options) {
  const db = open(path, { create: false, ...options });
  const value = db.global('G').get(1);
  db.close();
  return value;
}

for (const engine of /** @type {const} */ (['lmdb', 'sled'])) {
  test(`a ${engine} backup is restored beside or over a store`, async () => {
    const [from, backup, to] = [fresh(), fresh(), fresh()];
    const db = open(from, { engine });
    db.global('G').set(1, 'then');
    await db.backup(backup);
    db.close();
    assert.equal(await restore(backup, to), undefined);
    assert.equal(read(to, { engine }), 'then');
    write(from, 'now', { engine });
    await assert.rejects(restore(backup, from), { code: 'ERR_ARG', message: /is not empty/ });
    const aside = await restore(backup, from, { force: true });
    assert.equal(read(from, { engine }), 'then');
    assert.equal(read(/** @type {string} */ (aside), { engine }), 'now');
  });
}

test('a store itself can be what is restored, and brings its durability and attachments', async () => {
  const [from, to] = [fresh(), fresh()];
  write(from, 'x', { durability: 'strict' });
  mkdirSync(join(from, 'attachments'));
  writeFileSync(join(from, 'attachments', 'a'), 'a');
  await restore(from, to);
  assert.ok(existsSync(join(to, 'attachments', 'a')));
  const first = open(to);
  assert.throws(() => open(to, { durability: 'relaxed' }), { code: 'ERR_LOCKED' });
  assert.equal(first.global('G').get(1), 'x');
  first.close();
});

test('what is in use or no store is not replaced', async () => {
  const [from, backup, other] = [fresh(), fresh(), fresh()];
  const db = open(from);
  db.global('G').set(1, 'live');
  await db.backup(backup);
  await assert.rejects(restore(backup, from, { force: true }), { code: 'ERR_LOCKED' });
  assert.equal(db.global('G').get(1), 'live');
  db.close();
  mkdirSync(other);
  writeFileSync(join(other, 'letter'), 'dear');
  await assert.rejects(restore(backup, other, { force: true }), { code: 'ERR_ARG', message: /no store/ });
  assert.ok(existsSync(join(other, 'letter')));
  await assert.rejects(restore(fresh(), fresh()), { code: 'ERR_IO' });
  await assert.rejects(restore(backup, join(backup, 'inside')), { code: 'ERR_ARG' });
  await assert.rejects(restore(backup, '', {}), { code: 'ERR_ARG' });
});

test('compacting gives space back, keeps everything, and refuses a store in use', async () => {
  for (const durability of /** @type {const} */ (['relaxed', 'process'])) {
    const path = fresh();
    const db = open(path, { durability });
    const global = db.global('G');
    db.transaction(() => {
      for (let at = 0; at < 20_000; at++) global.set('big', at, 'x'.repeat(400));
    });
    global.setDocument('kept', { a: [1, 2, { b: null }], photo: new Uint8Array(50_000) });
    const kept = global.getDocument('kept');
    global.delete('big');
    const before = db.stats().diskBytes;
    await assert.rejects(compact(path), { code: 'ERR_LOCKED' });
    db.close();
    await compact(path);
    const again = open(path);
    assert.deepEqual(again.global('G').getDocument('kept'), kept);
    assert.ok(again.stats().diskBytes * 3 < before, `${again.stats().diskBytes} of ${before}`);
    again.close();
    assert.equal((await check(path)).sound, true);
    assert.equal(statSync(path).isDirectory(), true);
  }
  await assert.rejects(compact(fresh()), { code: 'ERR_IO' });
  const sled = fresh();
  write(sled, 'x', { engine: 'sled' });
  await assert.rejects(compact(sled), { code: 'ERR_UNSUPPORTED' });
});

test('the commands say what they did, as text and as JSON', () => {
  const shell = terminal();
  shell.caretdb('set', '^G(1)', 'x');
  const { status, out } = shell.caretdb('backup', 'copy');
  assert.deepEqual([status, out], [0, `${shell.store} is copied to copy\n`]);
  shell.caretdb('set', '^G(1)', 'y');
  assert.equal(shell.caretdb('restore', 'copy').status, 3);
  const restored = JSON.parse(shell.caretdb('restore', 'copy', '--force', '--json').out);
  assert.deepEqual(restored, { from: 'copy', to: shell.store, aside: `${shell.store}.replaced-1` });
  assert.equal(shell.caretdb('get', '^G(1)').out, 'x\n');
  assert.equal(shell.caretdb('compact').out, `${shell.store} is compact\n`);
  const found = JSON.parse(shell.caretdb('check', '--json').out);
  assert.deepEqual([found.path, found.sound, found.nodes], [shell.store, true, 1]);
  assert.match(shell.caretdb('check').out, /1 nodes with a value in 1 globals\nsound\n$/);
  assert.equal(shell.caretdb('check', 'nowhere').status, 3);
  assert.match(shell.fed('check\n', 'repl').err, /check is a command of the shell/);
});
