// The document benchmark of the showcase: A is `{hello: 'world'}`, B a person with five leaves; one call and one commit
// for each document.

import { caretdb } from './peers/caretdb.mjs';
import { lmdb } from './peers/lmdb.mjs';
import { sqlite } from './peers/sqlite.mjs';
import { measure } from './run/measure.mjs';
import { choose, keep, readOptions } from './run/options.mjs';
import { table } from './run/report.mjs';

const DOCUMENTS = {
  A: { hello: 'world' },
  B: { name: 'Rob', address: { houseNo: 9, city: 'Redhill', county: 'Surrey' }, telephone: '0790123456' },
};
const {
  records,
  rounds,
  json,
  peers: wanted,
} = readOptions('documents', { records: 50_000, quickRecords: 2_000 });
const peers = choose([...caretdb, await lmdb(), ...(await sqlite())], wanted);
const samples = [];
for (const [name, document] of Object.entries(DOCUMENTS)) {
  const measured = await measure(
    peers,
    (peer) => /** @type {any} */ (peer).documents(records, document),
    rounds,
  );
  samples.push(...measured.map((sample) => ({ ...sample, step: `${name} ${sample.step}` })));
}
keep(json, samples);
console.log(
  table(
    `Documents, ${records.toLocaleString('en')} of each`,
    'CaretDB keeps one leaf for each scalar, the peers one JSON text for each document; one operation is one document, a ' +
      `write with a commit of its own. A is \`${JSON.stringify(DOCUMENTS.A)}\`, B \`${JSON.stringify(DOCUMENTS.B)}\`; every read is checked.`,
    peers,
    samples,
  ),
);
