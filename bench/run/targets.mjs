// The marks that CaretDB is meant to reach, each as a ratio of two figures of one run.

import { gtmDocuments, scale as quotedScale } from './quoted.mjs';

/**
 * @typedef {Map<string, import('./report.mjs').Result>} Results by benchmark
 *
 * @typedef {{ floor: Record<string, number> }} Floor nanoseconds of each call, as `npm run floor` writes them
 *
 * @typedef {object} Target
 * @property {string} call
 * @property {string} mark what is to be reached
 * @property {(results: Results, floor: Floor | undefined) => Found[]} find nothing where the run has not both figures
 *
 * @typedef {{ label?: string, ratio: number, mark: number, figure: number, unit?: string, most?: boolean }} Found `most`: the ratio
 *   must not be above the mark
 */

const PEER = 'lmdb, noSync + useWritemap';
const RELAXED = 'CaretDB mglobal, relaxed';
const PROCESS = 'CaretDB mglobal, process';

/**
 * @param {Results} results
 * @param {string} benchmark
 * @param {string} peer
 * @param {string} step
 * @param {string} [title] how the title of its table begins
 * @returns {number | undefined} the median
 */
export function figure(results, benchmark, peer, step, title = '') {
  for (const table of results.get(benchmark)?.tables ?? []) {
    if (!table.title.startsWith(title)) continue;
    const row = table.rows.find((candidate) => candidate.peer === peer && candidate.step === step);
    if (row !== undefined) return row.median;
  }
  return undefined;
}

/**
 * @param {number | undefined} ours
 * @param {(number | undefined)[]} theirs the best counts
 * @param {number} mark
 * @param {Partial<Found>} [more]
 * @returns {Found[]}
 */
export function against(ours, theirs, mark, more = {}) {
  const best = Math.max(...theirs.map((one) => one ?? 0));
  if (ours === undefined || best === 0) return [];
  return [{ ratio: ours / best, mark, figure: ours, ...more }];
}

/** @param {string} step @param {string} ours @param {number} mark @param {string[]} peers @returns {Target['find']} */
const keyvalue = (step, ours, mark, peers) => (results) =>
  against(
    figure(results, 'keyvalue', ours, step),
    peers.map((peer) => figure(results, 'keyvalue', peer, step)),
    mark,
  );

/** @param {'write' | 'read'} step @param {{ A: number, B: number }} marks @param {{ A: string[], B: string[] }} peers @returns {Target['find']} */
const documents = (step, marks, peers) => (results) =>
  /** @type {const} */ (['A', 'B']).flatMap((name) =>
    against(
      figure(results, 'documents', 'CaretDB glsDB, relaxed', step, `Document ${name}`),
      peers[name].map((peer) => figure(results, 'documents', peer, step, `Document ${name}`)),
      marks[name],
      { label: name },
    ),
  );

const LMDB_DOCUMENTS = ['lmdb, JSON text', 'lmdb, msgpack with shared structures'];

/** @returns {Found[]} @param {Results} results */
function perLeaf(results) {
  return ['leaves by nested next', 'leaves by cursor'].flatMap((step) =>
    /** @type {const} */ (['A', 'B']).flatMap((name) => {
      const { leaves, read } = gtmDocuments[name];
      const ours = figure(results, 'documents', 'CaretDB glsDB, relaxed', step, `Document ${name}`);
      return against(ours, [read[1] * leaves], 5, { label: `${name}, ${step.replace('leaves by ', '')}` });
    }),
  );
}

/** Every figure of CaretDB on Bun against the same on Node.js; the least counts. @param {Results} results @returns {Found[]} */
function bunAgainstNode(results) {
  return ['keyvalue', 'documents'].flatMap((benchmark) => {
    const pairs = (results.get(benchmark)?.tables ?? []).flatMap(({ title, rows }) =>
      rows
        .filter(({ peer }) => peer.startsWith('CaretDB') && peer.endsWith(', Bun'))
        .flatMap((row) => {
          const node = rows.find(({ peer, step }) => `${peer}, Bun` === row.peer && step === row.step);
          const where = `${title.split(',')[0]}, ${row.step}, ${row.peer.replace('CaretDB ', '')}`;
          return node === undefined ? [] : [{ ratio: row.median / node.median, where, figure: row.median }];
        }),
    );
    pairs.sort((a, b) => a.ratio - b.ratio);
    const low = pairs.filter(({ ratio }) => ratio < 0.8);
    return (low.length > 0 ? low : pairs.slice(0, 1)).map(({ ratio, where, figure: rate }) => ({
      label: where,
      ratio,
      mark: 0.8,
      figure: rate,
    }));
  });
}

/** @param {Results} results @returns {Found[]} */
function scale(results) {
  const title = results.get('scale')?.tables[0]?.title ?? '';
  const items = Number(title.split(' ')[0].replaceAll(',', ''));
  const [untimed, timed] = quotedScale.rows.map(({ figures }) => figures);
  const fetch = items > 1_000_000 ? untimed[3] : untimed[1];
  const ours = (/** @type {string} */ step) => figure(results, 'scale', 'CaretDB native, relaxed', step);
  const where = `${items.toLocaleString('en')} items`;
  return [
    ...against(ours('insert, whole'), [timed[0]], 1, { label: `insert, ${where}` }),
    ...against(ours('fetch, whole'), [fetch], 1, { label: `fetch, ${where}` }),
  ];
}

/** @param {Results} results @returns {Found[]} */
function documentServer(results) {
  const [requests] = results.get('http-documents')?.tables ?? [];
  return (requests?.peers ?? []).flatMap(({ name }) => {
    const ours = (/** @type {string} */ step) => figure(results, 'http-documents', name, step);
    const server = name.split(',')[0];
    return [
      ...against(ours('insert, small'), [ours('insert, bare route')], 0.5, { label: `${server}, insert` }),
      ...against(ours('search, index'), [ours('read, bare route')], 0.6, {
        label: `${server}, indexed read`,
      }),
    ];
  });
}

/** The row of attachments that come and go by HTTP. */
export const THROUGH_HTTP = 'CaretDB, attachment through HTTP';

/** @param {Results} results @returns {Found[]} */
function attachments(results) {
  const rate = (/** @type {string} */ peer, /** @type {string} */ act) =>
    figure(results, 'attachments', peer, `${act}, T = 10`, '250 KB');
  const bytes = rate('CaretDB, attachment', 'write');
  const megabytes = { unit: ' MB/s' };
  return [
    ...against(bytes, [rate('a raw file, one fdatasync', 'write')], 0.8, {
      label: 'to the raw disk',
      ...megabytes,
    }),
    ...against(rate(THROUGH_HTTP, 'write'), [rate('a raw file, one fdatasync', 'write')], 0.4, {
      label: 'through HTTP, to the raw disk',
      ...megabytes,
    }),
    ...against(bytes, [rate('CaretDB, array of numbers', 'write')], 2.5, {
      label: 'to number arrays',
      ...megabytes,
    }),
    ...against(bytes, [rate('CaretDB, base64 text', 'write')], 1, {
      label: 'to base64, written',
      ...megabytes,
    }),
    ...against(rate('CaretDB, attachment', 'read'), [rate('CaretDB, base64 text', 'read')], 1, {
      label: 'to base64, read',
      ...megabytes,
    }),
  ];
}

/**
 * A hot call against what LMDB takes from Rust and the way into native code and back, as `npm run floor` measures them.
 *
 * @param {string} call
 * @param {string} peer
 * @param {string} step
 * @param {number} mark how many times the floor it may take
 * @returns {Target['find']}
 */
const aboveFloor = (call, peer, step, mark) => (results, floor) => {
  const least = floor?.floor[call];
  const rate = figure(results, 'keyvalue', peer, step);
  if (least === undefined || rate === undefined) return [];
  return [{ label: step, ratio: 1e9 / rate / least, mark, figure: rate, most: true }];
};

/** @type {Target[]} */
export const targets = [
  {
    call: '`set` sequential, `process`',
    mark: '4.5 x lmdb, one commit for each put',
    find: keyvalue('set', PROCESS, 4.5, [PEER]),
  },
  {
    call: '`set` sequential, `relaxed`',
    mark: '3.7 x the same lmdb',
    find: keyvalue('set', RELAXED, 3.7, [PEER]),
  },
  { call: '`get` sequential', mark: '1.3 x lmdb', find: keyvalue('get', RELAXED, 1.3, [PEER]) },
  { call: '`get` random', mark: '1.0 x lmdb', find: keyvalue('get, random', RELAXED, 1, [PEER]) },
  {
    call: '`next` step',
    mark: '2.0 x the best of lmdb and better-sqlite3',
    find: keyvalue('next', RELAXED, 2, [
      PEER,
      'better-sqlite3, WAL NORMAL',
      'better-sqlite3, OFF + EXCLUSIVE',
    ]),
  },
  {
    call: 'key iteration, native face',
    mark: '1.0 x lmdb getKeys',
    find: keyvalue('keys', 'CaretDB native, relaxed', 1, [PEER]),
  },
  {
    call: 'random insert',
    mark: 'at most 1.2 x the time of LMDB from Rust and the N-API floor',
    find: aboveFloor('set, random', PROCESS, 'set, random', 1.2),
  },
  ...[
    ['set', PROCESS],
    ['get', RELAXED],
    ['get, random', RELAXED],
    ['next', RELAXED],
  ].map(([step, peer]) => ({
    call: 'hot call',
    mark: 'at most 1.5 x the time of LMDB from Rust and the N-API floor',
    find: aboveFloor(step, peer, step, 1.5),
  })),
  { call: '`increment`', mark: '4.5 x the same lmdb', find: keyvalue('increment', RELAXED, 4.5, [PEER]) },
  {
    call: 'document write, one call each',
    mark: "A 3.0 x, B 2.0 x lmdb's best commit for each document",
    find: documents('write', { A: 3, B: 2 }, { A: LMDB_DOCUMENTS, B: LMDB_DOCUMENTS }),
  },
  {
    call: 'document read',
    mark: 'A 0.8 x, B 1.0 x lmdb with JSON text',
    find: documents('read', { A: 0.8, B: 1 }, { A: ['lmdb, JSON text'], B: ['lmdb, JSON text'] }),
  },
  {
    call: 'nested next and cursor, for each leaf',
    mark: '5 x GT.M through nodem (quoted, its faster run)',
    find: perLeaf,
  },
  { call: 'Bun', mark: 'every figure 0.8 x that of Node.js', find: bunAgainstNode },
  { call: 'scale', mark: '1.0 x NuDB (quoted), for inserts with its commit timed', find: scale },
  {
    call: 'document server, 100 connections',
    mark: "insert 0.5 x, indexed read 0.6 x the same server's bare route",
    find: documentServer,
  },
  {
    call: 'attachments of 250 KB, 10 writers',
    mark: '0.8 x the raw disk, 0.4 x through HTTP; 2.5 x number arrays, 1.0 x base64',
    find: attachments,
  },
];
