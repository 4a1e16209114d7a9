// What hands from outside do to a store's files is told with a code, or made good from what is left; it never kills the
// process, and never shows a store as empty that is not.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { open } from '../../js/index.mjs';

const folder = mkdtempSync(join(tmpdir(), 'caretdb-hands-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/**
 * @param {string} name
 * @param {import('../../index.d.ts').OpenOptions} [options]
 * @returns {string} the folder of a closed store with a thousand records
 */
function madeStore(name, options = {}) {
  const path = join(folder, name);
  const db = open(path, options);
  const global = db.global('Kept');
  for (let n = 0; n < 1000; n++) global.set(n, 'v'.repeat(100));
  db.close();
  return path;
}

/** @param {string} path */
function count(path) {
  const db = open(path);
  try {
    return db.global('Kept').count();
  } finally {
    db.close();
  }
}

for (const [what, length] of /** @type {const} */ ([
  ['emptied', 0],
  ['cut to a few pages', 12_288],
])) {
  test(`a working file that was ${what} is made anew from the durable file`, () => {
    const path = madeStore(`working-${length}`);
    truncateSync(join(path, 'working.mdb'), length);
    assert.equal(count(path), 1000);
  });
}

test('a working file that was cut is damage where there is no durable file', () => {
  const path = madeStore('process', { durability: 'process' });
  truncateSync(join(path, 'working.mdb'), 12_288);
  assert.throws(() => open(path), { code: 'ERR_CORRUPT' });
});

for (const [what, cut] of /** @type {[string, (length: number) => number][]} */ ([
  ['two pages', (length) => length - 8192],
  ['half', (length) => Math.floor(length / 2)],
  ['all but one page', () => 4096],
  ['all but two pages and a bit', () => 8292],
])) {
  test(`a durable file that lost ${what} is damage, alone in its folder`, () => {
    const path = madeStore(`durable-${what}`);
    const bytes = readFileSync(join(path, 'durable.mdb'));
    const restored = mkdtempSync(join(folder, 'restored-'));
    writeFileSync(join(restored, 'durable.mdb'), bytes.subarray(0, cut(bytes.length)));
    assert.throws(() => open(restored), { code: 'ERR_CORRUPT' });
  });
}

test('a path names the folder that is there now, not one that was', () => {
  const path = join(folder, 'moved');
  const first = open(path);
  first.global('Kept').set(1, 'first');
  renameSync(path, `${path}-away`);
  const second = open(path);
  try {
    assert.equal(second.global('Kept').get(1), undefined);
    second.global('Kept').set(2, 'second');
  } finally {
    second.close();
    first.close();
  }
  const again = open(path);
  assert.deepEqual([again.global('Kept').get(1), again.global('Kept').get(2)], [undefined, 'second']);
  again.close();
});

test('a refused value takes no room', () => {
  const db = open(join(folder, 'refused'));
  const { reservedBytes } = db.stats();
  assert.throws(() => db.global('Kept').set('large', new Uint8Array(2 ** 30 + 1)), { code: 'ERR_TOO_LARGE' });
  assert.equal(db.stats().reservedBytes, reservedBytes);
  db.close();
});

test("the readers' slots have their blocks before they are needed", {
  skip: process.platform !== 'linux' && 'reserves on Linux only',
}, () => {
  const path = join(folder, 'slots');
  const db = open(path);
  const { blocks, size } = statSync(join(path, 'working.mdb-lock'));
  assert.ok(blocks * 512 >= size, `${blocks} blocks for ${size} bytes`);
  assert.ok(existsSync(join(path, 'header')) && readdirSync(path).length > 3);
  db.close();
});
