// The document benchmark of the showcase: A is `{hello: 'world'}`, B a person with five leaves; one call and one commit
// for each document.

import { compare, findEntrants } from './run/compare.mjs';
import { readOptions } from './run/options.mjs';
import { beginResult, makeTable } from './run/report.mjs';
import { DOCUMENTS } from './workloads/documents.mjs';

const options = readOptions('documents', {
  a: { full: 50_000, quick: 1_000, meaning: 'how many of document A' },
  b: { full: 10_000, quick: 500, meaning: 'how many of document B' },
});
const result = beginResult('documents', 'JSON documents', options);
const { entrants, skipped } = await findEntrants('documents', options);
const turns = [
  { name: 'A', records: options.sizes.a },
  { name: 'B', records: options.sizes.b },
];
const { samples, failed } = await compare({
  entrants,
  kind: 'documents',
  workload: 'documents',
  parts: ['documents'],
  turns,
  rounds: options.rounds,
});
const tables = turns.map(({ name, records }, number) => {
  const what =
    `Document ${name} is \`${JSON.stringify(DOCUMENTS[name].document)}\`, the key an integer. \`write\` and \`read\` are one call ` +
    'for each document, a write with a commit of its own; the two columns of leaves count leaves, not documents. CaretDB keeps ' +
    'one leaf for each scalar, the peers one text for each document. Every leaf read is compared. As in the showcase, whose server ' +
    'lives from one run to the next, one process does A and then B, each in a store of its own.';
  const own = samples.filter(({ turn }) => turn === number);
  return makeTable(`Document ${name}, ${records.toLocaleString('en')} of it`, what, entrants, own);
});
result.finish(tables, {
  runtimes: entrants.map(({ runtime }) => runtime),
  notes: [...skipped, ...failed],
});
