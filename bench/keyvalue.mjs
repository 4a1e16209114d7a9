// The key/value benchmark of the showcase: `^keyvalue(n)="hello world"` for n = 1…N, one call and one commit for each.

import { compare, findEntrants } from './run/compare.mjs';
import { readOptions } from './run/options.mjs';
import { beginResult, makeTable } from './run/report.mjs';

const VALUE = 'hello world';

/** The columns; not every peer has all. */
const STEPS = [
  'set',
  'get',
  'get, random',
  'next',
  'keys',
  'increment',
  'set, random',
  'set, one transaction',
];
const options = readOptions('keyvalue', {
  records: { full: 1_000_000, quick: 5_000, meaning: 'how many' },
});
const { records } = options.sizes;
const result = beginResult('keyvalue', 'Key/value', options);
const { entrants, skipped } = await findEntrants('keyvalue', options);
const { samples, failed } = await compare({
  entrants,
  kind: 'keyvalue',
  workload: 'keyvalue',
  parts: ['sequential', 'random', 'transaction'],
  turns: [{ records, value: VALUE, budget: options.budget }],
  rounds: options.rounds,
});
samples.sort((a, b) => STEPS.indexOf(a.step) - STEPS.indexOf(b.step));
const what = `One operation is one call, a write with a commit of its own but in the last column. The key is an integer from 1 to
${records.toLocaleString('en')}, the value ${VALUE.length} characters. Every value read is compared, every key counted. A step ends after
${options.budget} s, and what it did not write is then put in untimed; \`increment\` is done ${Math.min(records, 200_000).toLocaleString('en')} times.`;
result.finish(
  [
    makeTable(
      `Key/value, ${records.toLocaleString('en')} records`,
      what.replaceAll('\n', ' '),
      entrants,
      samples,
    ),
  ],
  { runtimes: entrants.map(({ runtime }) => runtime), notes: [...skipped, ...failed] },
);
