// Turns what a program passes as a key into a subscript: numbers into their canonical M form, array indexes into the
// bracketed form that keeps their order.

import { describe, failure } from './failure.mjs';

/** @typedef {string | Uint8Array} Subscript a subscript as the nodes of this face hold it */

const BRACKET = 91;

/** Digits of an index that needs no letter: `[000000]` to `[999999]`, the form of the published glsdb. */
const PLAIN_DIGITS = 6;

/** `a`, in front of seven digits, `b` in front of eight and so on: letters keep longer indexes behind shorter ones. */
const FIRST_LETTER = 97;

/** In front of the key `''`, which is no subscript, and of keys that begin with this character themselves. */
const ESCAPE = '\u001b';

/** The subscript of the one leaf below an empty array. Its value is the empty string. */
export const EMPTY_ARRAY = '[]';

const HIGHEST_INDEX = 2 ** 32 - 2;

/** An index as stored: the published glsdb writes those of seven and more digits without a letter. */
const INDEX_KEY = /^\[(?:([a-m]?)([1-9]\d{6,18})|\d{6})\]$/;
const BRACKETED_NUMBER = /^\[\+?(\d+)\]$/;
const WHOLE_NUMBER = /^(?:0|[1-9]\d*)$/;

/**
 * The subscript under which an array keeps the member with this index.
 *
 * @param {number | string} index 0 or more; digits in a string are accepted too
 * @returns {string} `[000000]` for 0, `[a1000000]` for 1,000,000
 * @throws {TypeError & {code: 'ERR_ARG'}} when it is no array index
 */
export function indexKey(index) {
  const number = typeof index === 'number' ? index : wholeNumber(index);
  if (!Number.isInteger(number) || number < 0 || number > HIGHEST_INDEX) {
    throw failure(
      'ERR_ARG',
      `an array index is a whole number from 0 to ${HIGHEST_INDEX}, not ${describe(index)}`,
    );
  }
  const digits = String(number).padStart(PLAIN_DIGITS, '0');
  return digits.length > PLAIN_DIGITS ? `[${letterFor(digits.length)}${digits}]` : `[${digits}]`;
}

/**
 * @param {unknown} text
 * @returns {number} NaN when the text is not made of digits only
 */
function wholeNumber(text) {
  return typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

/**
 * Whether a subscript, as stored, is that of an array member.
 *
 * @param {Subscript} subscript
 * @returns {subscript is string}
 */
export function isIndexKey(subscript) {
  if (typeof subscript !== 'string' || subscript.charCodeAt(0) !== BRACKET) return false;
  const match = INDEX_KEY.exec(subscript);
  return match !== null && (!match[1] || letterFor(match[2].length) === match[1]);
}

/**
 * @param {number} digits seven or more
 * @returns {string} the letter in front of an index with so many digits
 */
function letterFor(digits) {
  return String.fromCharCode(FIRST_LETTER + digits - PLAIN_DIGITS - 1);
}

/**
 * The index that {@link indexKey} put into a subscript.
 *
 * @param {string} subscript one for which {@link isIndexKey} holds
 * @returns {number}
 */
export function indexOfKey(subscript) {
  const letter = subscript.charCodeAt(1) > 57;
  return Number(subscript.slice(letter ? 2 : 1, -1));
}

/**
 * Reads a property name as an array index, as JavaScript arrays do.
 *
 * @param {string} name
 * @returns {number} -1 when it is none
 */
export function arrayIndex(name) {
  if (!WHOLE_NUMBER.test(name)) return -1;
  const index = Number(name);
  return index <= HIGHEST_INDEX ? index : -1;
}

/**
 * The subscript that a key given by a program stands for. `[7]` is the array member 7, in whatever width.
 *
 * @param {unknown} key a string, number, bigint, boolean or bytes
 * @returns {Subscript}
 * @throws {TypeError & {code: 'ERR_ARG'}} for anything else
 */
export function subscriptOf(key) {
  if (typeof key === 'string') return key.charCodeAt(0) === BRACKET ? paddedIndex(key) : key;
  if (typeof key === 'number') return numberKey(key);
  if (typeof key === 'bigint' || typeof key === 'boolean') return String(key);
  if (key instanceof Uint8Array) return key;
  throw failure('ERR_ARG', `a key is a string, a number or bytes, not ${describe(key)}`);
}

/**
 * @param {string} key a key that begins with a bracket
 * @returns {string}
 */
function paddedIndex(key) {
  const match = BRACKETED_NUMBER.exec(key);
  return match && Number(match[1]) <= HIGHEST_INDEX ? indexKey(match[1]) : key;
}

/**
 * A number as M writes it: no exponent, no zero before the point.
 *
 * @param {number} number within M's range, 1E-43 to 1E47 either side of zero
 * @returns {string} `.5` for 0.5
 * @throws {Error & {code: 'ERR_BAD_KEY'}} for NaN, infinities and numbers out of range
 */
export function numberKey(number) {
  if (Number.isSafeInteger(number)) return String(number);
  const size = Math.abs(number);
  if (!(size >= 1e-43 && size < 1e47)) {
    throw failure('ERR_BAD_KEY', `the number ${number} is no subscript: M numbers go from 1E-43 to 1E47`);
  }
  const [mantissa, exponent] = size.toExponential().split('e');
  const digits = /** @type {string} */ (mantissa).replace('.', '');
  const point = Number(exponent) + 1;
  return (number < 0 ? '-' : '') + placePoint(digits, point);
}

/**
 * @param {string} digits significant digits, the first of them not zero
 * @param {number} point how many of them stand before the decimal point; negative when zeros follow it first
 * @returns {string}
 */
function placePoint(digits, point) {
  if (point <= 0) return `.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return digits.padEnd(point, '0');
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
}

/**
 * Whether a subscript among an object's children could be taken for that of an array member, so that the object carries
 * a mark.
 *
 * @param {string} subscript
 * @returns {boolean}
 */
export function isMarkedName(subscript) {
  return subscript === EMPTY_ARRAY || isIndexKey(subscript);
}

/**
 * The subscript that holds a key of an object's document, whatever its characters.
 *
 * @param {string} name
 * @returns {string}
 */
export function subscriptOfProperty(name) {
  return name === '' || name.startsWith(ESCAPE) ? ESCAPE + name : name;
}

/**
 * The key of an object's document that a subscript holds.
 *
 * @param {string} subscript
 * @returns {string}
 */
export function propertyOfSubscript(subscript) {
  if (!subscript.startsWith(ESCAPE)) return subscript;
  const name = subscript.slice(ESCAPE.length);
  return name === '' || name.startsWith(ESCAPE) ? name : subscript;
}
