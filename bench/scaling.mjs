// How CaretDB scales: with nodes, threads, processes, sizes of values and depth of keys. Its plots are in docs/performance.md.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { open } from '../js/index.mjs';
import { crowd } from './run/crowd.mjs';
import { makeFolder, removeFolder } from './run/folders.mjs';
import { readOptions } from './run/options.mjs';
import { progress, progressDone } from './run/progress.mjs';
import { beginResult, makeTable } from './run/report.mjs';
import { runtime } from './run/runtimes.mjs';
import { share } from './workloads/scaling.mjs';

/**
 * @typedef {object} Dimension
 * @property {string} name of the plot
 * @property {string} title
 * @property {string} axis
 * @property {boolean} log
 * @property {number[]} points
 * @property {number[]} quick
 * @property {string} what
 * @property {(folder: string, at: number) => Promise<Record<string, number>>} measure
 */

const options = readOptions('scaling', {
  milliseconds: { full: 1000, quick: 200, meaning: 'how long threads and processes work, in milliseconds' },
});
const result = beginResult('scaling', 'How it scales', options);
const child = fileURLToPath(new URL('run/scaling-child.mjs', import.meta.url));

/** @param {string} dimension @returns {Dimension['measure']} */
const inChild = (dimension) => async (folder, at) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [child, JSON.stringify({ folder, dimension, at })],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`${dimension} ${at} failed: ${stderr}`);
  return JSON.parse(stdout);
};

/** @param {'threads' | 'processes'} kind @returns {Dimension['measure']} */
const inCrowd = (kind) => async (folder, count) => {
  const db = open(folder, { durability: 'relaxed' });
  share(db);
  const seconds = options.sizes.milliseconds / 1000;
  const get = await crowd(kind, count, { folder, act: 'get', seconds });
  const set = await crowd(kind, count, { folder, act: 'set', seconds });
  db.close();
  return { 'get, random, all together': get, 'set, all together': set };
};

/** @type {Dimension[]} */
const DIMENSIONS = [
  {
    name: 'nodes',
    title: 'Number of nodes',
    axis: 'nodes in the store',
    log: true,
    points: [1e4, 1e5, 1e6, 1e7],
    quick: [1e3, 1e4],
    what: 'The key is one number, the value 11 characters; 200,000 operations of each kind on a store with so many nodes.',
    measure: inChild('nodes'),
  },
  {
    name: 'threads',
    title: 'Threads on one store',
    axis: 'threads',
    log: false,
    points: [1, 2, 4, 8],
    quick: [1, 2],
    what: 'Worker threads of one process, each with a connection of its own: reads from 100,000 nodes, writes at the end of a global of its own.',
    measure: inCrowd('threads'),
  },
  {
    name: 'processes',
    title: 'Processes on one store',
    axis: 'processes',
    log: false,
    points: [1, 2, 3, 4],
    quick: [1, 2],
    what: 'Processes with a connection each, doing the same.',
    measure: inCrowd('processes'),
  },
  {
    name: 'value-size',
    title: 'Size of a value',
    axis: 'bytes of a value',
    log: true,
    points: [10, 100, 1e3, 1e4, 1e5, 1e6],
    quick: [10, 1e5],
    what: 'Values of bytes, 100 MB in all or 50,000 of them, under keys of one number.',
    measure: inChild('valueSize'),
  },
  {
    name: 'key-depth',
    title: 'Depth of a key',
    axis: 'subscripts of a key',
    log: false,
    points: [1, 2, 4, 6, 8, 10, 12],
    quick: [1, 4],
    what: 'All subscripts but the last are strings of 7 or 8 characters, the last a number; the value 11 characters; 100,000 operations each.',
    measure: inChild('keyDepth'),
  },
];

/** @type {Map<string, import('./run/statistics.mjs').Sample[]>} by the name of the dimension */
const samples = new Map(DIMENSIONS.map(({ name }) => [name, []]));
for (let round = 0; round < options.rounds; round++) {
  for (const { name, points, quick, measure } of DIMENSIONS) {
    for (const at of options.quick ? quick : points) {
      progress(`round ${round + 1} of ${options.rounds}: ${name} ${at.toLocaleString('en')}`);
      const folder = makeFolder();
      try {
        for (const [step, rate] of Object.entries(await measure(folder, at))) {
          samples.get(name)?.push({ peer: at.toLocaleString('en'), step, rate });
        }
      } finally {
        removeFolder(folder);
      }
    }
  }
}
progressDone();

const tables = DIMENSIONS.map(({ name, title, what, points, quick }) => {
  const rows = (options.quick ? quick : points).map((at) => ({
    name: at.toLocaleString('en'),
    durability: '',
  }));
  const said = `${what} CaretDB, native face, \`relaxed\`; every value read is checked.`;
  return { ...makeTable(title, said, rows, samples.get(name) ?? []), plot: false };
});
const plots = DIMENSIONS.map(({ name, title, axis, log }, index) => {
  const { rows } = tables[index];
  const steps = [...new Set(rows.map(({ step }) => step))];
  return {
    name: `scaling-${name}`,
    title,
    x: { label: axis, log },
    y: { label: 'operations a second', log: true },
    series: steps.map((step) => ({
      label: step,
      points: rows
        .filter((row) => row.step === step)
        .map(
          ({ peer, median }) => /** @type {[number, number]} */ ([Number(peer.replaceAll(',', '')), median]),
        ),
    })),
  };
});
result.finish(tables, { runtimes: [runtime('node').title], plots });
