// Runs test files on one runtime and counts what happened. The counts come from the runtimes' machine-readable reports,
// never from what tests print.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const tallyReporter = join(dirname(fileURLToPath(import.meta.url)), 'node-tally.mjs');

/** A file that takes longer than this hangs. It bounds a run; it is no measure of speed. */
const fileLimit = 10 * 60 * 1000;

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 */

/**
 * Runs test files, each in a process of its own, and shows their output.
 *
 * @param {{ kind: 'node' | 'bun', path: string }} runtime
 * @param {string[]} files absolute paths of test files
 * @param {{ cwd: string, quiet?: boolean, atOnce?: number }} options `cwd`: the folder they run in; `quiet`: hide what they
 *   print; `atOnce`: how many run at a time, default 1
 * @returns {Promise<Counts>} a file without a test, or one whose process dies, is at least one failure
 *
 * @example
 * const { failed } = await runSuite({ kind: 'node', path: process.execPath }, [file], { cwd: root });
 */
export async function runSuite(runtime, files, { cwd, quiet = false, atOnce = 1 }) {
  const folder = mkdtempSync(join(tmpdir(), 'caretdb-run-'));
  try {
    const run = runtime.kind === 'bun' ? runOnBun : runOnNode;
    return await run(runtime.path, files, { cwd, quiet, atOnce, folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {Counts[]} all
 * @returns {Counts}
 */
export function sum(all) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const counts of all) {
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
  }
  return total;
}

/**
 * @typedef {{ cwd: string, quiet: boolean, atOnce: number, folder: string }} Settings `folder`: for reports
 */

/**
 * @param {string} path
 * @param {string[]} files
 * @param {Settings} settings
 * @returns {Promise<Counts>}
 */
async function runOnNode(path, files, { cwd, quiet, atOnce, folder }) {
  const report = join(folder, 'report');
  const reporters = ['--test-reporter=spec', '--test-reporter-destination=stdout'];
  reporters.push(`--test-reporter=${tallyReporter}`, `--test-reporter-destination=${report}`);
  const limits = [`--test-concurrency=${atOnce}`, `--test-timeout=${fileLimit}`];
  const show = quiet ? 'ignore' : 'inherit';
  const ending = await run(path, ['--test', ...limits, ...reporters, ...files], {
    cwd,
    limit: files.length * fileLimit,
    show,
  });
  const text = existsSync(report) ? readFileSync(report, 'utf8') : '';
  if (!text) {
    if (!quiet) console.log(`the tests ended with ${ending}`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const { empty, ...counts } = JSON.parse(text);
  if (!quiet) for (const file of empty) console.log(`${file} holds no test`);
  if (ending !== 0 && counts.failed === 0) counts.failed = 1;
  return counts;
}

/**
 * Bun runs all the files it is given in one process, so that a crash would take the others with it: one call per file.
 *
 * @param {string} path
 * @param {string[]} files
 * @param {Settings} settings
 * @returns {Promise<Counts>}
 */
async function runOnBun(path, files, { cwd, quiet, atOnce, folder }) {
  const left = [...files.entries()];
  /** @type {Counts[]} */
  const all = [];
  const runNext = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [number, file] = next;
      const { counts, output } = await runFileOnBun(path, file, {
        cwd,
        report: join(folder, String(number)),
      });
      all.push(counts);
      if (!quiet) process.stdout.write(output);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runNext));
  return sum(all);
}

/**
 * @param {string} path
 * @param {string} file
 * @param {{ cwd: string, report: string }} where
 * @returns {Promise<{ counts: Counts, output: string }>} the output as one text, so that what two files print is not mixed
 */
async function runFileOnBun(path, file, { cwd, report }) {
  const reporter = ['--reporter=junit', `--reporter-outfile=${report}`];
  const args = ['test', `--timeout=${fileLimit}`, ...reporter, file];
  // Into a file and not through a pipe, which a process that the tests left behind would hold open.
  const printed = openSync(`${report}.txt`, 'w+');
  const ending = await run(path, args, { cwd, limit: fileLimit, show: printed });
  let output = readFileSync(`${report}.txt`, 'utf8');
  closeSync(printed);
  const counts = readJunit(existsSync(report) ? readFileSync(report, 'utf8') : '');
  if (counts.passed + counts.failed + counts.skipped === 0) {
    output += `${relative(cwd, file)} ${ending === 0 ? 'holds no test' : `failed as a whole (${ending})`}\n`;
    counts.failed = 1;
  } else if (ending !== 0 && counts.failed === 0) {
    output += `${relative(cwd, file)} ended with ${ending}\n`;
    counts.failed = 1;
  }
  return { counts, output };
}

/**
 * @param {string} xml a JUnit report, or nothing
 * @returns {Counts}
 */
function readJunit(xml) {
  const root = /<testsuites\b[^>]*>/.exec(xml)?.[0] ?? '';
  const [tests, failed, skipped] = ['tests', 'failures', 'skipped'].map((name) =>
    Number(new RegExp(`\\b${name}="(\\d+)"`).exec(root)?.[1] ?? 0),
  );
  return { passed: tests - failed - skipped, failed, skipped };
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd: string, limit: number, show: 'inherit' | 'ignore' | number }} options `limit`: milliseconds, after which it is
 *   killed; `show`: where its output goes
 * @returns {Promise<number | string>} the exit status, or what ended it or kept it from starting
 */
async function run(program, args, { cwd, limit, show }) {
  const env = { ...process.env };
  delete env.NODE_TEST_CONTEXT; // a test that runs tests would otherwise report to the outer run
  delete env.CARETDB_PATH; // a developer's own store is no place for tests
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', show, show] });
  let late = '';
  const timer = setTimeout(() => {
    late = ` after ${limit / 60_000} minutes`;
    child.kill('SIGKILL');
  }, limit);
  try {
    const [status, signal] = await once(child, 'exit');
    return status ?? `${signal}${late}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    clearTimeout(timer);
  }
}
