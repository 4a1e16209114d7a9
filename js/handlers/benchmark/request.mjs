// Reads the body of POST /benchmark, and says in plain words what is wrong with it.

import JSON5 from 'json5';

/** The global a benchmark runs on when the body names none. */
export const DEFAULT_DOCUMENT_NAME = 'bmTest';

/** The number of records when the body gives none, and the most that a run may ask for. */
export const DEFAULT_RECORDS = 100;
export const MOST_RECORDS = 10_000_000;

/** A scale run goes from the fewest records to a number of the caller's, in one or three steps for each power of ten. */
export const FEWEST_SCALED = 1000;
export const DEFAULT_SCALED = 1_000_000;
const STEPS_PER_DECADE = [1, 3];

/** The product's own bookkeeping: no benchmark may run there. */
const RESERVED_NAME = '%caretdb';

/**
 * @typedef {null | boolean | number | string | JsonArray | { [key: string]: Json }} Json
 * @typedef {Json[]} JsonArray
 *
 * @typedef {object} BenchmarkRequest
 * @property {string} documentName the global, without its caret
 * @property {Json} document what each record holds
 * @property {number} noOfRecords 1 to 10,000,000
 * @property {boolean} confirm the caller agrees that what the global holds is deleted
 * @property {'run' | 'scale'} kind
 * @property {number} perDecade steps of a scale run
 * @property {boolean} keep whether the history gets its figures
 */

/**
 * An answer that is not a figure: what the caller is told, and with which HTTP status.
 * `reason` is a fixed word for programs: `body`, `name`, `confirm`, `running`, `cancelled`, `difference`.
 */
export class Refusal extends Error {
  /**
   * @param {number} errorCode the HTTP status
   * @param {string} reason
   * @param {string} message
   */
  constructor(errorCode, reason, message) {
    super(message);
    this.name = 'Refusal';
    this.errorCode = errorCode;
    this.reason = reason;
  }
}

/**
 * @param {unknown} body the parsed JSON body of the request
 * @returns {BenchmarkRequest}
 * @throws {Refusal} 400 when a field cannot be used
 */
export function readRequest(body) {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    throw badBody('Invalid request: the body must be a JSON object with documentName, json and noOfRecords');
  }
  const fields = /** @type {Record<string, unknown>} */ (body);
  const kind = readKind(fields.kind);
  return {
    kind,
    documentName: readName(fields.documentName),
    document: readDocument(fields.json),
    noOfRecords: readCount(fields.noOfRecords, kind),
    perDecade: readSteps(fields.perDecade),
    confirm: readFlag('confirm', fields.confirm, false),
    keep: readFlag('keep', fields.keep, true),
  };
}

/** @param {string} message */
function badBody(message) {
  return new Refusal(400, 'body', message);
}

/** @param {unknown} value */
function isMissing(value) {
  return value === undefined || value === null || value === '';
}

/**
 * Names are judged by the database's own rules when the global is first touched; only the reserved one is refused here.
 *
 * @param {unknown} value
 */
function readName(value) {
  if (isMissing(value)) return DEFAULT_DOCUMENT_NAME;
  if (typeof value !== 'string') throw badBody('documentName must be a string: the name of a global');
  const name = value.startsWith('^') ? value.slice(1) : value;
  // The database takes one caret off itself, so `^^%caretdb` must not get there as `^%caretdb`.
  if (name.startsWith('^'))
    throw new Refusal(400, 'name', `documentName: ${value} is not the name of a global`);
  if (name === RESERVED_NAME) {
    throw new Refusal(
      400,
      'name',
      `documentName: ^${RESERVED_NAME} is reserved for the database's own bookkeeping`,
    );
  }
  return name;
}

/**
 * JSON5 where the text is JSON5, else the text itself as one string.
 *
 * @param {unknown} value
 * @returns {Json}
 */
function readDocument(value) {
  if (isMissing(value)) throw badBody('json is missing: give a JSON5 document, or any text');
  if (typeof value !== 'string')
    throw badBody('json must be a string that holds a JSON5 document, or any text');
  let parsed;
  try {
    parsed = JSON5.parse(value);
  } catch {
    return value;
  }
  return asJson(parsed);
}

/**
 * What JSON can hold of a parsed JSON5 value: `-0` becomes `0`, and NaN and the infinities are refused.
 *
 * @param {unknown} parsed
 * @returns {Json}
 */
function asJson(parsed) {
  const text = JSON.stringify(parsed, (_key, value) => {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw badBody(`json holds ${value}, which JSON cannot store; write it as a string instead`);
    }
    return value;
  });
  return JSON.parse(text);
}

/** @param {unknown} value @returns {'run' | 'scale'} */
function readKind(value) {
  if (isMissing(value) || value === 'run') return 'run';
  if (value === 'scale') return 'scale';
  throw badBody("kind must be 'run' or 'scale'");
}

/** @param {unknown} value @param {'run' | 'scale'} kind */
function readCount(value, kind) {
  if (isMissing(value)) return kind === 'scale' ? DEFAULT_SCALED : DEFAULT_RECORDS;
  const fewest = kind === 'scale' ? FEWEST_SCALED : 1;
  const digits = typeof value === 'string' && /^\s*\d{1,9}\s*$/.test(value);
  const count = typeof value === 'number' || digits ? Number(value) : Number.NaN;
  if (!Number.isInteger(count) || count < fewest || count > MOST_RECORDS) {
    const [from, to] = [fewest, MOST_RECORDS].map((limit) => limit.toLocaleString('en-US'));
    throw badBody(`noOfRecords must be a whole number from ${from} to ${to}`);
  }
  return count;
}

/** @param {unknown} value */
function readSteps(value) {
  if (isMissing(value)) return 3;
  if (typeof value === 'number' && STEPS_PER_DECADE.includes(value)) return value;
  throw badBody(`perDecade must be ${STEPS_PER_DECADE.join(' or ')}`);
}

/** @param {string} name @param {unknown} value @param {boolean} otherwise */
function readFlag(name, value, otherwise) {
  if (value === undefined || value === null) return otherwise;
  if (typeof value !== 'boolean') throw badBody(`${name} must be true or false`);
  return value;
}
