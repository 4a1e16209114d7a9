// The scale benchmark: NuDB's own, item for item, so that its printed tables can be set beside these. Each batch inserts
// `batch_size` items and fetches as many; the databases take turns batch by batch, each in a process of its own.

import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { makeFolder, removeFolder } from './run/folders.mjs';
import { progress, progressDone } from './run/progress.mjs';
import { beginResult, makeTable } from './run/report.mjs';
import { runtime } from './run/runtimes.mjs';
import { readScaleOptions } from './run/scale-options.mjs';
import { summarise } from './run/statistics.mjs';

/**
 * @typedef {{ db: string, stored: number, insert: number, fetch: number }} Batch rates a second; `stored` after it
 *
 * @typedef {object} Entrant
 * @property {string} id
 * @property {string} name
 * @property {string} durability
 * @property {string} peer the file in peers/
 */

const { dbs, batchSize, numBatches, dbDir, rawOut, keySize, options } = await readScaleOptions();

/** @type {Map<string, string>} why a database stopped */
const failed = new Map();

/** @param {Entrant} entrant */
async function start({ peer, id }) {
  const folder = makeFolder(`caretdb-scale-${id}`, dbDir);
  const task = JSON.stringify({ peer, id, folder, batchSize, keySize });
  const child = fork(fileURLToPath(new URL('run/scale-child.mjs', import.meta.url)), [task]);
  const remove = () => {
    child.kill('SIGKILL');
    removeFolder(folder);
  };
  process.once('exit', remove);
  return { child, remove };
}

/** @param {import('node:child_process').ChildProcess} child @returns {Promise<any>} the next message, or why there is none */
function answer(child) {
  return new Promise((resolve) => {
    const ended = (/** @type {number} */ code, /** @type {string} */ signal) =>
      resolve({ failed: `it ended with ${code ?? signal}` });
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message);
    });
  });
}

/** @returns {Promise<Batch[]>} */
async function run() {
  /** @type {Batch[]} */
  const batches = [];
  const running = new Map();
  for (const entrant of dbs) {
    const started = await start(entrant);
    const { failed: why } = await answer(started.child);
    if (why === undefined) running.set(entrant.id, started);
    else failed.set(entrant.id, why);
  }
  for (let batch = 0; batch < numBatches; batch++) {
    for (let turn = 0; turn < dbs.length; turn++) {
      const { id } = dbs[(turn + batch) % dbs.length];
      const process = running.get(id);
      if (process === undefined) continue;
      progress(`batch ${batch + 1} of ${numBatches}: ${id}`);
      process.child.send('batch');
      const reply = await answer(process.child);
      if (reply.failed === undefined) batches.push({ db: id, ...reply });
      else {
        failed.set(id, reply.failed);
        running.delete(id);
        process.remove();
      }
    }
  }
  progressDone();
  for (const { child, remove } of running.values()) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.send('close');
    await ended;
    remove();
  }
  return batches;
}

/**
 * NuDB's table: a row for each power of ten, the batch that ended there.
 *
 * @param {Batch[]} batches
 * @param {'insert' | 'fetch'} op
 */
function powersOfTen(batches, op) {
  const most = batchSize * numBatches;
  const lines = [`${op} (per second)`, ['num_db_items', ...dbs.map(({ id }) => id)].join('\t')];
  for (let items = 1_000; items <= Math.max(most, 1_000); items *= 10) {
    const cells = dbs.map(({ id }) => {
      const found = batches.find(({ db, stored }) => db === id && stored === items);
      return found === undefined ? 'NA' : found[op].toFixed(2);
    });
    lines.push([items, ...cells].join('\t'));
  }
  return lines.join('\n');
}

/** The rate over the whole run: all operations by all the time. @param {number[]} rates of batches of one size */
function whole(rates) {
  return rates.length / rates.reduce((sum, rate) => sum + 1 / rate, 0);
}

/** @param {Batch[]} batches @returns {import('./run/statistics.mjs').Sample[]} */
function samplesOf(batches) {
  return dbs.flatMap(({ id, name }) => {
    const own = batches.filter(({ db }) => db === id);
    if (own.length === 0) return [];
    return /** @type {const} */ (['insert', 'fetch']).map((op) => ({
      peer: name,
      step: `${op}, whole`,
      rate: whole(own.map((batch) => batch[op])),
    }));
  });
}

/** @param {Batch[]} batches @returns {import('./run/statistics.mjs').Summary[]} of single batches: their median and spread */
function spread(batches) {
  return summarise(
    batches.flatMap(({ db, insert, fetch }) => {
      const peer = dbs.find(({ id }) => id === db)?.name ?? db;
      return [
        { peer, step: 'insert, a batch', rate: insert },
        { peer, step: 'fetch, a batch', rate: fetch },
      ];
    }),
  );
}

/** @param {Batch[]} batches @param {'insert' | 'fetch'} op @returns {import('./run/svg.mjs').LinePlot} */
const panel = (batches, op) => ({
  name: `scale-${op}`,
  title: `Scale: ${op}`,
  x: { label: 'items in the database' },
  y: { label: op === 'fetch' ? 'fetches a second' : 'inserts a second', log: true },
  series: dbs
    .map(({ id, name }) => ({
      label: name.split(',')[0] === 'CaretDB native' ? name : id,
      points: batches
        .filter(({ db }) => db === id)
        .map((batch) => /** @type {[number, number]} */ ([batch.stored, batch[op]])),
    }))
    .filter(({ points }) => points.length > 0),
});

const result = beginResult('scale', 'Scale: insert and fetch', options);
const batches = await run();
if (rawOut !== undefined) {
  const lines = batches.flatMap(({ db, stored, insert, fetch }) => [
    `${stored},${db},insert,${insert.toFixed(2)}`,
    `${stored},${db},fetch,${fetch.toFixed(2)}`,
  ]);
  writeFileSync(rawOut, `num_db_items,db,op,ops/sec\n${lines.join('\n')}\n`);
}
for (const op of /** @type {const} */ (['insert', 'fetch'])) console.log(`${powersOfTen(batches, op)}\n`);
const count = (batchSize * numBatches).toLocaleString('en');
const what =
  `${numBatches} batches of ${batchSize.toLocaleString('en')} items, ${count} in all, each batch inserted, committed and then fetched from all over. ` +
  `The key is ${keySize} random bytes, the value 250 to 750; one operation includes making the item, about 0.1 µs, and every byte fetched is compared. ` +
  'An insert includes its part of the commit.';
const table = makeTable(`${count} items, whole run`, what, dbs, samplesOf(batches));
result.finish(
  [
    table,
    {
      ...table,
      title: `${count} items, batch by batch`,
      what: 'The same run, the rates of its single batches.',
      rows: spread(batches),
      plot: false,
    },
  ],
  {
    runtimes: [runtime('node').title],
    notes: [...failed].map(([id, why]) => `${id}: ${why}`),
    plots: [panel(batches, 'insert'), panel(batches, 'fetch')],
  },
);
if (failed.has('caretdb') || failed.has('caretdb-process')) process.exitCode = 1;
