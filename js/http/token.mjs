// The token that lets somebody in: how good it must be, and how it is compared.

import { createHash, timingSafeEqual } from 'node:crypto';

/** What a token that strangers may guess at must be worth, in bits; sixteen random bytes are worth more. */
const NEEDED = 64;

/** How to make one, for messages. */
export const HOW_TO_MAKE_A_TOKEN =
  "make one: node -e \"console.log(require('crypto').randomBytes(32).toString('base64url'))\"";

/**
 * @param {string} token
 * @returns {boolean} whether a header field can bring it as it is: visible characters of ASCII, no spaces
 */
export function canBeSent(token) {
  return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token);
}

/** @param {string} text */
function digest(text) {
  return createHash('sha256').update(text).digest();
}

/**
 * What a token is worth: its length times the entropy of its characters. It does not know words, so it is an upper bound.
 * @param {string} token
 * @returns {number} bits
 */
export function strengthOf(token) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const character of token) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= count * Math.log2(count / token.length);
  return bits;
}

/**
 * @param {string} token
 * @returns {boolean} whether it is good enough for a server that others can reach
 */
export function isStrongEnough(token) {
  return token.length >= 16 && strengthOf(token) >= NEEDED;
}

/**
 * Makes the comparison with one text.
 * @param {string} expected
 * @returns {(given: string) => boolean} takes the same time wherever a wrong text differs, and whatever its length
 */
export function comparisonWith(expected) {
  const wanted = digest(expected);
  return (given) => timingSafeEqual(digest(given), wanted);
}
