// What a query asks for: which index finds the documents, which stretch of it, and which further fields they must have.
//
// A parameter is `field=value` or `field[gte]=value`. The field is the name of an index or its path with dots. The text of a value
// stands for the string, and where it spells a number, true, false or null for that as well, since a URL has no types.

import { RequestError } from '../../http/errors.mjs';
import { spelt } from './indexes.mjs';

/**
 * @typedef {object} Stretch of an index
 * @property {any} [equals]
 * @property {any} [low]
 * @property {boolean} [lowInclusive]
 * @property {any} [high]
 * @property {boolean} [highInclusive]
 * @property {string} [prefix]
 *
 * @typedef {(document: any) => boolean} Test
 *
 * @typedef {object} Plan
 * @property {string} index
 * @property {Stretch[]} stretches one after the other
 * @property {Test[]} tests what each document must pass besides
 *
 * @typedef {object} Field one of a query
 * @property {string} name
 * @property {(string | number)[]} path
 * @property {string | undefined} index
 * @property {Record<string, string>} asked text by operator: `eq`, `gt`, `gte`, `lt`, `lte`, `prefix`
 */

/** Parameters that are no fields. */
const RESERVED = new Set(['limit', 'after']);
const OPERATORS = new Set(['gt', 'gte', 'lt', 'lte', 'prefix']);
/** In the order of an index bytes come behind all strings, and these before all others. */
const FIRST_BYTES = new Uint8Array();

/** @param {string} text @returns {any[]} the values that it stands for, in the order of an index */
export function valuesOf(text) {
  const scalar = scalarOf(text);
  if (scalar === undefined) return [text];
  return typeof scalar === 'string' ? [scalar] : [scalar, text];
}

/** What may be JSON that is neither an object nor an array: looked at first, because an error takes longer than all else of a search. */
const SCALAR = /^[ \t\n\r]*(?:".*"|true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)[ \t\n\r]*$/s;

/** @param {string} text @returns {string | number | boolean | null | undefined} what JSON it is */
function scalarOf(text) {
  if (!SCALAR.test(text)) return undefined;
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return typeof value === 'number' && !Number.isFinite(value) ? undefined : value;
}

/** @param {string} text @param {string} name @returns {string | number} */
function boundOf(text, name) {
  const value = scalarOf(text);
  if (value === undefined || typeof value === 'string') return value ?? text;
  if (typeof value === 'number') return value;
  throw new RequestError(400, `${name}: ${text} has no values above or below it; give a number or a string`);
}

/** @param {unknown} value @param {string} name @returns {string} */
function onlyOne(value, name) {
  if (typeof value === 'string') return value;
  throw new RequestError(400, `${name} is given more than once`);
}

/**
 * @param {Record<string, string | string[]>} query
 * @param {import('./indexes.mjs').Index[]} indexes
 * @returns {Field[]}
 */
function fieldsOf(query, indexes) {
  /** @type {Map<string, Field>} */
  const fields = new Map();
  for (const [parameter, value] of Object.entries(query)) {
    if (RESERVED.has(parameter)) continue;
    const bracket = /^(.+)\[([a-z]+)\]$/.exec(parameter);
    const isOperator = bracket !== null && OPERATORS.has(bracket[2]);
    const name = isOperator ? bracket[1] : parameter;
    const found =
      indexes.find((index) => index.name === name) ?? indexes.find(({ path }) => spelt(path) === name);
    const field = fields.get(name) ?? {
      name,
      path: found?.path ?? name.split('.'),
      index: found?.name,
      asked: {},
    };
    field.asked[isOperator ? bracket[2] : 'eq'] = onlyOne(value, parameter);
    fields.set(name, field);
  }
  return [...fields.values()];
}

/** @param {Field} field @returns {Stretch[]} */
function stretchesOf({ name, asked }) {
  const { eq, prefix, gt, gte, lt, lte } = asked;
  const ranges = Object.keys(asked).length;
  if (eq !== undefined) {
    if (ranges > 1) throw new RequestError(400, `${name}: a value and a range at once`);
    return valuesOf(eq).map((equals) => ({ equals }));
  }
  if (prefix !== undefined) {
    if (ranges > 1) throw new RequestError(400, `${name}: a prefix and a range at once`);
    // Every string begins with the empty one.
    return [prefix === '' ? { low: '', lowInclusive: true, high: FIRST_BYTES } : { prefix }];
  }
  if ((gt !== undefined && gte !== undefined) || (lt !== undefined && lte !== undefined)) {
    throw new RequestError(400, `${name}: two bounds for one side`);
  }
  const low = gte ?? gt;
  const high = lte ?? lt;
  const bounds = [low, high].map((text) => (text === undefined ? undefined : boundOf(text, name)));
  const isNumber = bounds.some((bound) => typeof bound === 'number');
  // Two bounds of which one is a word are words both: 2 to 7a.
  const areWords = bounds.some((bound) => typeof bound === 'string') || !isNumber;
  const [from, to] = areWords
    ? [low, high].map((text) => (text === undefined ? undefined : String(scalarText(text))))
    : bounds;
  return [
    {
      low: from ?? (areWords ? '' : true),
      lowInclusive: from === undefined ? areWords : gte !== undefined,
      high: to ?? (areWords ? FIRST_BYTES : ''),
      highInclusive: to !== undefined && lte !== undefined,
    },
  ];
}

/** @param {string} text @returns {string} what is in quotes without them */
function scalarText(text) {
  const value = scalarOf(text);
  return typeof value === 'string' ? value : text;
}

/** @param {any} document @param {(string | number)[]} path */
function valueAt(document, path) {
  let value = document;
  for (const step of path) {
    if (value === null || typeof value !== 'object') return undefined;
    const name = String(step);
    if (!Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** @param {string} a @param {string} b as UTF-8 bytes, which is the order of an index */
function compareText(a, b) {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** @param {any} value @param {Stretch} stretch */
function isWithin(value, { equals, low, lowInclusive, high, highInclusive, prefix }) {
  if (prefix !== undefined) return typeof value === 'string' && value.startsWith(prefix);
  if (low === undefined) return value === equals;
  const kind = typeof high === 'number' || typeof low === 'number' ? 'number' : 'string';
  if (typeof value !== kind) return false;
  const compare =
    kind === 'number' ? (/** @type {number} */ a, /** @type {number} */ b) => a - b : compareText;
  if (typeof low === kind) {
    const order = compare(/** @type {never} */ (value), /** @type {never} */ (low));
    if (order < 0 || (order === 0 && !lowInclusive)) return false;
  }
  if (typeof high !== kind || (kind === 'number' && high === '')) return true;
  const order = compare(/** @type {never} */ (value), /** @type {never} */ (high));
  return order < 0 || (order === 0 && highInclusive === true);
}

/** @param {Field} field @returns {Test} */
function testOf(field) {
  const stretches = stretchesOf(field);
  return (document) => {
    const value = valueAt(document, field.path);
    return value !== undefined && stretches.some((stretch) => isWithin(value, stretch));
  };
}

/**
 * Plans a query.
 * @param {Record<string, string | string[]>} query
 * @param {() => import('./indexes.mjs').Index[]} listIndexes
 * @param {string} collection
 * @returns {Plan | undefined} undefined where it names no field: then it means all documents
 * @throws {RequestError} 400
 */
export function planOf(query, listIndexes, collection) {
  if (Object.keys(query).every((name) => RESERVED.has(name))) return undefined;
  const fields = fieldsOf(query, listIndexes());
  const indexed = fields.filter(({ index }) => index !== undefined);
  // One value finds less than a stretch of them.
  const leading = indexed.find(({ asked }) => asked.eq !== undefined) ?? indexed[0];
  if (leading === undefined) throw noIndex(fields[0], collection);
  return {
    index: /** @type {string} */ (leading.index),
    stretches: stretchesOf(leading),
    tests: fields.filter((field) => field !== leading).map(testOf),
  };
}

/** @param {Field} field @param {string} collection */
function noIndex(field, collection) {
  const body = JSON.stringify({ path: field.path });
  return new RequestError(
    400,
    `There is no index for '${field.name}' in ${collection}: POST ${body} to /documents/${collection}/_indexes makes one`,
  );
}
