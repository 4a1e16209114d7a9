// Nodes as M spells them, `^Person(1,"note")="He said ""hi"""`: the writing half of ZWR and GO.

import { Buffer, isAscii } from 'node:buffer';
import { fault } from './faults.mjs';
import { isCanonical, spellNumber } from './numerals.mjs';

/** @typedef {import('./charset.mjs').Charset} Charset */

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const RUNS = /[\x00-\x1f\x7f-\x9f\xff\u2028\u2029\ufeff]+|[^\x00-\x1f\x7f-\x9f\xff\u2028\u2029\ufeff]+/g;

/**
 * @param {string} name without caret
 * @param {any[]} subscripts
 * @param {Charset} charset
 * @returns {string} M characters
 */
export function spellReference(name, subscripts, charset) {
  let text = `^${name}`;
  for (let at = 0; at < subscripts.length; at++) {
    const spelt = spellSubscript(subscripts[at], charset);
    if (spelt === undefined) {
      throw fault(
        'ERR_BAD_KEY',
        'M cannot tell bytes that spell a number from the number: export as JSON lines, which can',
      );
    }
    text += (at === 0 ? '(' : ',') + spelt;
  }
  return subscripts.length === 0 ? text : `${text})`;
}

/**
 * @param {any} subscript
 * @param {Charset} charset
 * @returns {string | undefined} undefined for bytes that spell a number, which M takes for the number
 */
export function spellSubscript(subscript, charset) {
  if (typeof subscript === 'number') return spellNumber(subscript);
  if (typeof subscript === 'string') return isCanonical(subscript) ? subscript : quote(subscript, charset);
  const spellsNumber = isAscii(subscript) && isCanonical(Buffer.from(subscript).toString('latin1'));
  return spellsNumber ? undefined : quote(subscript, charset);
}

/** @param {Uint8Array} bytes @returns {string} */
export function byNumbers(bytes) {
  return `$ZCH(${bytes.join(',')})`;
}

/**
 * @param {string | Uint8Array} value
 * @param {Charset} charset
 * @returns {string} quoted strings and `$C(…)`, joined by `_`
 */
export function quote(value, charset) {
  const text = charset.characters(value);
  if (text === undefined) return quoteBytes(/** @type {Uint8Array} */ (value));
  if (!charset.unprintable.test(text)) return quoted(text);
  const parts = [];
  for (const [run] of text.matchAll(RUNS)) {
    // The runs are cut for the larger set; one that this character set can print stays quoted.
    parts.push(charset.unprintable.test(run) ? byNumber('$C', run) : quoted(run));
  }
  return parts.join('_');
}

/** @param {string} text */
function quoted(text) {
  return text.includes('"') ? `"${text.replaceAll('"', '""')}"` : `"${text}"`;
}

/**
 * @param {string} word
 * @param {string} run
 */
function byNumber(word, run) {
  return `${word}(${Array.from(run, (character) => character.codePointAt(0)).join(',')})`;
}

/** @param {Uint8Array} bytes that are no UTF-8 */
function quoteBytes(bytes) {
  const text = Buffer.from(bytes).toString('latin1');
  const parts = [];
  for (const [run] of text.matchAll(/[ -~]+|[^ -~\x80-\xff]+|[\x80-\xff]+/g)) {
    if (/[ -~]/.test(run)) parts.push(quoted(run));
    else parts.push(byNumber(run > '\x7f' ? '$ZCH' : '$C', run));
  }
  return parts.join('_');
}

/**
 * A value as text: what the mg-dbx face reads. Types are lost; JSON lines keep them.
 *
 * @param {any} value
 * @returns {string | Uint8Array}
 */
export function asText(value) {
  if (typeof value === 'string' || value instanceof Uint8Array) return value;
  // A mark has no text.
  return typeof value === 'object' && value !== null ? '' : String(value);
}
