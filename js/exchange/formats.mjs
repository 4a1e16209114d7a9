// The formats nodes move in and out in. Each writes a node as text and reads a file line by line; docs/cli.md
// says what they look like and what each keeps.

import { Buffer } from 'node:buffer';
import { charsetOf } from './charset.mjs';
import { fault, SyntaxFault } from './faults.mjs';
import { GlsdbReader, glsdbHead, glsdbNode, isGlsdbText } from './glsdb-text.mjs';
import { MARKS, Mark } from './marks.mjs';
import { Scanner } from './scanner.mjs';
import { asText, quote, spellReference } from './spell.mjs';

/** @typedef {import('./charset.mjs').Charset} Charset */
/** @typedef {{ name: string, subscripts: any[], value: any }} Node */

/**
 * @typedef {object} Format
 * @property {boolean} isM whether M reads it too, and so names must be M's
 * @property {string[]} charsets those that it can be in, the usual one first
 * @property {(charset: Charset, now: Date) => string} head the file's first lines
 * @property {(name: string, subscripts: any[], value: any, charset: Charset) => string} node the lines of one node
 * @property {(charset: Charset) => Reader} reader
 *
 * @typedef {object} Reader
 * @property {(text: string) => Node | undefined} read takes the next line; it throws where that is wrong
 * @property {() => void} end throws where the file ends too early
 */

/** `^Person(1,"name")="Rob"`, one line a node. */
class ZwrReader {
  #head = new Head();
  #charset;

  /** @param {Charset} charset */
  constructor(charset) {
    this.#charset = charset;
  }

  /** @param {string} text @returns {Node | undefined} */
  read(text) {
    if (this.#head.takes(text) || text === '') return undefined;
    const scanner = new Scanner(text, this.#charset);
    if (text[0] !== '^') throw scanner.wrong('a line begins with a node such as ^Person(1)');
    const { name, subscripts } = scanner.reference();
    if (text[scanner.at] !== '=') throw scanner.wrong('after the node comes = and its value');
    scanner.at += 1;
    const first = text[scanner.at];
    const value = first === '"' || first === '$' ? scanner.string() : scanner.numeral();
    if (value === undefined) throw scanner.wrong('a value is a string in double quotes, $C(…) or a number');
    scanner.end();
    return { name, subscripts, value };
  }

  end() {}
}

/** `^Person(1,"name")` on one line, its value as it is on the next. */
class GoReader {
  #head = new Head();
  #charset;
  /** @type {Omit<Node, 'value'> | 'wrong' | undefined} what the next line is the value of */
  #open;

  /** @param {Charset} charset */
  constructor(charset) {
    this.#charset = charset;
  }

  /** @param {string} text @returns {Node | undefined} */
  read(text) {
    if (this.#open !== undefined) {
      const open = this.#open;
      this.#open = undefined;
      if (open === 'wrong') return undefined;
      return { name: open.name, subscripts: open.subscripts, value: this.#charset.value(text) };
    }
    if (this.#head.takes(text) || text === '') return undefined;
    this.#open = 'wrong';
    const scanner = new Scanner(text, this.#charset);
    if (text[0] !== '^') throw scanner.wrong('here a node such as ^Person(1) was expected');
    const reference = scanner.reference();
    scanner.end();
    this.#open = reference;
    return undefined;
  }

  end() {
    if (this.#open !== undefined) throw new SyntaxFault('the value of the last node is missing', 0);
  }
}

/** The two lines, a label and a date, that M writes in front of the nodes; other programs leave them out. */
class Head {
  #lines = 0;
  #over = false;

  /** @param {string} text @returns {boolean} whether the line belongs to the head */
  takes(text) {
    if (this.#over) return false;
    this.#lines += 1;
    this.#over = this.#lines > 2 || (this.#lines === 1 && text.startsWith('^'));
    return !this.#over;
  }
}

/** `["Person",[1,"name"],"Rob"]`, one line a node, with every type. */
class JsonReader {
  /** @param {string} text @returns {Node | undefined} */
  read(text) {
    if (text.trim() === '') return undefined;
    const node = parse(text);
    if (!Array.isArray(node) || node.length !== 3 || !Array.isArray(node[1])) {
      throw new SyntaxFault('a line is [name, [subscripts…], value]', 0);
    }
    if (SURROGATE_ESCAPE.test(text) && [node[0], ...node[1], node[2]].some(hasLoneSurrogate)) {
      throw new SyntaxFault('a lone surrogate is no character', 0);
    }
    const [name, subscripts, value] = node;
    if (typeof name !== 'string') throw new SyntaxFault('the name of a global is a string', 0);
    for (let at = 0; at < subscripts.length; at++) {
      if (typeof subscripts[at] === 'object') subscripts[at] = jsonBytes(subscripts[at]);
    }
    return { name, subscripts, value: jsonValue(value) };
  }

  end() {}
}

const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/** @param {any} part */
function hasLoneSurrogate(part) {
  return typeof part === 'string' && /\p{Surrogate}/u.test(part);
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SyntaxFault(`not JSON: ${/** @type {Error} */ (error).message}`, 0);
  }
}

/** Numbers that JSON has no spelling for. */
const UNSPEAKABLE = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['-0', -0],
]);

/** @param {any} value @returns {any} */
function jsonValue(value) {
  if (typeof value !== 'object' || value === null) {
    if (typeof value !== 'number' || Number.isFinite(value)) return value;
    throw new SyntaxFault('the value is no number that a double holds', 0);
  }
  const [member, ...more] = Object.entries(value);
  const found =
    more.length > 0 ? undefined : { mark: MARKS, number: UNSPEAKABLE }[member?.[0]]?.get(member?.[1]);
  return found ?? jsonBytes(value);
}

/** @param {any} value @returns {Uint8Array} */
function jsonBytes(value) {
  const text = value?.bytes;
  const isBase64 = typeof text === 'string' && /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0;
  if (isBase64 && Object.keys(value).length === 1) return new Uint8Array(Buffer.from(text, 'base64'));
  throw new SyntaxFault(
    'an object here is {"bytes": base64}, or as a value {"mark": name} or {"number": "-0" | "NaN" | "Infinity" | "-Infinity"}',
    0,
  );
}

/**
 * @param {any} value a subscript or a value
 * @returns {any} what JSON.stringify writes for it
 */
export function asJson(value) {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number') {
    return Number.isFinite(value) && !Object.is(value, -0)
      ? value
      : { number: Object.is(value, -0) ? '-0' : String(value) };
  }
  if (value instanceof Mark) return { mark: value.name };
  return { bytes: Buffer.from(value).toString('base64') };
}

/** @param {any[]} subscripts */
export function subscriptsAsJson(subscripts) {
  return subscripts.some((subscript) => typeof subscript === 'object') ? subscripts.map(asJson) : subscripts;
}

/** @param {Charset} charset @param {Date} now @param {string} kind */
function head(charset, now, kind) {
  const month = now.toLocaleString('en-US', { month: 'short' }).toUpperCase();
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
  const day = `${two(now.getDate())}-${month}-${now.getFullYear()}`;
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join(':');
  // M loads a file in UTF-8 mode when its label ends so.
  return `CaretDB export${charset.name === 'utf-8' ? ' UTF-8' : ''}\n${day}  ${time}${kind}\n`;
}

/** @type {Record<'zwr' | 'go' | 'jsonl' | 'glsdb', Format>} */
export const FORMATS = {
  zwr: {
    isM: true,
    charsets: ['utf-8', 'latin1', 'm'],
    head: (charset, now) => head(charset, now, ' ZWR'),
    node: (name, subscripts, value, charset) =>
      `${spellReference(name, subscripts, charset)}=${quote(asText(value), charset)}\n`,
    reader: (charset) => new ZwrReader(charset),
  },
  go: {
    isM: true,
    // M has no GO in UTF-8 mode.
    charsets: ['m', 'latin1'],
    head: (charset, now) => head(charset, now, ''),
    node: (name, subscripts, value, charset) =>
      `${spellReference(name, subscripts, charset)}\n${goValue(value, charset)}\n`,
    reader: (charset) => new GoReader(charset),
  },
  jsonl: {
    isM: false,
    charsets: ['utf-8'],
    head: () => '',
    node: (name, subscripts, value) =>
      `${JSON.stringify([name, subscriptsAsJson(subscripts), asJson(value)])}\n`,
    reader: () => new JsonReader(),
  },
  glsdb: {
    isM: false,
    charsets: ['utf-8'],
    head: (_, now) => glsdbHead(now),
    node: glsdbNode,
    reader: () => new GlsdbReader(),
  },
};

/** @param {any} value @param {Charset} charset */
function goValue(value, charset) {
  const text = charset.characters(asText(value)) ?? '';
  if (!/[\n\r]/.test(text)) return text;
  throw fault('ERR_BAD_VALUE', 'a GO file cannot hold a value with a line end: take zwr');
}

/**
 * @param {string} name as `--format` takes it
 * @returns {Format}
 */
export function formatOf(name) {
  const known = /** @type {'jsonl'} */ (
    { json: 'jsonl', ndjson: 'jsonl' }[name.toLowerCase()] ?? name.toLowerCase()
  );
  if (Object.hasOwn(FORMATS, known)) return FORMATS[known];
  throw fault('ERR_ARG', `${name} is no format: take ${Object.keys(FORMATS).join(', ')}`);
}

/**
 * Which format a file is in, by its first lines.
 *
 * @param {string[]} lines at least the first four, where it has as many
 * @returns {'zwr' | 'go' | 'jsonl' | 'glsdb' | undefined}
 */
export function recognise(lines) {
  const [first = '', second = '', third = ''] = lines;
  if (/^\d\d-[A-Z]{3}-\d{4} .*ZWR\s*$/.test(second)) return 'zwr';
  if (/^\d\d-[A-Z]{3}-\d{4} /.test(second)) return third.startsWith('^') || third === '' ? 'go' : undefined;
  if (isGlsdbText(first)) return 'glsdb';
  const body = first.startsWith('^') ? first : third;
  if (/^\s*\[/.test(first)) return 'jsonl';
  if (!body.startsWith('^')) return undefined;
  return /^\^[^("=]*(?:\((?:"[^"]*"|[^")])*\))?=/.test(body) ? 'zwr' : 'go';
}

/**
 * @param {Format} format
 * @param {string} [name] as `--charset` takes it; what M does not read is always UTF-8
 * @returns {Charset}
 */
export function charsetFor(format, name) {
  const [usual] = format.charsets;
  if (name === undefined || !format.isM) return charsetOf(usual);
  const charset = charsetOf(name);
  if (format.charsets.includes(charset.name)) return charset;
  throw fault('ERR_ARG', `this format is never in ${charset.name}: take ${format.charsets.join(' or ')}`);
}
