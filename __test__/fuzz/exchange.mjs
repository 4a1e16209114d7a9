// The fuzzer of ZWR, GO and JSON lines, which are read in JavaScript: files of the corpus, changed at random, are imported.
// Whatever the bytes, the import either refuses them with a code and a line and writes nothing, or what it wrote is exported
// and imported again to the same nodes.
//
//   node __test__/fuzz/exchange.mjs --seconds 60 [--seed 1]

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { exportNodes } from '../../js/exchange/export.mjs';
import { importNodes } from '../../js/exchange/import.mjs';
import { open } from '../../js/index.mjs';

const corpus = fileURLToPath(new URL('corpus/zwr', import.meta.url));
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
  },
});

const folder = mkdtempSync(join(tmpdir(), 'caretdb-fuzz-'));
const db = open(join(folder, 'store'), { durability: 'process' });
const again = open(join(folder, 'again'), { durability: 'process' });
const next = randomNumbers(Number(values.seed));
const seeds = readdirSync(corpus).map((name) => readFileSync(join(corpus, name)));
let accepted = 0;
let refused = 0;
try {
  const end = Date.now() + Number(values.seconds) * 1000;
  while (Date.now() < end) tryOne(changed(seeds[next(seeds.length)]));
  console.log(`exchange: ${accepted} accepted, ${refused} refused, none lost (seed ${values.seed})`);
} finally {
  db.close();
  again.close();
  rmSync(folder, { recursive: true, force: true });
}

/** @param {Uint8Array} content */
function tryOne(content) {
  const path = join(folder, 'input');
  writeFileSync(path, content);
  const charset = ['utf-8', 'latin1', 'm', undefined][next(4)];
  try {
    clear(db);
    importNodes(db, path, { charset });
  } catch (error) {
    refused += 1;
    return checkRefusal(/** @type {any} */ (error), content);
  }
  accepted += 1;
  const first = exported(db);
  writeFileSync(path, first);
  clear(again);
  importNodes(again, path, { format: 'jsonl' });
  if (!exported(again).equals(first)) keep(content, 'what was imported is not what was exported');
}

/** @param {any} error @param {Uint8Array} content */
function checkRefusal(error, content) {
  if (!/^ERR_[A-Z_]+$/.test(error.code ?? '') || error.code === 'ERR_INTERNAL')
    keep(content, `an error without a code: ${error.stack}`);
  if ([...db.globals()].length > 0) keep(content, 'a refused file left something');
}

/** @param {Uint8Array} content @param {string} why */
function keep(content, why) {
  const found = join(process.cwd(), 'artifacts', `exchange-${values.seed}-${accepted + refused}`);
  mkdirSync(join(process.cwd(), 'artifacts'), { recursive: true });
  writeFileSync(found, content);
  assert.fail(`${why}; the input is ${found}`);
}

/** @param {any} store */
function clear(store) {
  for (const name of [...store.globals()]) store.global(name).delete();
}

/** @param {any} store */
function exported(store) {
  /** @type {Buffer[]} */
  const pieces = [];
  exportNodes(store, (piece) => pieces.push(piece), { format: 'jsonl' });
  return Buffer.concat(pieces);
}

/**
 * @param {Buffer} seed
 * @returns {Buffer} with one to four changes
 */
function changed(seed) {
  let bytes = Buffer.from(seed);
  for (let change = 0; change <= next(4); change++) bytes = changedOnce(bytes);
  return bytes;
}

/** @param {Buffer} bytes */
function changedOnce(bytes) {
  const at = next(bytes.length + 1);
  const length = next(8);
  const before = bytes.subarray(0, at);
  const behind = bytes.subarray(at);
  const tokens = [
    '"',
    '""',
    '$C(',
    ')',
    '_',
    ',',
    '^',
    '(',
    '=',
    '\n',
    '\r\n',
    '0',
    '-',
    '.',
    'E',
    '\0',
    'é',
    '{"',
  ];
  switch (next(5)) {
    case 0:
      return Buffer.concat([before, Buffer.from(tokens[next(tokens.length)]), behind]);
    case 1:
      return Buffer.concat([before, behind.subarray(length)]);
    case 2:
      return Buffer.concat([before, Buffer.from([next(256)]), behind.subarray(1)]);
    case 3:
      return Buffer.concat([before, bytes.subarray(next(bytes.length + 1)), behind]);
    default:
      return Buffer.from(before);
  }
}

/**
 * @param {number} seed
 * @returns {(limit: number) => number} whole numbers below a limit, the same ones for the same seed
 */
function randomNumbers(seed) {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % limit;
  };
}
