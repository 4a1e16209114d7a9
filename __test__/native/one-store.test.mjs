// One store, whoever opens it: openers with another idea of the size of its maps, a second copy of the addon, processes that
// cannot tell each other apart. Each of these once killed writers or let two of them in.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { open } from 'caretdb';
import { newFolder } from '../mg-dbx/store.mjs';

const ENTRY = new URL('../../js/index.mjs', import.meta.url).href;
const ADDON = fileURLToPath(new URL('../../caretdb.node', import.meta.url));
const isLinux = process.platform === 'linux';
/** KiB: files may be this long, so that a store's map of 1 TiB is refused. */
const LIMIT = 64 << 20;

/** @param {string} program @returns {string[]} how this runtime runs it */
function command(program) {
  const source = `import { open } from ${JSON.stringify(ENTRY)};\n${program}`;
  return process.versions.bun === undefined ? ['--input-type=module', '-e', source] : ['-e', source];
}

/**
 * A program in a process whose files may not become longer than the limit.
 *
 * @param {string} program
 * @returns {string[]} arguments of a shell
 */
function limited(program) {
  const script = `trap '' XFSZ; ulimit -f ${LIMIT}; exec "$0" "$@"`;
  return ['-c', script, process.execPath, ...command(program)];
}

const WRITE_ON = (/** @type {string} */ path) => `
  const db = open(${JSON.stringify(path)});
  console.log(db.stats().mapBytes);
  setInterval(() => { for (let n = 0; n < 100; n++) db.global('Writer').increment('count', 1); }, 1);`;

/** @param {import('node:child_process').ChildProcessWithoutNullStreams} child */
async function firstLine(child) {
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('it ended before it said anything');
}

/** @param {import('caretdb').Database} db @param {import('node:child_process').ChildProcess} writer */
async function assertWritesOn(db, writer) {
  const before = /** @type {number} */ (db.global('Writer').get('count') ?? 0);
  for (let wait = 0; wait < 500 && db.global('Writer').get('count') === before; wait++) await sleep(10);
  assert.ok(/** @type {number} */ (db.global('Writer').get('count')) > before);
  assert.deepEqual([writer.exitCode, writer.signalCode], [null, null]);
}

it('an opener that could have a larger map takes the one that the store has', {
  skip: !isLinux,
}, async () => {
  const path = newFolder();
  const writer = spawn('bash', limited(WRITE_ON(path)));
  const mapBytes = Number(await firstLine(writer));
  assert.ok(mapBytes <= LIMIT * 1024, `${mapBytes} bytes is more than a file may have there`);
  const db = open(path);
  assert.equal(db.stats().mapBytes, mapBytes);
  assert.equal(statSync(join(path, 'working.mdb')).size, mapBytes);
  for (let number = 0; number < 1000; number++) db.global('Mine').set(number, 'x'.repeat(1000));
  await assertWritesOn(db, writer);
  db.close();
  writer.kill('SIGKILL');
});

it('an opener that could not have so large a map does not cut the file under a writer', {
  skip: !isLinux,
}, async () => {
  const path = newFolder();
  const writer = spawn(process.execPath, command(WRITE_ON(path)));
  await firstLine(writer);
  const db = open(path);
  const { mapBytes } = db.stats();
  assert.ok(mapBytes > LIMIT * 1024);
  const other = spawnSync(
    'bash',
    limited(
      `const db = open(${JSON.stringify(path)}); db.global('Other').set(1, 'x'); console.log(db.stats().mapBytes); db.close();`,
    ),
    { encoding: 'utf8' },
  );
  assert.equal(other.stdout, `${mapBytes}\n`, other.stderr);
  assert.equal(statSync(join(path, 'working.mdb')).size, mapBytes);
  assert.equal(db.global('Other').get(1), 'x');
  await assertWritesOn(db, writer);
  db.close();
  writer.kill('SIGKILL');
});

it('a second copy of the addon in one process is refused, and both are named', () => {
  const path = newFolder();
  const copy = join(newFolder(), 'copy.node');
  copyFileSync(ADDON, copy);
  const db = open(path);
  db.global('A').set(1);
  const second = new (createRequire(import.meta.url)(copy).server)();
  assert.throws(
    () => second.open({ path }),
    (/** @type {any} */ error) => {
      assert.equal(error.code, 'ERR_LOCKED');
      assert.ok(error.message.includes(copy), error.message);
      assert.ok(error.message.includes(ADDON), error.message);
      return true;
    },
  );
  db.global('A').set(2);
  db.close();
  second.open({ path });
  assert.equal(second.get('A'), '2');
  assert.throws(() => open(path), { code: 'ERR_LOCKED' });
  second.close();
  open(path).close();
});

const apart = isLinux && spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0;
const skip = apart ? false : 'SKIPPED: this user may not make a PID namespace';

it('a process of another PID namespace is refused while the store is in use, with advice', { skip }, () => {
  const path = newFolder();
  const db = open(path);
  db.global('A').set(1);
  const program = command(
    `try { open(${JSON.stringify(path)}); } catch (error) { console.log(error.code, error.message); }`,
  );
  const there = () =>
    spawnSync('unshare', ['--pid', '--fork', process.execPath, ...program], { encoding: 'utf8' });
  assert.match(there().stdout, /^ERR_LOCKED .*PID namespace/);
  assert.equal(db.global('A').get(), 1);
  db.close();
  assert.equal(there().stdout, '');
  const again = open(path);
  assert.equal(again.global('A').get(), 1);
  again.close();
});
