// Character sets of ZWR and GO files. A file is made of M characters: code points where M ran in UTF-8 mode, bytes where
// it ran in M mode. Here text is a string of M characters, so in M mode no character is above U+00FF.

import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { fault } from './faults.mjs';

/**
 * @typedef {object} Charset
 * @property {string} name
 * @property {'utf8' | 'latin1'} encoding how a file's text becomes bytes
 * @property {number} highest the highest number that `$C` takes
 * @property {RegExp} unprintable what a quoted string cannot hold as it is
 * @property {(value: string | Uint8Array) => string | undefined} characters a value as M characters; undefined for
 *   bytes that only `$ZCH` can say
 * @property {(text: string) => string | Uint8Array} value what M characters stand for
 */

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what these are about
const UNPRINTABLE_CHARACTERS = /[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]/;
const UNPRINTABLE_BYTES = /[\x00-\x1f\x7f-\x9f\xff]/;
const BEYOND_ASCII = /[^\x00-\x7f]/;
const BEYOND_BYTES = /[^\x00-\xff]/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: as above

/** @type {Record<string, Charset>} */
export const CHARSETS = {
  // M in UTF-8 mode.
  'utf-8': {
    name: 'utf-8',
    encoding: 'utf8',
    highest: 0x10ffff,
    unprintable: UNPRINTABLE_CHARACTERS,
    characters: (value) => (typeof value === 'string' ? value : textOf(value)),
    value: (text) => text,
  },
  // M in M mode, whose programs wrote ISO 8859-1: a byte is the character of its number.
  latin1: {
    name: 'latin1',
    encoding: 'latin1',
    highest: 0xff,
    unprintable: UNPRINTABLE_BYTES,
    characters: (value) => (typeof value === 'string' ? narrow(value) : asView(value).toString('latin1')),
    value: (text) => text,
  },
  // M in M mode, whose programs wrote UTF-8: bytes that are UTF-8 are text, others stay bytes.
  m: {
    name: 'm',
    encoding: 'latin1',
    highest: 0xff,
    unprintable: UNPRINTABLE_BYTES,
    characters(value) {
      if (typeof value !== 'string') return asView(value).toString('latin1');
      return BEYOND_ASCII.test(value) ? Buffer.from(value, 'utf8').toString('latin1') : value;
    },
    value: (text) => (BEYOND_ASCII.test(text) ? bytesOrText(Buffer.from(text, 'latin1')) : text),
  },
};

/**
 * @param {string} name as `--charset` takes it
 * @returns {Charset}
 */
export function charsetOf(name) {
  const known = { utf8: 'utf-8', 'iso-8859-1': 'latin1' }[name.toLowerCase()] ?? name.toLowerCase();
  if (Object.hasOwn(CHARSETS, known)) return CHARSETS[known];
  throw fault('ERR_ARG', `${name} is no character set: take ${Object.keys(CHARSETS).join(', ')}`);
}

/**
 * @param {Uint8Array} bytes
 * @returns {Buffer} on the same memory
 */
function asView(bytes) {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** @param {Uint8Array} bytes @returns {string | undefined} undefined where they are no UTF-8 */
function textOf(bytes) {
  return isUtf8(bytes) ? asView(bytes).toString('utf8') : undefined;
}

/**
 * @param {Buffer} bytes
 * @returns {string | Uint8Array} text where they are UTF-8
 */
export function bytesOrText(bytes) {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : new Uint8Array(bytes);
}

/** @param {string} text */
function narrow(text) {
  const wide = BEYOND_BYTES.exec(text)?.[0];
  if (wide === undefined) return text;
  throw fault(
    'ERR_BAD_VALUE',
    `the character ${JSON.stringify(wide)} is not in latin1: export with the charset utf-8 or m`,
  );
}
