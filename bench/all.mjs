// Runs every benchmark, one after the other, and makes RESULTS.md of what they found.
//
//   node all.mjs [--quick | --full]
//
// --quick shows in a minute or so that all work; its results go to results-quick. --full takes the sizes that the published
// tables have, and hours.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/**
 * Each with the options of a run that takes minutes, and of one that takes hours.
 *
 * @type {{ name: string, usual?: string[], full?: string[] }[]}
 */
const BENCHMARKS = [
  { name: 'keyvalue', full: ['--records', '10000000'] },
  { name: 'documents' },
  { name: 'http-documents' },
  { name: 'static-pages' },
  { name: 'attachments' },
  { name: 'scale', usual: ['--num_batches', '50'], full: ['--num_batches', '250'] },
  { name: 'scaling' },
  { name: 'start' },
];

const { values } = parseArgs({ options: { quick: { type: 'boolean' }, full: { type: 'boolean' } } });
const folder = fileURLToPath(new URL('.', import.meta.url));

/** @param {string} program @param {string[]} options @returns {string | undefined} what is wrong, if it ended so */
function run(program, options) {
  const { status, signal } = spawnSync(process.execPath, [`${program}.mjs`, ...options], {
    cwd: folder,
    stdio: 'inherit',
  });
  return status === 0 ? undefined : `${program} ended with ${status ?? signal}`;
}

/** @param {string | undefined} problem */
function endWith(problem) {
  if (problem === undefined) return;
  console.error(problem);
  process.exit(1);
}

for (const { name, usual = [], full = usual } of BENCHMARKS) {
  console.error(`--- ${name}`);
  if (values.quick) endWith(run(name, ['--quick']));
  else endWith(run(name, values.full ? full : usual));
}
if (!values.quick) {
  // What hot calls are held against. It compiles Rust, which not everybody has who has the addon.
  const problem = run('floor', ['--json', 'results/floor.json']);
  if (problem !== undefined) console.error(`SKIPPED: ${problem}`);
}
endWith(run('results', values.quick ? ['--from', 'results-quick'] : []));
