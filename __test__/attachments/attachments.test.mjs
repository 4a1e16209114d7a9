// The promise of attachments for programs: bytes come back as they were, what breaks off leaves the old ones, a collection takes what
// nobody refers to and nothing else, and a check finds what is damaged.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { open } from 'caretdb';
import { ENGINES, missing, newStore } from '../real/engines.mjs';
import { hear } from '../runner/heard.mjs';
import { isSample } from '../runner/sample.mjs';

const UPLOADER = fileURLToPath(new URL('./fixtures/uploader.mjs', import.meta.url));

/**
 * @param {import('../real/engines.mjs').Engine} engine
 * @param {(db: import('caretdb').Database, store: import('caretdb').OpenOptions) => Promise<void>} work
 * @param {object} [options]
 */
async function withStore(engine, work, options = {}) {
  const store = { ...newStore(engine), ...options };
  const db = open(store);
  try {
    await work(db, store);
  } finally {
    db.close();
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

for (const engine of ENGINES) {
  describe(`attachments on ${engine}`, { skip: missing(engine) }, () => {
    for (const options of engine === 'lmdb' ? [{}, { durability: 'process' }] : [{}]) {
      test(`bytes come back as they were: ${JSON.stringify(options)}`, () =>
        withStore(
          engine,
          async ({ attachments }) => {
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
              for await (const piece of found?.stream({ start: 500_000, end: 600_000 }) ?? [])
                some.push(piece);
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
          },
          options,
        ));
    }

    test('a source that fails leaves the old bytes, and nothing else', () =>
      withStore(engine, async (db, { path }) => {
        await db.attachments.put('Person', 1, 'a', 'old');
        async function* failing() {
          yield randomBytes(2_000_000);
          throw new Error('broken off');
        }
        await assert.rejects(db.attachments.put('Person', 1, 'a', failing()), /broken off/);
        assert.equal(
          Buffer.from((await db.attachments.get('Person', 1, 'a')?.bytes()) ?? '').toString(),
          'old',
        );
        assert.deepEqual((await db.attachments.verify()).strays, []);
        if (path !== undefined) assert.deepEqual(filesIn(path), []);
      }));

    test('a source may use its memory again, and what gives no bytes is refused', () =>
      withStore(engine, async (db) => {
        const memory = Buffer.alloc(100_000);
        async function* reused() {
          for (const byte of [1, 2, 3, 4, 5, 6, 7]) yield memory.fill(byte);
        }
        await db.attachments.put('Person', 1, 'a', reused());
        const bytes = (await db.attachments.get('Person', 1, 'a')?.bytes()) ?? [];
        assert.deepEqual([bytes.length, bytes[0], bytes[650_000]], [700_000, 1, 7]);
        const put = db.attachments.put('Person', 1, 'b', memory);
        memory.fill(8);
        await put;
        assert.deepEqual((await db.attachments.verify()).problems, []);
        for (const wrong of [undefined, null, 5, {}, [1, 2], new Uint16Array(3), new Set([{}])])
          await assert.rejects(db.attachments.put('Person', 1, 'c', /** @type {any} */ (wrong)), {
            code: 'ERR_ARG',
          });
        assert.equal(db.attachments.get('Person', 1, 'c'), undefined);
      }));

    test('a collection leaves an upload alone that is under way, on its own connection and on others', () =>
      // It once took the file from under a long upload: a lock tells nothing to the connection that holds it.
      withStore(engine, async (db, store) => {
        const other = open(store);
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

    // A second process cannot open a store of sled. On a server the test waits 15 seconds for the end of a lease.
    if (engine === 'lmdb' || (engine === 'postgres' && !isSample))
      test('an upload of another process is let alone, and collected when the process is killed', () =>
        withStore(engine, async (db, store) => {
          await db.attachments.put('Person', 1, 'a', 'old');
          const child = fork(UPLOADER, [JSON.stringify(store)]);
          const { next, end } = hear(child);
          assert.equal(await next(), 'half of it');
          await db.attachments.collect({ grace: 0 });
          child.send('go on');
          assert.equal(await next(), 'half of the second');
          assert.equal((await db.attachments.get('Person', 1, 'a')?.bytes())?.length, 2_200_000);
          child.kill('SIGKILL');
          assert.equal(await end(), 'SIGKILL');
          assert.equal((await db.attachments.get('Person', 1, 'a')?.bytes())?.length, 2_200_000);
          // On a server its lock is a lease, which ends some seconds later.
          for (let turn = 0; (await db.attachments.verify()).strays.length === 0; turn += 1) {
            assert.ok(turn < 600, 'what the process left is never taken for what it is');
            await sleep(100);
          }
          await db.attachments.collect({ grace: 0 });
          assert.deepEqual(await db.attachments.verify(), {
            attachments: 1,
            bytes: 2_200_000,
            problems: [],
            strays: [],
          });
        }));

    test('a collection takes what was replaced, what a dead process left, and what belonged to documents that are gone', () =>
      withStore(engine, async (db, { path }) => {
        const bytes = randomBytes(100_000);
        await db.attachments.put('Person', 1, 'a', bytes);
        await db.attachments.put('Person', 1, 'a', bytes);
        await db.attachments.put('Person', 2, 'b', bytes);
        assert.equal((await db.attachments.collect()).removed, 0);
        assert.equal((await db.attachments.collect({ grace: 0 })).removed, 1);
        const left = 'f'.repeat(32);
        if (engine === 'lmdb') {
          mkdirSync(join(String(path), 'uploads'));
          writeFileSync(join(String(path), 'uploads', left), 'left behind');
        } else db.global('%caretdb').set('attachments', 'bytes', left, 0, new Uint8Array(10));
        assert.deepEqual((await db.attachments.verify()).strays, [left]);
        db.global('Person').delete(2);
        assert.equal(db.attachments.get('Person', 2, 'b'), undefined);
        assert.deepEqual(await db.attachments.collect({ grace: 0 }), {
          busy: false,
          removed: 2,
          references: 1,
        });
        if (engine === 'lmdb') assert.equal(filesIn(String(path)).length, 1);
        assert.deepEqual(await db.attachments.verify(), {
          attachments: 1,
          bytes: 100_000,
          problems: [],
          strays: [],
        });
      }));

    test('who reads what is replaced and collected meanwhile gets all of it, or an error that says so', () =>
      withStore(engine, async (db) => {
        const bytes = randomBytes(2_000_000);
        await db.attachments.put('Person', 1, 'a', bytes);
        const found = db.attachments.get('Person', 1, 'a');
        const pieces = found?.stream()[Symbol.asyncIterator]();
        const read = [(await pieces?.next())?.value];
        await db.attachments.put('Person', 1, 'a', 'new');
        await db.attachments.collect({ grace: 0 });
        const rest = (async () => {
          for (let next = await pieces?.next(); next?.done === false; next = await pieces?.next())
            read.push(next.value);
        })();
        // An open file stays until it is closed.
        if (engine !== 'lmdb')
          return assert.rejects(rest, { code: 'ERR_BUSY', message: /replaced or deleted/ });
        await rest;
        assert.ok(bytes.equals(Buffer.concat(read)));
      }));

    if (engine !== 'lmdb')
      test('an upload that stood still until its bytes were collected is refused, and leaves the old ones', () =>
        withStore(engine, async (db) => {
          const own = db.global('%caretdb').at('attachments');
          await db.attachments.put('Person', 1, 'a', 'old');
          /** @param {(key: string) => void} collect what a collection does whose connection sees no lock */
          async function* overtaken(collect) {
            yield randomBytes(2_000_000);
            for (const key of own.at('bytes').keys()) if (!own.has('owner', key)) collect(String(key));
          }
          for (const collect of [
            (/** @type {string} */ key) => own.delete('bytes', key),
            (/** @type {string} */ key) => own.set('dropped', key, '0 nodes'),
          ]) {
            await assert.rejects(db.attachments.put('Person', 1, 'a', overtaken(collect)), {
              code: 'ERR_BUSY',
              message: /send it again/,
            });
            const { attachments, problems } = await db.attachments.verify();
            assert.deepEqual([attachments, problems], [1, []]);
          }
          assert.equal(db.attachments.get('Person', 1, 'a')?.size, 3);
          await db.attachments.collect({ grace: 0 });
          assert.deepEqual((await db.attachments.verify()).strays, []);
        }));

    test('nothing is collected while somebody else holds the lock', () =>
      withStore(engine, async (db, store) => {
        const other = open(store);
        assert.ok(other.global('%caretdb').lockFor(0, 'attachments', 'collect'));
        assert.equal((await db.attachments.collect()).busy, true);
        other.close();
        assert.equal((await db.attachments.collect()).busy, false);
      }));

    test('a check names what is missing, too short or other than it was', () =>
      withStore(engine, async (db, { path }) => {
        for (const name of ['changed', 'missing', 'short', 'whole'])
          await db.attachments.put('Person', name, 'a', randomBytes(100_000));
        const bytes = db.global('%caretdb').at('attachments', 'bytes');
        for (const [
          name,
          inFile,
          inNode,
        ] of /** @type {[string, (file: string) => void, (key: string) => void][]} */ ([
          [
            'changed',
            (file) => writeFileSync(file, randomBytes(100_000)),
            (key) => bytes.set(key, 0, randomBytes(100_000)),
          ],
          ['missing', (file) => rmSync(file), (key) => bytes.delete(key)],
          ['short', (file) => truncateSync(file, 99_999), (key) => bytes.set(key, 0, randomBytes(99_999))],
        ])) {
          const { key } = JSON.parse(String(db.global('%caretdb').get('attachment', 'Person', name, 'a')));
          if (engine === 'lmdb') inFile(join(String(path), 'attachments', key.slice(0, 2), key));
          else inNode(key);
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
  });
}
