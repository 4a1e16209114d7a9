// Counts the instructions of the hot calls (see hot/main.rs) under valgrind and compares them with the committed counts,
// so that a call that has become slower shows on any machine, however busy. Needs Rust and valgrind.
//
//     node instructions.mjs            fails where a count has grown by more than the tolerance
//     node instructions.mjs --update   writes the counts to instructions.json, after a change that is meant
//     node instructions.mjs set-process get      only these calls
//
// A count belongs to a compiler and to the C library's copies for a processor, so it may differ a little, and more with another
// compiler than the one in instructions.json.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { debianProgram } from '../__test__/real/debian.mjs';

const CALLS = 8000;
/** How many percent a count may grow: with the compiler that the committed counts are from, and with another one. */
const TOLERANCE = { same: 4, other: 15 };
const committed = new URL('instructions.json', import.meta.url);
const repository = fileURLToPath(new URL('..', import.meta.url));

/** @param {string} program @param {string[]} options @returns {{ out: string, err: string }} */
function run(program, options) {
  const done = spawnSync(program, options, { cwd: repository, encoding: 'utf8' });
  if (done.error !== undefined || done.status !== 0)
    throw new Error(`${program} ${options.join(' ')} failed: ${done.error?.message ?? done.stderr}`);
  return { out: done.stdout, err: done.stderr };
}

/** @returns {string} the program that makes the calls */
function build() {
  const { out } = run('cargo', [
    'build',
    '--profile',
    'counted',
    '--example',
    'hot',
    '--message-format=json',
  ]);
  const lines = out.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line)).findLast((made) => made.executable).executable;
}

/** @param {string} valgrind @param {string} hot @param {string} name @returns {number} instructions of one call */
function count(valgrind, hot, name) {
  const folder = mkdtempSync(join(tmpdir(), 'caretdb-instructions-'));
  try {
    const { err } = run(valgrind, [
      '--tool=callgrind',
      '--collect-atstart=no',
      '--toggle-collect=measured',
      `--callgrind-out-file=${join(folder, 'out')}`,
      hot,
      name,
      String(CALLS),
    ]);
    const collected = Number(/Collected\s*:\s*(\d+)/.exec(err)?.[1]);
    if (!(collected > 0)) throw new Error(`valgrind counted nothing for ${name}:\n${err}`);
    return Math.round(collected / CALLS);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { values, positionals } = parseArgs({
  options: { update: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const valgrind = debianProgram({ package: 'valgrind', programs: ['valgrind'] });
if (valgrind.path === undefined) {
  console.error(`SKIPPED: ${valgrind.skip}`);
  // On a laptop that is how it is; in CI nothing may be left out.
  process.exit(process.env.CI === 'true' ? 1 : 0);
}
const compiler = run('rustc', ['--version']).out.trim();
const known = JSON.parse(readFileSync(committed, 'utf8'));
const tolerance = known.compiler === compiler ? TOLERANCE.same : TOLERANCE.other;
const hot = build();
const names = positionals.length > 0 ? positionals : run(hot, ['list']).out.trim().split('\n');
/** @type {Record<string, number>} */
const counts = {};
let grown = 0;
console.log('call                 committed       now');
for (const name of names) {
  counts[name] = count(valgrind.path, hot, name);
  const before = known.counts[name];
  const percent = before === undefined ? 0 : (counts[name] / before - 1) * 100;
  const verdict = percent > tolerance ? '  GROWN' : '';
  if (verdict !== '') grown++;
  console.log(
    `${name.padEnd(20)} ${String(before ?? 'new').padStart(9)} ${String(counts[name]).padStart(9)} ${percent.toFixed(1).padStart(6)} %${verdict}`,
  );
}
if (values.update) {
  const next = { compiler, counts: { ...known.counts, ...counts } };
  writeFileSync(committed, `${JSON.stringify(next, undefined, 2)}\n`);
} else if (grown > 0) {
  console.error(
    `${grown} of the hot calls take more instructions than before by over ${tolerance} %. Find out why ` +
      '(callgrind_annotate shows where), or, where it is meant, run `node bench/instructions.mjs --update` and commit the file.',
  );
  process.exit(1);
}
