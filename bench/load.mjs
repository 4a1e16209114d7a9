// Both servers under load: 100 kept-alive connections for half a minute, the same JSON answered in the main thread and by a
// handler in one of two workers, in turns; then as long again with 1,000 connections beside them that do nothing. Errors, rates,
// latencies and memory.
//
//     node load.mjs [--seconds 30] [--rounds 3] [--connections 100] [--idle 1000] [--quick]

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { holdIdle } from './load/idle.mjs';
import { loadWith } from './load/loader.mjs';
import { workFolder } from './run/machine.mjs';
import { whole } from './run/options.mjs';
import { runtime } from './run/runtimes.mjs';
import { median } from './run/statistics.mjs';

const { values: given } = parseArgs({
  options: {
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    connections: { type: 'string' },
    idle: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});
const seconds = whole(given.seconds, given.quick ? 3 : 30, 'seconds');
const rounds = whole(given.rounds, given.quick ? 1 : 3, 'rounds');
const connections = whole(given.connections, 100, 'connections');
const idle = whole(given.idle, 1000, 'idle');

/** For how many seconds those that do nothing are silent at a time: Bun.serve hangs up after ten. */
const SILENCE = 5;

const ROUTES = { plain: '/local', pool: '/user/1' };
const root = fileURLToPath(new URL('..', import.meta.url));

/** @param {string} path of the runtime @param {string} program @param {string} folder */
async function startServer(path, program, folder) {
  const child = spawn(path, [program, '--port', '0', '--data', folder], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const found = / listens on \S+:(\d+);/.exec(output);
      if (found !== null) resolve(Number(found[1]));
    });
    child.once('exit', () => reject(new Error(`${program} ended: ${output}`)));
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  return { child, port, ended };
}

/** @param {number | undefined} pid @returns {number} MiB of memory, all threads */
function memoryOf(pid) {
  const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1]) / 1024;
}

/** @param {number} number */
const rounded = (number) => Number(number.toPrecision(4));

/** @param {string} kind 'node' or 'bun' @param {string} program */
async function measure(kind, program) {
  const found = runtime(kind);
  if (!('path' in found)) return console.log(`${program}: SKIPPED, ${found.missing}`);
  const folder = mkdtempSync(join(workFolder(), 'caretdb-load-'));
  const { child, port, ended } = await startServer(found.path, program, folder);
  try {
    const made = await fetch(`http://127.0.0.1:${port}/user`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"firstName":"Rob","lastName":"Tweed"}',
    });
    if (made.status !== 200) throw new Error(`POST /user answered ${made.status}`);
    for (const path of Object.values(ROUTES)) await loadWith({ port, path, connections, seconds: 1 });
    /** @type {Record<string, import('./load/loader.mjs').Loaded[]>} */
    const loaded = { plain: [], pool: [] };
    /** @type {number[]} */
    const memory = [];
    const sampler = setInterval(() => memory.push(memoryOf(child.pid)), 250);
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, path] of Object.entries(ROUTES))
        loaded[name].push(await loadWith({ port, path, connections, seconds: seconds / rounds }));
    }
    clearInterval(sampler);
    report(`${program}, ${found.title}`, loaded, memory);
    const before = memoryOf(child.pid);
    const stretch = Math.min(SILENCE, seconds);
    const load = async () => {
      const run = await loadWith({ port, path: ROUTES.pool, connections, seconds: stretch });
      return { run, memory: memoryOf(child.pid) };
    };
    const meanwhile = new Array(Math.ceil(seconds / stretch)).fill(load);
    const { answered, refused, done } = await holdIdle({ port, count: idle, path: ROUTES.pool, meanwhile });
    const during = done.map((each) => each.memory);
    reportRuns(
      'idle',
      done.map(({ run }) => run),
    );
    console.log(
      `  beside ${idle} idle connections, of which ${answered} were answered each time and ${refused} were not; memory ` +
        `${rounded(before)} MiB before, ${rounded(during[0])} MiB after ${stretch} s with them, ${rounded(during.at(-1) ?? 0)} MiB at the end`,
    );
  } finally {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} title
 * @param {Record<string, import('./load/loader.mjs').Loaded[]>} loaded
 * @param {number[]} memory MiB over the time
 */
function report(title, loaded, memory) {
  console.log(`${title}: ${connections} connections, ${seconds} s for each route, 2 workers`);
  for (const [name, runs] of Object.entries(loaded)) reportRuns(name, runs);
  const ratios = loaded.pool.map(({ rate }, round) => rate / loaded.plain[round].rate);
  console.log(
    `  pool / plain: ${Math.round(100 * median(ratios))} % (each round: ${ratios.map((ratio) => Math.round(100 * ratio)).join(', ')})`,
  );
  const third = Math.ceil(memory.length / 3);
  const [start, end] = [memory.slice(0, third), memory.slice(-third)].map(median).map(rounded);
  console.log(`  memory: ${start} MiB in the first third of the run, ${end} MiB in the last`);
}

/** @param {string} name @param {import('./load/loader.mjs').Loaded[]} runs */
function reportRuns(name, runs) {
  const errors = runs.reduce((sum, run) => sum + run.errors, 0);
  const of = (/** @type {'rate' | 'p50' | 'p95' | 'p99'} */ key) =>
    rounded(median(runs.map((run) => run[key])));
  console.log(
    `  ${name.padEnd(5)} ${of('rate')} requests a second, ${errors} errors, p50 ${of('p50')} ms, p95 ${of('p95')} ms, p99 ${of('p99')} ms`,
  );
}

await measure('node', 'nws.mjs');
await measure('bun', 'bws.js');
