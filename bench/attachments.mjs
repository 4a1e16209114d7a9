// The attachments' benchmark, after a post on CouchDB: T writers each store documents with an image, as an array of numbers,
// as base64 text and as bytes, and read them back.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { load, startServer } from './http/measure.mjs';
import { findEntrants } from './run/compare.mjs';
import { rawWriteRate } from './run/disk.mjs';
import { makeFolder, removeFolder } from './run/folders.mjs';
import { readOptions } from './run/options.mjs';
import { progress, progressDone } from './run/progress.mjs';
import { beginResult, makeTable } from './run/report.mjs';
import { runtime } from './run/runtimes.mjs';
import { THROUGH_HTTP } from './run/targets.mjs';

const SIZES = { '9.5 KB': 9_500, '88 KB': 88_000, '250 KB': 250_000 };
const WRITERS = [1, 5, 10, 20];

/** What the others are held against. */
const RAW = 'a raw file, one fdatasync';

const options = readOptions('attachments', {
  documents: { full: 100, quick: 3, meaning: 'how many each writer stores at most' },
  milliseconds: { full: 300, quick: 200, meaning: 'after which a writer ends, in milliseconds' },
});
const { documents, milliseconds } = options.sizes;
const seconds = milliseconds / 1000;
const result = beginResult('attachments', 'Attachments', options);
const child = fileURLToPath(new URL('run/attachments-child.mjs', import.meta.url));
const writerCounts = options.quick ? [2] : WRITERS;

/** @param {Record<string, unknown>} task @returns {{ write: number, read: number }} MB a second */
function measure(task) {
  const folder = makeFolder();
  try {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [child, JSON.stringify({ ...task, folder })],
      {
        encoding: 'utf8',
      },
    );
    if (status !== 0) throw new Error(`${JSON.stringify(task)} failed: ${stderr}`);
    return JSON.parse(stdout);
  } finally {
    removeFolder(folder);
  }
}

const { entrants, skipped } = await findEntrants('attachments', options);
/** @type {Map<string, string>} why a peer does not work here */
const failed = new Map();

/**
 * @param {import('./run/compare.mjs').Entrant} entrant
 * @param {number} size
 * @param {number} writers
 * @returns {import('./run/statistics.mjs').Sample[]}
 */
function measureEntrant({ name, peer, variant }, size, writers) {
  if (failed.has(name)) return [];
  try {
    const { write, read } = measure({ peer, variant, size, writers, documents, seconds });
    return [
      { peer: name, step: `write, T = ${writers}`, rate: write },
      { peer: name, step: `read, T = ${writers}`, rate: read },
    ];
  } catch (error) {
    if (peer === 'caretdb') throw error;
    failed.set(name, /** @type {Error} */ (error).message.split('\n')[0]);
    return [];
  }
}

/**
 * As many connections put attachments to a server of two workers, then get them.
 *
 * @param {number} size
 * @param {number} connections
 * @returns {Promise<import('./run/statistics.mjs').Sample[]>}
 */
async function measureServer(size, connections) {
  const folder = makeFolder();
  const { port, stop } = await startServer(process.execPath, folder);
  const settings = { size, connections };
  // Replies take their time in more places than calls do: three times as long.
  const plan = { module: 'attachments-http', port, connections, seconds: seconds * 3, settings };
  try {
    // Both workers start and open the store before the clock does.
    await load({ ...plan, scenario: 'write', seconds: 0 });
    const found = [];
    for (const scenario of ['write', 'read']) {
      const { rate } = await load({ ...plan, scenario });
      found.push({ peer: THROUGH_HTTP, step: `${scenario}, T = ${connections}`, rate: (rate * size) / 1e6 });
    }
    return found;
  } finally {
    await stop();
    removeFolder(folder);
  }
}

/** @type {Map<string, import('./run/statistics.mjs').Sample[]>} by size */
const samples = new Map(Object.keys(SIZES).map((name) => [name, []]));
for (let round = 0; round < options.rounds; round++) {
  for (const [sizeName, size] of Object.entries(SIZES)) {
    const own = /** @type {import('./run/statistics.mjs').Sample[]} */ (samples.get(sizeName));
    const raw = rawWriteRate(options.quick ? 20 : 200);
    for (const writers of writerCounts) {
      own.push({ peer: RAW, step: `write, T = ${writers}`, rate: raw });
      for (let turn = 0; turn < entrants.length; turn++) {
        const entrant = entrants[(turn + round) % entrants.length];
        progress(`round ${round + 1} of ${options.rounds}: ${sizeName}, ${writers} writers, ${entrant.name}`);
        own.push(...measureEntrant(entrant, size, writers));
      }
      progress(`round ${round + 1} of ${options.rounds}: ${sizeName}, ${writers} connections`);
      own.push(...(await measureServer(size, writers)));
    }
  }
}
progressDone();
const what =
  `T threads, each with a connection of its own, store up to ${documents} images each, for ${seconds} s at most, one commit each: CaretDB in documents ` +
  '`{name, type, data}` or as attachments beside a document, the peers as a value or row of its own; through HTTP, T connections to ' +
  'Fastify with two workers for three times as long, which share the machine with the client; ' +
  'then they are read back, each image compared by its hash. One operation is one image; MB of images, 10^6 bytes. ' +
  'A write counts when it is on the disk: the time includes a flush at the end, as that of the raw file does.';
const server = { name: THROUGH_HTTP, durability: 'a power cut, from 64 KiB on as soon as it is answered' };
const raw = { name: RAW, durability: 'a power cut, after the flush at the end' };
result.finish(
  [...samples].map(([size, own]) =>
    makeTable(`${size} each`, what, [...entrants, server, raw], own, 'MB a second'),
  ),
  {
    runtimes: [runtime('node').title],
    notes: [...skipped, ...[...failed].map(([name, why]) => `${name}: ${why}`)],
  },
);
