// Promise: what moves out moves in again. JSON lines keep every node, every key and the type of every value; ZWR and GO
// keep every key and the text of every value, in each character set that can say it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MARKS, store } from '../../js/exchange/marks.mjs';
import { contents, empty, exported, imported, temporaryStore } from './store.mjs';

const { db, folder } = temporaryStore();

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom('"', '_', '$', '(', ')', ',', '=', '\n', '\r', '\t', '\0', '\x7f', '\x85'),
  }),
  fc.constantFrom(
    '$C(1)',
    '"',
    '""',
    ' ',
    '10',
    '-.5',
    '010',
    '1E3',
    'é',
    '\u2028',
    '\ufeff',
    '\u{1f600}',
    '^X(1)=1',
  ),
);
const bytes = fc.uint8Array({ minLength: 1, maxLength: 20 });
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, min: -1e47, max: 1e47 }).filter((n) => n === 0 || Math.abs(n) >= 1e-43),
  fc.constantFrom(0, 0.5, -0.5, 1e-7, 1e21, 123456789012345680000, 2 ** 53),
);
const subscript = fc.oneof(
  text.filter((candidate) => candidate !== ''),
  number,
  bytes,
);
const value = fc.oneof(
  text,
  bytes,
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom(null, '', new Uint8Array(0), -0, Number.NaN, ...MARKS.values()),
);
const name = fc.constantFrom('Person', '%x', 'a1', 'Z');
const nodes = fc.array(fc.tuple(name, fc.array(subscript, { maxLength: 4 }), value), { maxLength: 30 });

/** @param {[string, any[], any][]} wanted */
function fill(wanted) {
  empty(db);
  for (const [global, subscripts, stored] of wanted) store(db.global(global), subscripts, stored);
}

test('JSON lines keep every node, key and type', () => {
  fc.assert(
    fc.property(nodes, (wanted) => {
      fill(wanted);
      const before = contents(db);
      const file = exported(db);
      assert.equal(file.toString().split('\n').length - 1, before.length);
      empty(db);
      assert.equal(
        imported(db, folder, file, before.length === 0 ? { format: 'jsonl' } : {}).nodes,
        before.length,
      );
      assert.deepEqual(contents(db), before);
    }),
    { numRuns: 300 },
  );
});

const isText = (/** @type {any} */ candidate) => typeof candidate === 'string';
const fits = (/** @type {any} */ candidate) => !isText(candidate) || /^[\0-\xff]*$/.test(candidate);

for (const charset of ['utf-8', 'm', 'latin1']) {
  test(`ZWR in ${charset} keeps every key and text`, () => {
    // latin1 has no other characters, and no way to tell bytes from text.
    const allowed = charset === 'latin1' ? fits : () => true;
    const typed = (/** @type {any} */ part) => (charset === 'latin1' ? !(part instanceof Uint8Array) : true);
    fc.assert(
      fc.property(nodes, (wanted) => {
        fill(
          wanted
            .filter(([, subscripts, stored]) =>
              [...subscripts, stored].every((part) => allowed(part) && typed(part)),
            )
            .filter(([, subscripts]) => !subscripts.some(spellsNumber))
            .map(([global, subscripts, stored]) => [global, subscripts, textOf(stored)]),
        );
        const before = contents(db);
        const file = exported(db, { format: 'zwr', charset });
        empty(db);
        imported(db, folder, file, { charset });
        assert.deepEqual(contents(db), before);
      }),
      { numRuns: 200 },
    );
  });
}

test('GO keeps every key and every text of one line', () => {
  fc.assert(
    fc.property(nodes, (wanted) => {
      fill(
        wanted
          .filter(
            ([, subscripts, stored]) =>
              !subscripts.some(spellsNumber) && isText(stored) && !/[\n\r]/.test(stored),
          )
          .map(([global, subscripts, stored]) => [global, subscripts, stored]),
      );
      const before = contents(db);
      const file = exported(db, { format: 'go' });
      empty(db);
      imported(db, folder, file, { format: 'go' });
      assert.deepEqual(contents(db), before);
    }),
    { numRuns: 200 },
  );
});

/** @param {any} part */
function spellsNumber(part) {
  return part instanceof Uint8Array && /^-?[\d.]+$/.test(Buffer.from(part).toString('latin1'));
}

/**
 * What ZWR gives back for a value: its text, and bytes only where they are no text.
 *
 * @param {any} stored
 */
function textOf(stored) {
  if (isText(stored)) return stored;
  if (!(stored instanceof Uint8Array)) return String(stored?.name ?? stored);
  const decoded = Buffer.from(stored).toString('utf8');
  return Buffer.from(decoded).equals(stored) ? decoded : stored;
}
