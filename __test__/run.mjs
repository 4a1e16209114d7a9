// The test command: builds the addon if needed and runs the whole JavaScript suite on the Node.js at hand, on Node.js 24
// and on Bun. The last line it prints is the sum: `N passed, N failed, N skipped`.
//
//   npm test                          everything
//   npm test -- key documents         files whose path contains one of the words
//   npm test -- --runtime=bun         one runtime: this, node or bun
//
// Two files run at a time where there are two cores. What is long and the same on every runtime is whole on the first one;
// the others have CARETDB_TEST_SAMPLE=true.

import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BuildError, buildAddon } from '../js/build.mjs';
import { currentRuntime, pinnedRuntime } from './runner/runtimes.mjs';
import { runSuite, sum } from './runner/suite.mjs';

const tests = dirname(fileURLToPath(import.meta.url));
const root = dirname(tests);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runtime: { type: 'string', default: 'all' } },
});
const counts = await main(values.runtime, positionals);
if (counts.passed + counts.failed + counts.skipped === 0) console.log('No test ran.');
if (counts.failed > 0 || counts.passed === 0) process.exitCode = 1;
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);

/**
 * @param {string} choice
 * @param {string[]} words
 * @returns {Promise<import('./runner/suite.mjs').Counts>}
 */
async function main(choice, words) {
  if (!(await prepareAddon())) return { passed: 0, failed: 1, skipped: 0 };
  const files = testFiles().filter(
    (file) => words.length === 0 || words.some((word) => relative(root, file).includes(word)),
  );
  const all = [];
  for (const [number, runtime] of chooseRuntimes(choice).entries()) {
    if (number > 0) process.env.CARETDB_TEST_SAMPLE = 'true';
    all.push(await runOn(runtime, files));
  }
  return sum(all);
}

/**
 * @returns {Promise<boolean>} whether there is an addon to test
 */
async function prepareAddon() {
  try {
    await buildAddon();
    return true;
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.log(error.message);
    return false;
  }
}

/**
 * @returns {string[]} every test file of the repository, in a fixed order
 */
function testFiles() {
  const names = readdirSync(tests, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.test.mjs') && !name.includes('node_modules'))
    .sort()
    .map((name) => join(tests, name));
}

/**
 * Whether a test drives a browser, which works from Node.js only. Bun's server is among what these tests drive.
 *
 * @param {string} file
 */
function drivenFromNode(file) {
  return dirname(file) === join(tests, 'browser');
}

/**
 * @param {string} choice
 */
function chooseRuntimes(choice) {
  const current = currentRuntime();
  if (choice === 'this') return [current];
  if (choice === 'node' || choice === 'bun') return [pinnedRuntime(choice)];
  if (choice !== 'all') throw new TypeError(`--runtime must be this, node, bun or all, not ${choice}`);
  const others = [pinnedRuntime('node'), pinnedRuntime('bun')];
  return [current, ...others.filter(({ title }) => title !== current.title)];
}

/**
 * @param {import('./runner/runtimes.mjs').Runtime | import('./runner/runtimes.mjs').MissingRuntime} runtime
 * @param {string[]} files
 * @returns {Promise<import('./runner/suite.mjs').Counts>}
 */
async function runOn(runtime, files) {
  console.log(`\n=== ${runtime.title} ===`);
  if (runtime.path === undefined) {
    console.log(`SKIPPED ${runtime.title}: ${runtime.skip}`);
    // On a laptop without a network that is how it is; in CI it would hide a whole runtime.
    return process.env.CI === 'true'
      ? { passed: 0, failed: 1, skipped: 0 }
      : { passed: 0, failed: 0, skipped: 1 };
  }
  const own = files.filter((file) => runtime.kind === 'node' || !drivenFromNode(file));
  if (own.length === 0) return { passed: 0, failed: 0, skipped: 0 };
  const counts = await runSuite(runtime, own, { cwd: root, atOnce: Math.min(2, availableParallelism()) });
  console.log(
    `${runtime.title}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`,
  );
  return counts;
}
