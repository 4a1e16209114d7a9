// The backup text of glsdb's programs: a line that says when, then three lines a node: the global's name, its subscripts as
// a JSON array, and its value as it is.

import { fault, SyntaxFault } from './faults.mjs';
import { spellNumber } from './numerals.mjs';
import { asText } from './spell.mjs';

const FIRST = 'Backup at ';
/** Where glsdb's programs end a line when they read. */
const LINE_END = /[\n\r\u2028\u2029]/;

/** @param {string} first @returns {boolean} whether a file with this first line is such a text */
export function isGlsdbText(first) {
  return first.startsWith(FIRST);
}

/** @param {Date} now */
export function glsdbHead(now) {
  return `${FIRST}${now.toUTCString()}\n`;
}

/**
 * @param {string} name
 * @param {any[]} subscripts
 * @param {any} value
 * @returns {string} the lines of one node
 * @throws {Error} `ERR_BAD_VALUE`, `ERR_BAD_KEY` for what this text cannot say
 */
export function glsdbNode(name, subscripts, value) {
  const text = asText(value);
  if (typeof text !== 'string') {
    throw fault('ERR_BAD_VALUE', 'a glsdb backup holds text only, and the value is bytes: take jsonl');
  }
  if (LINE_END.test(text)) {
    throw fault('ERR_BAD_VALUE', 'a glsdb backup cannot hold a value with a line end: take jsonl');
  }
  const spelt = JSON.stringify(subscripts.map(spellSubscript));
  return `${name}\n${spelt.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n${text}\n`;
}

/** @param {any} subscript @returns {string} as glsdb gives it */
function spellSubscript(subscript) {
  if (typeof subscript === 'object') {
    throw fault('ERR_BAD_KEY', 'a glsdb backup holds text only, and a subscript is bytes: take jsonl');
  }
  return typeof subscript === 'number' ? spellNumber(subscript) : subscript;
}

/** The lines of such a text, one after another. */
export class GlsdbReader {
  /** Lines read; the first one only says when the backup was made. */
  #lines = 0;
  #name = '';
  /** @type {any[] | undefined} none where their line was wrong */
  #subscripts;

  /** @param {string} text @returns {import('./formats.mjs').Node | undefined} */
  read(text) {
    const part =
      this.#lines === 0 ? 'date' : /** @type {const} */ (['value', 'name', 'subscripts'])[this.#lines % 3];
    this.#lines += 1;
    if (part === 'name') this.#name = text;
    else if (part === 'subscripts') {
      this.#subscripts = undefined;
      this.#subscripts = readSubscripts(text);
    } else if (part === 'value' && this.#subscripts !== undefined) {
      return { name: this.#name, subscripts: this.#subscripts, value: text };
    }
    return undefined;
  }

  end() {
    if (this.#lines % 3 !== 1) throw new SyntaxFault('the last node lacks its subscripts or its value', 0);
  }
}

/** @param {string} text */
function readSubscripts(text) {
  let subscripts;
  try {
    subscripts = JSON.parse(text);
  } catch {
    subscripts = undefined;
  }
  const isRight = (/** @type {any} */ one) => typeof one === 'string' || typeof one === 'number';
  if (Array.isArray(subscripts) && subscripts.every(isRight)) return subscripts;
  throw new SyntaxFault('here the subscripts were expected, as a JSON array of strings', 0);
}
