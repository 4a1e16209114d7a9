// What makes sure that every read is right, the same for every peer.

import { isDeepStrictEqual } from 'node:util';

/**
 * The next record of a walk that looks random and is the same for every peer.
 *
 * @param {number} n
 * @param {number} records
 */
export function scramble(n, records) {
  return (((Math.imul(n, 1664525) + 1013904223) >>> 0) % records) + 1;
}

/**
 * Looks at each document a little and at some of them whole, so that the check is not what is measured.
 *
 * @param {any} found
 * @param {any} expected
 * @param {number} n
 * @param {number} records
 */
export function checkDocument(found, expected, n, records) {
  const key = Object.keys(expected)[0];
  const whole = n % Math.max(1, Math.floor(records / 100)) === 0;
  if (found?.[key] !== expected[key] || (whole && !isDeepStrictEqual(found, expected))) {
    throw new Error(`document ${n} is wrong: ${JSON.stringify(found)}`);
  }
}
