// Runs test files on one runtime and counts what happened. The counts come from the runtimes' machine-readable reports,
// never from what tests print.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const tallyReporter = join(dirname(fileURLToPath(import.meta.url)), 'node-tally.mjs');

/** A file that takes longer than this hangs. It bounds a run; it is no measure of speed. */
const fileLimit = 20 * 60 * 1000;

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 */

/**
 * Runs test files, one after the other, each in a process of its own, and shows their output.
 *
 * @param {{ kind: 'node' | 'bun', path: string }} runtime
 * @param {string[]} files absolute paths of test files
 * @param {{ cwd: string, quiet?: boolean }} options `cwd`: the folder they run in; `quiet`: hide what they print
 * @returns {Counts} a file without a test, or one whose process dies, is at least one failure
 *
 * @example
 * const { failed } = runSuite({ kind: 'node', path: process.execPath }, [file], { cwd: root });
 */
export function runSuite(runtime, files, options) {
  const folder = mkdtempSync(join(tmpdir(), 'caretdb-run-'));
  try {
    const run = runtime.kind === 'bun' ? runOnBun : runOnNode;
    return run(runtime.path, files, { ...options, report: join(folder, 'report') });
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
 * @param {string} path
 * @param {string[]} files
 * @param {{ cwd: string, quiet?: boolean, report: string }} options
 * @returns {Counts}
 */
function runOnNode(path, files, { cwd, quiet, report }) {
  const reporters = ['--test-reporter=spec', '--test-reporter-destination=stdout'];
  reporters.push(`--test-reporter=${tallyReporter}`, `--test-reporter-destination=${report}`);
  const args = ['--test', '--test-concurrency=1', `--test-timeout=${fileLimit}`, ...reporters, ...files];
  const status = run(path, args, { cwd, quiet, timeout: files.length * fileLimit });
  const text = existsSync(report) ? readFileSync(report, 'utf8') : '';
  if (!text) return { passed: 0, failed: 1, skipped: 0 };
  const { empty, ...counts } = JSON.parse(text);
  if (!quiet) for (const file of empty) console.log(`${file} holds no test`);
  if (status !== 0 && counts.failed === 0) counts.failed = 1;
  return counts;
}

/**
 * Bun runs all the files it is given in one process, so that a crash would take the others with it: one call per file.
 *
 * @param {string} path
 * @param {string[]} files
 * @param {{ cwd: string, quiet?: boolean, report: string }} options
 * @returns {Counts}
 */
function runOnBun(path, files, { cwd, quiet, report }) {
  const say = quiet ? () => {} : console.log;
  return sum(
    files.map((file) => {
      rmSync(report, { force: true });
      const reporter = ['--reporter=junit', `--reporter-outfile=${report}`];
      const args = ['test', `--timeout=${fileLimit}`, ...reporter, file];
      const status = run(path, args, { cwd, quiet, timeout: fileLimit });
      const counts = readJunit(existsSync(report) ? readFileSync(report, 'utf8') : '');
      if (counts.passed + counts.failed + counts.skipped === 0) {
        say(`${relative(cwd, file)} ${status === 0 ? 'holds no test' : `failed as a whole (${status})`}`);
        counts.failed = 1;
      } else if (status !== 0 && counts.failed === 0) {
        say(`${relative(cwd, file)} ended with status ${status}`);
        counts.failed = 1;
      }
      return counts;
    }),
  );
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
 * @param {{ cwd: string, quiet?: boolean, timeout: number }} options
 * @returns {number | NodeJS.Signals | null} the exit status, or the signal that ended it
 */
function run(program, args, { cwd, quiet, timeout }) {
  const env = { ...process.env };
  delete env.NODE_TEST_CONTEXT; // a test that runs tests would otherwise report to the outer run
  delete env.CARETDB_PATH; // a developer's own store is no place for tests
  const { status, signal, error } = spawnSync(program, args, {
    cwd,
    env,
    timeout,
    killSignal: 'SIGKILL',
    stdio: ['ignore', quiet ? 'ignore' : 'inherit', quiet ? 'ignore' : 'inherit'],
  });
  if (error) console.log(`${program}: ${error.message}`);
  return status ?? signal;
}
