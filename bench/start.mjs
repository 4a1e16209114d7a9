// What CaretDB costs before it does anything: the size of the addon, and the time from the start of a process to an open store.

import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { makeFolder, removeFolder } from './run/folders.mjs';
import { readOptions } from './run/options.mjs';
import { progress, progressDone } from './run/progress.mjs';
import { beginResult, makeTable } from './run/report.mjs';
import { runtime } from './run/runtimes.mjs';

const PACKAGE = new URL('../js/index.mjs', import.meta.url).href;

/**
 * The steps of each, as JavaScript; `folder` is an empty one.
 *
 * @type {Record<string, { module: string, open: string, write: string }>}
 */
const PEERS = {
  CaretDB: {
    module: PACKAGE,
    open: 'module.open(folder)',
    write: "db.global('start').set(1, 'hello')",
  },
  lmdb: {
    module: 'lmdb',
    open: 'module.open({ path: folder, noSync: true })',
    write: "db.putSync(1, 'hello')",
  },
  'better-sqlite3': {
    module: 'better-sqlite3',
    open: "new module.default(folder + '/bench.db')",
    write:
      "db.exec('create table t (k primary key, v) without rowid'); db.prepare('insert into t values (?, ?)').run(1, 'hello')",
  },
};

/** @param {{ module: string, open: string, write: string }} steps @returns {string} a program that says how many milliseconds each took */
function programOf({ module, open, write }) {
  return `const folder = process.argv.at(-1);
const begun = performance.now();
const module = await import(${JSON.stringify(module)});
const imported = performance.now();
const db = ${open};
const opened = performance.now();
${write};
const written = performance.now();
console.log(JSON.stringify({ import: imported - begun, 'open a new store': opened - imported, 'first write': written - opened }));
await db.close();`;
}

const options = readOptions('start', {});
const result = beginResult('start', 'Size and start', options);
/** @type {import('./run/statistics.mjs').Sample[]} */
const samples = [];
/** @type {Map<string, string>} */
const failed = new Map();
for (let round = 0; round < options.rounds; round++) {
  for (const [name, steps] of Object.entries(PEERS)) {
    const program = programOf(steps);
    for (const at of /** @type {const} */ (name === 'CaretDB' ? ['node', 'bun'] : ['node'])) {
      const found = runtime(at);
      if ('missing' in found) continue;
      const peer = at === 'bun' ? `${name}, Bun` : name;
      progress(`round ${round + 1} of ${options.rounds}: ${peer}`);
      const folder = makeFolder();
      const file = at === 'bun' ? ['-e', program, folder] : ['--input-type=module', '-e', program, folder];
      const { status, stdout, stderr } = spawnSync(found.path, file, {
        encoding: 'utf8',
        cwd: new URL('.', import.meta.url),
      });
      removeFolder(folder);
      if (status === 0) {
        for (const [step, rate] of Object.entries(JSON.parse(stdout))) samples.push({ peer, step, rate });
      } else {
        if (name === 'CaretDB') throw new Error(stderr);
        failed.set(name, /Error: .*/.exec(stderr)?.[0] ?? `ended with ${status}`);
      }
    }
  }
}
progressDone();
const addon = statSync(new URL('../caretdb.node', import.meta.url)).size;
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const what =
  `The addon of version ${version} for ${process.platform}-${process.arch} has ${(addon / 1e6).toFixed(2)} MB. One operation is one step of a fresh ` +
  'process: the import of the package, the opening of a store in an empty folder, the first write of one short value.';
const peers = [...new Set(samples.map(({ peer }) => peer))].map((name) => ({ name, durability: '' }));
result.finish([{ ...makeTable('Start', what, peers, samples, 'milliseconds'), plot: false }], {
  runtimes: [runtime('node').title, runtime('bun').title],
  notes: [...failed].map(([name, why]) => `${name}: ${why}`),
});
