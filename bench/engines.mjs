// The three engines in one run: `node bench/engines.mjs [--url postgres://…] [--seconds 1]`. The same calls, one after the other,
// from one connection; operations a second. With the URL of a proxy with servers behind it and that of one of them,
// `--proxy http://… --direct http://…` measures what the proxy costs: both in turn, five times, the medians.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { open } from '../js/index.mjs';
import { median } from './run/statistics.mjs';

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    seconds: { type: 'string', default: '1' },
    proxy: { type: 'string' },
    direct: { type: 'string' },
  },
});
const SECONDS = Number(values.seconds);
const PERSON = { name: 'Rob', address: { city: 'Redhill', postcode: 'RH1' }, tags: ['a', 'b'] };

/** @type {Record<string, (db: import('caretdb').Database) => (turn: number) => void>} */
const CALLS = {
  set: (db) => {
    const node = db.global('bench');
    return (turn) => node.set(turn % 10_000, 'eleven char');
  },
  get: (db) => {
    const node = db.global('bench');
    return (turn) => node.get((turn * 7919) % 10_000);
  },
  'next, in order': (db) => {
    const node = db.global('bench');
    let key;
    return () => {
      key = node.next(key ?? '');
    };
  },
  increment: (db) => {
    const node = db.global('bench');
    return () => node.increment('count', 1);
  },
  'a document, written': (db) => {
    const node = db.global('benchDocument');
    return (turn) => node.setDocument(turn % 1000, PERSON);
  },
  'a document, read': (db) => {
    const node = db.global('benchDocument');
    return (turn) => node.getDocument(turn % 1000);
  },
  'a transaction of 5 writes': (db) => {
    const node = db.global('benchTransaction');
    return (turn) =>
      db.transaction(() => {
        for (let write = 0; write < 5; write++) node.set(turn % 1000, write, 'eleven char');
      });
  },
  'lock and unlock': (db) => {
    const node = db.global('benchLock');
    return () => {
      node.lock(1);
      node.unlock(1);
    };
  },
};

/** @param {(turn: number) => void} call @returns {number} operations a second */
function rate(call) {
  const begun = performance.now();
  let turn = 0;
  do {
    // The clock is asked seldom enough not to be measured.
    for (let step = 0; step < 4; step++) call(turn++);
  } while (performance.now() - begun < SECONDS * 1000);
  return (turn / (performance.now() - begun)) * 1000;
}

/** @param {Record<string, unknown>} options @returns {number[]} */
function measure(options) {
  const db = open(options);
  try {
    for (const name of ['bench', 'benchDocument', 'benchTransaction']) db.global(name).delete();
    return Object.values(CALLS).map((make) => rate(make(db)));
  } finally {
    db.close();
  }
}

/** @param {string} base @returns {Promise<number>} requests a second of eight clients that write and read */
async function askServers(base) {
  const begun = performance.now();
  let requests = 0;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (performance.now() - begun < SECONDS * 1000) {
        const made = await fetch(`${base}/user`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ firstName: 'Rob', lastName: 'Tweed' }),
        });
        const { id } = await made.json();
        await (await fetch(`${base}/user/${id}`)).json();
        requests += 2;
      }
    }),
  );
  return (requests / (performance.now() - begun)) * 1000;
}

if (values.proxy !== undefined && values.direct !== undefined) {
  /** @type {{ direct: number[], proxied: number[] }} */
  const found = { direct: [], proxied: [] };
  for (let round = 0; round < 5; round++) {
    found.direct.push(await askServers(values.direct));
    found.proxied.push(await askServers(values.proxy));
  }
  const [direct, proxied] = [median(found.direct), median(found.proxied)];
  console.log(`one server directly   ${direct.toFixed(0)} requests a second`);
  console.log(`through the proxy     ${proxied.toFixed(0)}, ${(proxied / direct).toFixed(2)} times as many`);
} else {
  const folder = mkdtempSync(join(tmpdir(), 'caretdb-engines-'));
  try {
    const columns = {
      lmdb: measure({ path: join(folder, 'lmdb') }),
      sled: measure({ path: join(folder, 'sled'), engine: 'sled' }),
      ...(values.url === undefined ? {} : { postgres: measure({ engine: 'postgres', url: values.url }) }),
    };
    console.log(`| operations a second | ${Object.keys(columns).join(' | ')} |`);
    console.log(`| --- |${' ---: |'.repeat(Object.keys(columns).length)}`);
    Object.keys(CALLS).forEach((name, row) => {
      const rates = Object.values(columns).map((rates) => Math.round(rates[row]).toLocaleString('en-US'));
      console.log(`| ${name} | ${rates.join(' | ')} |`);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
