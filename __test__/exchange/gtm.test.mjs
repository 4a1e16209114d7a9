// Promise: a real M engine reads what CaretDB exports and CaretDB reads what it extracts, with nothing lost on the way.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { importNodes } from '../../js/exchange/import.mjs';
import { Gtm, skip } from '../real/gtm.mjs';
import { contents, empty, exported, temporaryStore } from './store.mjs';

const { db, folder } = temporaryStore();

/** @type {[any[], string | Uint8Array][]} */
const PLAIN = [
  [[], 'a value at the root'],
  [[-1.5], '.5'],
  [[0], ''],
  [[0.5], 'half'],
  [[1e-43], 'the smallest'],
  [[1, 'name'], 'Rob'],
  [[1, 'note'], 'He said "hi", _$C(1)'],
  [['100000000000000000000'], 'twenty zeros'],
  [['01', 'a,b', 'c(d)', '"q"', ' x '], '1'],
  [['a'], 'é Ä € 漢字 \u{1f600}'],
  [['é', 'Ω'], 'in a subscript'],
  [['long'], 'x'.repeat(100_000)],
];

/** @type {[any[], string | Uint8Array][]} */
const CONTROLS = [
  [['tab\t', 'line\n', 'nul\0'], 'a\r\nb\0\x01\x1b\x7f\x85'],
  [['bytes'], new Uint8Array([65, 200, 1, 255, 34])],
];

/** @param {[any[], string | Uint8Array][]} nodes */
function fill(nodes) {
  empty(db);
  for (const name of ['Person', '%x', 'Z9']) {
    for (const [subscripts, value] of nodes) db.global(name).set(...subscripts, value);
  }
}

/**
 * @param {'M' | 'UTF-8'} mode
 * @param {'zwr' | 'go'} format
 * @param {string} charset
 */
function thereAndBack(mode, format, charset) {
  const place = join(folder, `${mode}-${format}`);
  mkdirSync(place);
  const before = contents(db);
  const [out, back] = [join(place, `out.${format}`), join(place, `back.${format}`)];
  writeFileSync(out, exported(db, { format, charset }));
  const gtm = new Gtm(place, mode);
  gtm.load(out, format);
  gtm.extract(back, format);
  empty(db);
  assert.equal(importNodes(db, back, { format, charset }).nodes, before.length);
  assert.deepEqual(contents(db), before);
  assert.equal(importNodes(db, back, { charset, dryRun: true }).nodes, before.length);
}

for (const [mode, charset] of /** @type {['M' | 'UTF-8', string][]} */ ([
  ['M', 'm'],
  ['UTF-8', 'utf-8'],
])) {
  test(`ZWR through GT.M in ${mode} mode`, { skip }, () => {
    fill([...PLAIN, ...CONTROLS]);
    thereAndBack(mode, 'zwr', charset);
  });
}

test('GO through GT.M, which has it in M mode only', { skip }, () => {
  fill(PLAIN);
  thereAndBack('M', 'go', 'm');
});
