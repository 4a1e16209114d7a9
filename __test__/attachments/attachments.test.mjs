// The promise of attachments for programs: bytes come back as they were, what breaks off leaves the old ones, a collection takes what
// nobody refers to and nothing else, and a check finds what is damaged.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { open } from '../../js/index.mjs';

/** @param {(db: import('../../index.d.ts').Database, folder: string) => Promise<void>} work @param {object} [options] */
async function withStore(work, options = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'caretdb-attachments-'));
  const db = /** @type {any} */ (open(folder, options));
  try {
    await work(db, folder);
  } finally {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} folder @returns {string[]} the files of attachments, and those of uploads */
function filesIn(folder) {
  return ['uploads', 'attachments'].flatMap((name) => {
    const path = join(folder, name);
    if (!existsSync(path)) return [];
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  });
}

for (const options of [{}, { durability: 'process' }, { engine: 'sled' }]) {
  test(`bytes come back as they were: ${JSON.stringify(options)}`, () =>
    withStore(async ({ attachments }) => {
      const bytes = randomBytes(1_500_000);
      const stored = await attachments.put('Person', 1, 'a', bytes, { type: 'image/png' });
      assert.deepEqual([stored.size, stored.type], [bytes.length, 'image/png']);
      async function* pieces() {
        for (let at = 0; at < bytes.length; at += 77_777) yield bytes.subarray(at, at + 77_777);
      }
      assert.equal((await attachments.put('Person', 1, 'b', pieces())).sha256, stored.sha256);
      await attachments.put('Person', 1, 'c', 'text');
      for (const name of ['a', 'b']) {
        const found = attachments.get('Person', 1, name);
        assert.ok(bytes.equals(/** @type {Uint8Array} */ (await found?.bytes())));
        const some = [];
        for await (const piece of found?.stream({ start: 500_000, end: 600_000 }) ?? []) some.push(piece);
        assert.ok(bytes.subarray(500_000, 600_000).equals(Buffer.concat(some)));
      }
      assert.deepEqual(
        attachments.list('Person', '1').map(({ name }) => name),
        ['a', 'b', 'c'],
      );
      assert.equal(attachments.get('Person', 1, 'none'), undefined);
      assert.equal(attachments.delete('Person', 1, 'a'), true);
      assert.equal(attachments.delete('Person', 1, 'a'), false);
      assert.deepEqual((await attachments.verify()).problems, []);
      await assert.rejects(attachments.put('Person', 1, '', 'x'), { code: 'ERR_ARG' });
    }, options));
}

test('a source that fails leaves the old bytes, and no file', () =>
  withStore(async (db, folder) => {
    await db.attachments.put('Person', 1, 'a', 'old');
    async function* failing() {
      yield randomBytes(2_000_000);
      throw new Error('broken off');
    }
    await assert.rejects(db.attachments.put('Person', 1, 'a', failing()), /broken off/);
    assert.equal(Buffer.from((await db.attachments.get('Person', 1, 'a')?.bytes()) ?? '').toString(), 'old');
    assert.deepEqual(filesIn(folder), []);
  }));

test('a collection leaves an upload alone that is under way, on its own connection and on others', () =>
  // It once took the file from under a long upload: a lock tells nothing to the connection that holds it.
  withStore(async (db, folder) => {
    const other = open(folder);
    const bytes = randomBytes(3_000_000);
    async function* slow() {
      yield bytes.subarray(0, 1_500_000);
      for (const one of [db, other]) await one.attachments.collect({ grace: 0 });
      yield bytes.subarray(1_500_000);
      for (const one of [db, other]) await one.attachments.collect({ grace: 0 });
    }
    await db.attachments.put('Person', 1, 'a', slow());
    await other.attachments.collect({ grace: 0 });
    assert.ok(
      bytes.equals(/** @type {Uint8Array} */ (await other.attachments.get('Person', 1, 'a')?.bytes())),
    );
    other.close();
  }));

test('a collection takes what was replaced, what a dead process left, and what belonged to documents that are gone', () =>
  withStore(async (db, folder) => {
    const bytes = randomBytes(100_000);
    await db.attachments.put('Person', 1, 'a', bytes);
    await db.attachments.put('Person', 1, 'a', bytes);
    await db.attachments.put('Person', 2, 'b', bytes);
    assert.equal((await db.attachments.collect()).removed, 0);
    assert.equal((await db.attachments.collect({ grace: 0 })).removed, 1);
    writeFileSync(join(folder, 'uploads', 'f'.repeat(32)), 'left behind');
    assert.deepEqual((await db.attachments.verify()).strays, ['f'.repeat(32)]);
    db.global('Person').delete(2);
    assert.equal(db.attachments.get('Person', 2, 'b'), undefined);
    assert.deepEqual(await db.attachments.collect({ grace: 0 }), { busy: false, removed: 2, references: 1 });
    assert.equal(filesIn(folder).length, 1);
    assert.deepEqual(await db.attachments.verify(), {
      attachments: 1,
      bytes: 100_000,
      problems: [],
      strays: [],
    });
  }));

test('nothing is collected while a backup holds the lock', () =>
  withStore(async (db, folder) => {
    const other = open(folder);
    assert.ok(other.global('%caretdb').lockFor(0, 'attachments', 'collect'));
    assert.equal((await db.attachments.collect()).busy, true);
    other.close();
    assert.equal((await db.attachments.collect()).busy, false);
  }));

test('a check names what is missing, too short or other than it was', () =>
  withStore(async (db, folder) => {
    for (const name of ['changed', 'missing', 'short', 'whole'])
      await db.attachments.put('Person', name, 'a', randomBytes(100_000));
    for (const [name, damage] of /** @type {[string, (file: string) => void][]} */ ([
      ['changed', (file) => writeFileSync(file, randomBytes(100_000))],
      ['missing', (file) => rmSync(file)],
      ['short', (file) => truncateSync(file, 99_999)],
    ])) {
      const { key } = JSON.parse(String(db.global('%caretdb').get('attachment', 'Person', name, 'a')));
      damage(join(folder, 'attachments', key.slice(0, 2), key));
    }
    const { attachments, problems } = await db.attachments.verify();
    assert.equal(attachments, 4);
    assert.deepEqual(
      problems.map(({ id, problem }) => [id, /missing|bytes/.test(problem)]),
      [
        ['changed', true],
        ['missing', true],
        ['short', true],
      ],
    );
  }));
