// The items of the scale benchmark, made by items.wat in about a tenth of a microsecond each; checked against known ones
// before anything is measured with them.

import { readFileSync } from 'node:fs';
import wabt from 'wabt';

/** The size of a value: from and to, in bytes. */
const LEAST = 250;
const MOST = 750;

/** @type {{ number: number, size: number, key: string, value: string }[]} */
const KNOWN = [
  { number: 0, size: 352, key: '85bdbe626475760c0140e560bf800fc1', value: 'cac03e5eb815ac62' },
  { number: 1, size: 352, key: '7d5f82875c4f9e2cf0b89240c8057227', value: 'aa19b725b366510d' },
  { number: 999_999, size: 710, key: '1d758099adc1632bb58f1875712ed2c7', value: 'a1c196e86eb5a159' },
];
const KNOWN_PICKS = [291_380, 296_465, 199_040, 806_064, 445_545];

/** The seed of the choice of what is fetched, taken again for each batch. */
const PICK_SEED = 1337;

/**
 * @typedef {object} Maker
 * @property {(number: number) => void} make item number 0, 1, 2…; the next call overwrites it
 * @property {() => Buffer} key of the item made last; a view, to be copied if it is to be kept
 * @property {() => Buffer} value of the item made last; a view too
 * @property {() => void} restart the choice of what is fetched
 * @property {(count: number) => number} pick a number below `count`
 */

/**
 * @param {number} keySize bytes
 * @returns {Promise<Maker>}
 */
export async function createMaker(keySize) {
  const maker = await compile(keySize);
  if (keySize === 64) check(maker);
  return maker;
}

/** @param {number} keySize @returns {Promise<Maker>} */
async function compile(keySize) {
  const { parseWat } = await wabt();
  const text = readFileSync(new URL('items.wat', import.meta.url), 'utf8');
  const { buffer } = parseWat('items.wat', text).toBinary({});
  const { instance } = await WebAssembly.instantiate(buffer);
  const { memory, make, seedPicks, pick } = /** @type {any} */ (instance.exports);
  // One view for each size there can be, so that no item costs an allocation.
  const sizes = Array.from({ length: MOST - LEAST + 1 }, (_, at) => LEAST + at);
  const values = sizes.map((size) => Buffer.from(memory.buffer, 0, size));
  const keys = sizes.map((size) => Buffer.from(memory.buffer, size, keySize));
  let last = 0;
  return {
    make(number) {
      last = make(number, keySize) - LEAST;
    },
    key: () => keys[last],
    value: () => values[last],
    restart: () => seedPicks(PICK_SEED),
    pick,
  };
}

/** @param {Maker} maker */
function check(maker) {
  for (const { number, size, key, value } of KNOWN) {
    maker.make(number);
    const made = {
      size: maker.value().length,
      key: maker.key().toString('hex', 0, 16),
      value: maker.value().toString('hex', 0, 8),
    };
    if (made.size !== size || made.key !== key || made.value !== value) {
      throw new Error(
        `item ${number} is ${JSON.stringify(made)}, but must be ${JSON.stringify({ size, key, value })}`,
      );
    }
  }
  maker.restart();
  for (const known of KNOWN_PICKS) {
    const picked = maker.pick(1_000_000);
    if (picked !== known) throw new Error(`picked ${picked}, but must be ${known}`);
  }
}
