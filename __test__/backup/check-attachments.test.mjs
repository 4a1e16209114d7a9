// Promise: a check looks at the attachments of a store and of a backup too, names those whose bytes are not what was stored, tells of bytes
// that nobody refers to, and changes nothing.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { check, open } from '../../js/index.mjs';
import { terminal } from '../cli/terminal.mjs';

const folder = mkdtempSync(join(tmpdir(), 'caretdb-check-attachments-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** @param {string} path @param {object} [options] */
async function filled(path, options = {}) {
  const db = open(path, options);
  await db.attachments.put('Person', 1, 'small', 'text');
  await db.attachments.put('Person', 1, 'large', randomBytes(200_000));
  return db;
}

/** @param {string} path @returns {string[]} everything in a folder */
const namesIn = (path) => readdirSync(path, { recursive: true }).map(String).sort();

/** @param {string} path of a store @returns {string} the file of its only large attachment */
function onlyFile(path) {
  const name = namesIn(join(path, 'attachments')).find((one) => /..[/\\]./.test(one));
  return join(path, 'attachments', String(name));
}

for (const durability of ['relaxed', 'process']) {
  test(`the attachments of a ${durability} store are looked at, at rest and in use`, async () => {
    const path = join(folder, durability);
    const db = await filled(path, { durability });
    const sound = { attachments: 2, bytes: 200_004, problems: [], strays: [] };
    assert.deepEqual((await check(path)).attachments, sound);
    db.close();
    const before = namesIn(path);
    assert.deepEqual((await check(path)).attachments, sound);
    assert.deepEqual(namesIn(path), before);
    const stray = 'f'.repeat(32);
    mkdirSync(join(path, 'uploads'));
    writeFileSync(join(path, 'uploads', stray), 'left behind');
    const told = await check(path);
    assert.deepEqual([told.sound, told.attachments?.strays], [true, [stray]]);
    writeFileSync(onlyFile(path), randomBytes(200_000));
    const found = await check(path);
    assert.deepEqual([found.sound, found.damaged], [false, 1]);
    assert.equal(found.damage[0].nodes, '"large" of ^Person("1")');
    const { status, out } = terminal().caretdb('check', path);
    assert.equal(status, 4);
    assert.match(out, /2 attachments with 200,?004 bytes\n1 stretches/);
    assert.match(out, /attachments: its bytes are not those that were stored \("large" of \^Person\("1"\)\)/);
  });
}

test('those of a backup are, and nothing is made in it', async () => {
  const [path, to] = [join(folder, 'origin'), join(folder, 'backup')];
  const db = await filled(path);
  await db.backup(to);
  db.close();
  const before = namesIn(to);
  const found = await check(to);
  assert.deepEqual([found.sound, found.attachments?.attachments], [true, 2]);
  assert.deepEqual(namesIn(to), before);
  rmSync(join(to, 'attachments'), { recursive: true });
  const without = await check(to);
  assert.equal(without.sound, false);
  assert.ok(without.damage[0].what.startsWith(`its file is missing: ${to}`), without.damage[0].what);
  assert.deepEqual(namesIn(to), ['durable.mdb', 'header']);
});

test('a store without attachments, and one on another engine, have none in the report', async () => {
  const empty = join(folder, 'empty');
  open(empty).close();
  const sled = join(folder, 'sled');
  (await filled(sled, { engine: 'sled' })).close();
  for (const path of [empty, sled]) {
    const found = await check(path);
    assert.deepEqual([found.sound, 'attachments' in found], [true, false]);
  }
});
