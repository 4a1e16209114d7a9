// The fuzz command: lets each fuzzer look for a fault for some time. What it finds lies in artifacts/ and in the crate's
// own `artifacts` folder.
//
//   npm run fuzz                             a minute each
//   npm run fuzz -- --seconds 600 documents  ten minutes of one of them: keys, values, documents, exchange
//
// The coverage-guided ones are cargo fuzz's. It needs flags that the stable compiler only takes with RUSTC_BOOTSTRAP, and is
// built into .tools/ the first time.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const VERSION = '0.13.1';
const root = fileURLToPath(new URL('../..', import.meta.url));
const tool = join(root, '.tools', `cargo-fuzz-${VERSION}`);
const targets = ['keys', 'values', 'documents'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '60' } },
});
const chosen = positionals.length > 0 ? positionals : [...targets, 'exchange'];
for (const name of chosen) {
  if (name === 'exchange') run('node', ['__test__/fuzz/exchange.mjs', '--seconds', values.seconds]);
  else if (targets.includes(name)) fuzz(name);
  else throw new Error(`there is no fuzzer ${name}: ${targets.join(', ')}, exchange`);
}

/** @param {string} target */
function fuzz(target) {
  const program = join(tool, 'bin', 'cargo-fuzz');
  if (!existsSync(program))
    run('cargo', ['install', 'cargo-fuzz', '--locked', '--version', VERSION, '--root', tool]);
  // It adds what it learns to the corpus, which is a folder of its own for that reason.
  const corpus = mkdtempSync(join(tmpdir(), `caretdb-fuzz-${target}-`));
  cpSync(join(root, '__test__', 'fuzz', 'corpus', target), corpus, { recursive: true });
  mkdirSync(join(root, 'artifacts'), { recursive: true });
  try {
    const args = [
      'fuzz',
      'run',
      target,
      corpus,
      '--fuzz-dir',
      '__test__/fuzz',
      '--target-dir',
      'target/fuzz',
    ];
    run(program, [
      ...args,
      '--',
      `-max_total_time=${values.seconds}`,
      `-artifact_prefix=artifacts/${target}-`,
    ]);
  } finally {
    rmSync(corpus, { recursive: true, force: true });
  }
}

/**
 * @param {string} program
 * @param {string[]} args
 */
function run(program, args) {
  console.log(`\n--- ${program} ${args.join(' ')}`);
  const ran = spawnSync(program, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, RUSTC_BOOTSTRAP: '1' },
  });
  if (ran.error) throw ran.error;
  if (ran.status !== 0) process.exit(ran.status ?? 1);
}
