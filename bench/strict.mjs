// Durable posts: 16 kept-alive connections post documents to two workers on a strict store, which answer when the disk has
// what they wrote, beside what the same disk can sync in the same run.
//
//   node strict.mjs [--rounds 5] [--seconds 3]
//
// A post counts when its reply has come, and every hundredth document is read back. Quote the ratio.

import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findServers, load, startServer } from './http/measure.mjs';
import { workFolder } from './run/machine.mjs';
import { median } from './run/statistics.mjs';

const CONNECTIONS = 16;
/** What issue and design promise: so many acknowledged posts for each sync of the disk. */
const WANTED = 5;

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '3' } },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const { servers, skipped } = findServers();
for (const why of skipped) console.log(why);

/** @param {string} folder @returns {number} how often a second a file can be appended to and synced */
function syncsOfDisk(folder) {
  const file = openSync(join(folder, 'plain'), 'w');
  const piece = Buffer.alloc(4096, 7);
  const begun = performance.now();
  let syncs = 0;
  for (; performance.now() - begun < seconds * 1000; syncs++) {
    writeSync(file, piece);
    fdatasyncSync(file);
  }
  const rate = (syncs / (performance.now() - begun)) * 1000;
  closeSync(file);
  return rate;
}

/** @param {string} path of the runtime @param {string} folder @param {string} durability */
async function postsOfServer(path, folder, durability) {
  const server = await startServer(path, join(folder, 'store'), durability);
  try {
    return await load({
      module: 'http-documents',
      scenario: 'insert, small',
      port: server.port,
      connections: CONNECTIONS,
      seconds,
      settings: { documents: 0 },
    });
  } finally {
    await server.stop();
  }
}

for (const { name, path } of servers) {
  /** @type {Record<'posts' | 'relaxed' | 'syncs' | 'ratio' | 'p50' | 'p99', number[]>} */
  const found = { posts: [], relaxed: [], syncs: [], ratio: [], p50: [], p99: [] };
  for (let round = 0; round < rounds; round++) {
    const folder = mkdtempSync(join(workFolder(), 'caretdb-bench-strict-'));
    const before = syncsOfDisk(folder);
    const { rate, p50, p99 } = await postsOfServer(path, folder, 'strict');
    const syncs = (before + syncsOfDisk(folder)) / 2;
    rmSync(folder, { recursive: true, force: true });
    const other = mkdtempSync(join(workFolder(), 'caretdb-bench-strict-'));
    const relaxed = await postsOfServer(path, other, 'relaxed');
    rmSync(other, { recursive: true, force: true });
    for (const [key, figure] of Object.entries({
      posts: rate,
      relaxed: relaxed.rate,
      syncs,
      ratio: rate / syncs,
      p50,
      p99,
    })) {
      found[/** @type {keyof typeof found} */ (key)].push(figure);
    }
  }
  const figures = Object.fromEntries(Object.entries(found).map(([key, all]) => [key, median(all)]));
  const whole = (/** @type {number} */ n) => Math.round(n).toLocaleString('en');
  console.log(
    `${name}: ${whole(figures.posts)} durable posts a second (relaxed ${whole(figures.relaxed)}), p50 ${figures.p50.toFixed(1)} ms, ` +
      `p99 ${figures.p99.toFixed(1)} ms; the disk syncs ${whole(figures.syncs)} times a second; ratio ${figures.ratio.toFixed(1)}, ` +
      `${figures.ratio >= WANTED ? 'above' : 'BELOW'} ${WANTED}`,
  );
}
