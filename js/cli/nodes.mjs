// Nodes as people type and read them: `^Person(1,"name")="Rob"`.

import { Buffer } from 'node:buffer';
import { CHARSETS } from '../exchange/charset.mjs';
import { fault, SyntaxFault } from '../exchange/faults.mjs';
import { asJson, subscriptsAsJson } from '../exchange/formats.mjs';
import { Mark, withMark } from '../exchange/marks.mjs';
import { isCanonical, spellNumber } from '../exchange/numerals.mjs';
import { Scanner } from '../exchange/scanner.mjs';
import { byNumbers, quote, spellSubscript } from '../exchange/spell.mjs';

const CHARSET = CHARSETS['utf-8'];

/** @typedef {{ name: string, subscripts: any[] }} Reference */

/** What was typed cannot be read; the message shows where. */
export class TypingError extends Error {
  code = 'ERR_ARG';
}

/**
 * @template T
 * @param {string} text
 * @param {(scanner: Scanner) => T} read
 * @returns {T}
 */
function scan(text, read) {
  const scanner = new Scanner(text, CHARSET);
  try {
    const found = read(scanner);
    scanner.end();
    return found;
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    const pointer = `${' '.repeat(error.at)}^`;
    throw new TypingError(`${error.message}\n  ${text}\n  ${pointer}${hint(text, error.at)}`);
  }
}

/** @param {string} text @param {number} at */
function hint(text, at) {
  if (/^['’“”]/.test(text.slice(at)))
    return '\nM writes strings in straight double quotes: ^Person(1,"name")';
  if (/^[A-Za-z]/.test(text.slice(at)) && text.includes('(')) {
    return '\nthe shell takes quotes away: put single quotes around the node, as in \'^Person(1,"name")\'';
  }
  return '';
}

/**
 * @param {string} text such as `^Person(1,"name")`; the caret may be left out
 * @returns {Reference}
 * @throws {TypingError}
 */
export function parseReference(text) {
  return scan(text.trim(), reference);
}

/** @param {Scanner} scanner @returns {Reference} with numbers as the native face gives them */
function reference(scanner) {
  const { name, subscripts } = scanner.reference();
  return { name, subscripts: subscripts.map(asNative) };
}

/** @param {string | Uint8Array} subscript */
function asNative(subscript) {
  if (typeof subscript !== 'string' || !isCanonical(subscript)) return subscript;
  const number = Number(subscript);
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER && spellNumber(number) === subscript
    ? number
    : subscript;
}

/**
 * @param {string} text such as `^Person(1,"name")="Rob"`
 * @returns {(Reference & { value: any }) | undefined} undefined where there is no `=`
 * @throws {TypingError}
 */
export function parseAssignment(text) {
  const trimmed = text.trim();
  const scanner = new Scanner(trimmed, CHARSET);
  try {
    scanner.reference();
  } catch {
    // Whatever is wrong is said when it is read as a reference alone.
    return undefined;
  }
  scanner.spaces();
  if (trimmed[scanner.at] !== '=') return undefined;
  return scan(trimmed, (second) => {
    const node = reference(second);
    second.spaces();
    second.at += 1;
    second.spaces();
    return { ...node, value: literal(second) };
  });
}

const WORDS = new Map(
  /** @type {[string, any][]} */ ([
    ['true', true],
    ['false', false],
    ['null', null],
  ]),
);

/** @param {Scanner} scanner */
function literal(scanner) {
  const rest = scanner.text.slice(scanner.at);
  if (rest.startsWith('"') || rest.startsWith('$')) return scanner.string();
  const word = WORDS.get(rest);
  const number = rest === '' ? Number.NaN : Number(rest);
  if (word === undefined && Number.isNaN(number)) {
    throw scanner.wrong('a value is a string in double quotes, a number, true, false or null');
  }
  scanner.at = scanner.text.length;
  return word === undefined ? number : word;
}

/** How `--type` turns the text of a command line into a value. @type {Record<string, (text: string) => any>} */
export const TYPES = {
  string: (text) => text,
  number(text) {
    const number = text.trim() === '' ? Number.NaN : Number(text);
    if (Number.isNaN(number)) throw new TypingError(`${text} is no number`);
    return number;
  },
  boolean(text) {
    if (text === 'true' || text === 'false') return text === 'true';
    throw new TypingError(`a boolean is true or false, not ${text}`);
  },
  null(text) {
    if (text === 'null' || text === '') return null;
    throw new TypingError(`the value of type null is null, not ${text}`);
  },
  base64: (text) => new Uint8Array(Buffer.from(text, 'base64')),
};

/** @param {string} text @param {string} type */
export function typedValue(text, type) {
  if (Object.hasOwn(TYPES, type)) return TYPES[type](text);
  throw new TypingError(`--type is one of ${Object.keys(TYPES).join(', ')}, not ${type}`);
}

/** @param {Reference} reference @returns {string} */
export function spell({ name, subscripts }) {
  const spelt = subscripts.map((subscript) => spellSubscript(subscript, CHARSET) ?? byNumbers(subscript));
  return spelt.length === 0 ? `^${name}` : `^${name}(${spelt.join(',')})`;
}

/** @param {Reference} reference @returns {string} stands for everything below a node */
export function spellBelow({ name, subscripts }) {
  return subscripts.length === 0 ? `^${name}(*)` : `${spell({ name, subscripts }).slice(0, -1)},*)`;
}

/** @param {any} value @returns {string} as it is typed after `=`, with its type to be seen */
export function spellValue(value) {
  if (value instanceof Mark) return MARK_WORDS[value.name];
  return typeof value === 'string' || value instanceof Uint8Array ? quote(value, CHARSET) : String(value);
}

const MARK_WORDS = { emptyObject: '<empty object>', emptyArray: '<empty array>', object: '<object>' };

/**
 * The value at a node, marks included.
 *
 * @param {any} db
 * @param {Reference} reference
 * @returns {{ value: any, children: boolean }} `value` is undefined where there is none
 */
export function look(db, { name, subscripts }) {
  const global = db.global(name);
  return {
    value: withMark(global, subscripts, global.get(...subscripts)),
    children: global.hasChildren(...subscripts),
  };
}

/**
 * @param {Reference} reference
 * @param {Record<string, any>} [more]
 * @returns {Record<string, any>} for JSON
 */
export function nodeAsJson({ name, subscripts }, { value, ...more } = {}) {
  return {
    global: name,
    subscripts: subscriptsAsJson(subscripts),
    ...(value === undefined ? {} : { value: asJson(value) }),
    ...more,
  };
}

/** @param {any} document @param {number} [indent] @returns {string} bytes as in JSON lines */
export function spellDocument(document, indent) {
  return JSON.stringify(
    document,
    (_, value) => (value instanceof Uint8Array ? asJson(value) : value),
    indent,
  );
}

/**
 * @param {string} text
 * @returns {any}
 */
export function parseDocument(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw fault('ERR_ARG', `the document is not JSON: ${/** @type {Error} */ (error).message}`);
  }
}
