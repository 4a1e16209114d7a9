// The floor under the hot calls: what LMDB takes when Rust calls it, and what crossing into native code takes with
// nothing behind it. A call cannot be quicker than the two together.
//
//     node floor.mjs [--records 1000000] [--rounds 5] [--json file]
//
// Answers nanoseconds: `{"lmdb": {"set": …}, "border": {"set": …}, "floor": {"set": …}}`, the sums under `floor`.

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median } from './run/statistics.mjs';

const repository = fileURLToPath(new URL('..', import.meta.url));
const LIBRARY = { darwin: 'libfloor_border.dylib', win32: 'floor_border.dll' };

/** The calls that are timed; each comes with the arguments of a hot call. */
const CALLS = {
  /** @param {any} border @param {number} count */
  nothing(border, count) {
    for (let n = 0; n < count; n++) border.nothing();
  },
  /** @param {any} border @param {number} count */
  set(border, count) {
    for (let n = 0; n < count; n++) border.set(n, 'hello world');
  },
  /** @param {any} border @param {number} count */
  get(border, count) {
    for (let n = 0; n < count; n++) if (border.get(n) !== 'hello world') throw new Error('a wrong answer');
  },
  /** @param {any} border @param {number} count */
  next(border, count) {
    let found = '1';
    for (let n = 0; n < count; n++) found = border.next(found);
  },
  /** @param {any} border @param {number} count */
  increment(border, count) {
    for (let n = 0; n < count; n++) border.increment('counter', 1);
  },
};

/** @param {string[]} options @returns {string} what cargo printed */
function cargo(...options) {
  const done = spawnSync('cargo', options, {
    cwd: repository,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (done.error !== undefined || done.status !== 0)
    throw new Error(`cargo ${options.join(' ')} failed: ${done.error?.message ?? done.status}`);
  return done.stdout;
}

/** @returns {any} the functions of `floor/border.rs` */
function loadBorder() {
  const built = cargo('build', '--release', '--example', 'floor_border', '--message-format=json');
  const name = /** @type {Record<string, string>} */ (LIBRARY)[process.platform] ?? 'libfloor_border.so';
  const file = built
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .flatMap((line) => JSON.parse(line).filenames ?? [])
    .find((path) => path.endsWith(name));
  const folder = mkdtempSync(join(tmpdir(), 'caretdb-floor-'));
  const addon = join(folder, 'border.node');
  copyFileSync(file, addon);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return createRequire(import.meta.url)(addon);
}

/**
 * @param {number} count
 * @param {number} rounds
 * @returns {Record<string, number>} nanoseconds for each call
 */
function timeBorder(count, rounds) {
  const border = loadBorder();
  /** @type {Record<string, number[]>} */
  const samples = {};
  for (let round = 0; round <= rounds; round++) {
    for (const [name, call] of Object.entries(CALLS)) {
      const begun = process.hrtime.bigint();
      call(border, count);
      const each = Number(process.hrtime.bigint() - begun) / count;
      // The first round only lets the runtime compile the loops.
      if (round > 0) samples[name] = [...(samples[name] ?? []), each];
    }
  }
  return Object.fromEntries(Object.entries(samples).map(([name, all]) => [name, Math.round(median(all))]));
}

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
  },
});
const border = timeBorder(Number(values.records), Number(values.rounds));
/** @type {Record<string, number>} */
const lmdb = JSON.parse(
  cargo('run', '--release', '--quiet', '--example', 'floor_lmdb', '--', values.records, values.rounds),
);
const floor = Object.fromEntries(
  Object.entries(lmdb).map(([name, each]) => [name, each + border[name.split(',')[0]]]),
);
const answer = JSON.stringify({ unit: 'ns', lmdb, border, floor }, undefined, 1);
if (values.json !== undefined) writeFileSync(values.json, `${answer}\n`);
console.log(answer);
