// Promise: a check says whether a store or a backup is sound, names what is damaged and where, and changes nothing.

import assert from 'node:assert/strict';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { check, open } from '../../js/index.mjs';
import { terminal } from '../cli/terminal.mjs';

const folder = mkdtempSync(join(tmpdir(), 'caretdb-check-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;
const fresh = () => join(folder, `${++made}`);

/** @param {string} path @param {any} [options] */
function filled(path, options) {
  const db = open(path, options);
  const person = db.global('Person');
  db.transaction(() => {
    for (let id = 1; id <= 500; id++) person.setDocument(id, { name: `name ${id}`, zip: id % 7 });
  });
  person.createIndex('zip', ['zip']);
  db.global('Photo').set(1, new Uint8Array(20_000).fill(9));
  return db;
}

/** @param {string} file @param {number} at @param {Uint8Array} bytes */
function overwrite(file, at, bytes) {
  const opened = openSync(file, 'r+');
  writeSync(opened, bytes, 0, bytes.length, at);
  closeSync(opened);
}

for (const engine of /** @type {const} */ (['lmdb', 'sled'])) {
  test(`a sound ${engine} store is found sound, with its counts`, async () => {
    const path = fresh();
    filled(path, { engine }).close();
    const before = readdirSync(path).sort();
    const { pages, ...found } = await check(path);
    assert.deepEqual(found, {
      sound: true,
      nodes: 1000 + 1 + 500 + 1,
      globals: 3,
      indexes: 1,
      indexEntries: 500,
      waiting: 0,
      damaged: 0,
      damage: [],
    });
    assert.equal(pages > 0, engine === 'lmdb');
    assert.deepEqual(readdirSync(path).sort(), before);
  });
}

test('a store in use by this process, and its backup, are checked', async () => {
  const [path, to] = [fresh(), fresh()];
  const db = filled(path);
  db.syncNow();
  assert.equal((await check(path)).sound, true);
  await db.backup(to);
  db.close();
  const found = await check(to);
  assert.deepEqual([found.sound, found.nodes, found.indexEntries], [true, 1502, 500]);
  assert.deepEqual(readdirSync(to).sort(), ['durable.mdb', 'header'], 'a check makes no files');
});

test('damage is named with its file and nodes, by the command too', async () => {
  const [path, to] = [fresh(), fresh()];
  const db = filled(path);
  await db.backup(to);
  db.close();
  const file = join(to, 'durable.mdb');
  const page = readFileSync(file).indexOf('name 250') >> 12;
  overwrite(file, page * 4096, new Uint8Array(4096));
  const found = await check(to);
  assert.equal(found.sound, false);
  const [first] = found.damage;
  assert.deepEqual([first.file, first.what], ['durable.mdb', `page ${page} is no page of a tree`]);
  assert.match(first.nodes, /^from \^Person\(\d+,"\w+"\) to \^Person\(\d+,"\w+"\)$/);
  const { status, out } = terminal().caretdb('check', to);
  assert.equal(status, 4);
  assert.match(out, /durable\.mdb: page \d+ is no page of a tree \(from \^Person/);
  assert.match(out, /restore a backup/);
  assert.throws(() => open(to), { code: 'ERR_CORRUPT', message: /durable\.mdb .*Restore a backup/s });
});

test('an index that does not fit the documents is found, both ways', async () => {
  const to = fresh();
  const db = filled(fresh());
  await db.backup(to);
  db.close();
  // One bit of a number: the value stays one.
  const file = join(to, 'durable.mdb');
  const bytes = readFileSync(file);
  const zip = bytes.indexOf(Buffer.from('\xC0zip\0\x03', 'latin1'));
  assert.ok(zip > 0);
  const value = zip + 5;
  overwrite(file, value + 7, new Uint8Array([bytes[value + 7] ^ 1]));
  const found = await check(to);
  assert.equal(found.sound, false);
  const all = found.damage.map((/** @type {any} */ { what }) => what).join('\n');
  assert.match(all, /the index "zip" has it, but \^Person\(\d+,"zip"\) does not/);
  assert.match(all, /the index "zip" of \^Person does not have it/);
});

test('what is no store is refused, and wrong arguments are', async () => {
  await assert.rejects(check(fresh()), { code: 'ERR_IO', message: /cannot find a store/ });
  await assert.rejects(check(''), { code: 'ERR_ARG' });
  await assert.rejects(check(folder, { signal: AbortSignal.abort(new Error('enough')) }), /enough/);
  assert.ok(!existsSync(join(folder, 'header')));
});
