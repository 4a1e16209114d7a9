// The options every benchmark takes.

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/**
 * @param {string} name of the benchmark
 * @param {{ records: number, quickRecords: number }} sizes
 * @returns {{ records: number, rounds: number, json: string | undefined, peers: string[] | undefined }}
 */
export function readOptions(name, sizes) {
  const { values } = parseArgs({
    options: {
      records: { type: 'string' },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      peers: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(`node ${name}.mjs [--records N] [--rounds 5] [--quick] [--peers name,name] [--json file]

--quick   ${sizes.quickRecords} records and one round: shows that it works, its figures mean little
--peers   only the peers whose names contain one of these
--json    writes all samples to a file as well
BENCH_DIR names the folder that holds the databases, else the system's temporary folder.`);
    process.exit(0);
  }
  return {
    records: whole(values.records, values.quick ? sizes.quickRecords : sizes.records, 'records'),
    rounds: whole(values.rounds, values.quick ? 1 : 5, 'rounds'),
    json: values.json,
    peers: values.peers?.split(','),
  };
}

/** @param {string | undefined} text @param {number} otherwise @param {string} name */
function whole(text, otherwise, name) {
  if (text === undefined) return otherwise;
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${name} must be a whole number from 1`);
  return number;
}

/**
 * Takes out the peers that were not asked for or cannot run here, and says which.
 *
 * @param {(import('./measure.mjs').Peer | { name: string, missing: string })[]} peers
 * @param {string[] | undefined} wanted
 * @returns {import('./measure.mjs').Peer[]}
 */
export function choose(peers, wanted) {
  /** @type {import('./measure.mjs').Peer[]} */
  const chosen = [];
  for (const peer of peers) {
    if (wanted !== undefined && !wanted.some((part) => peer.name.includes(part))) continue;
    if ('missing' in peer) console.error(`SKIPPED ${peer.name}: ${peer.missing}`);
    else chosen.push(peer);
  }
  return chosen;
}

/** @param {string | undefined} file @param {unknown} samples */
export function keep(file, samples) {
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(samples, undefined, 1)}\n`);
}
