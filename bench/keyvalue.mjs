// The key/value benchmark of the showcase: `^keyvalue(n)="hello world"` for n = 1…N, one call and one commit for each.

import { caretdb } from './peers/caretdb.mjs';
import { lmdb } from './peers/lmdb.mjs';
import { sqlite } from './peers/sqlite.mjs';
import { measure } from './run/measure.mjs';
import { choose, keep, readOptions } from './run/options.mjs';
import { table } from './run/report.mjs';

const VALUE = 'hello world';
const {
  records,
  rounds,
  json,
  peers: wanted,
} = readOptions('keyvalue', { records: 1_000_000, quickRecords: 10_000 });
const peers = choose([...caretdb, await lmdb(), ...(await sqlite())], wanted);
const samples = await measure(peers, (peer) => /** @type {any} */ (peer).keyvalue(records, VALUE), rounds);
keep(json, samples);
console.log(
  table(
    `Key/value, ${records.toLocaleString('en')} records`,
    `One operation is one call, a write with a commit of its own; the key is an integer, the value ${VALUE.length} characters; every read is checked.`,
    peers,
    samples,
  ),
);
