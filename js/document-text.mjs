// Documents as the text in which they cross into the addon. JSON has no bytes: a document that holds some travels as text
// that begins with NUL, in which an object with one member of a secret name stands for bytes, as base64.

import { Buffer } from 'node:buffer';
import { addon } from './addon.mjs';
import { failure } from './failure.mjs';

const MARK = '\0';
/** New for each process, so that no document can have it by accident or intent. */
const BYTES = addon.bytesName();

export const DocumentText = {
  /**
   * @param {unknown} document anything JSON.stringify takes; bytes are kept
   * @param {string} call what the program called, for the error
   * @returns {string}
   * @throws {TypeError | RangeError} `ERR_ARG`; `ERR_KEY_TOO_LONG` where it has more levels than can be followed
   */
  of(document, call) {
    let text;
    try {
      if (hasBytes(document, 0, undefined)) return MARK + JSON.stringify(withMarks(document));
      text = JSON.stringify(document);
    } catch (cause) {
      if (cause instanceof RangeError && !('code' in cause)) {
        const message = `${call}: the document has more levels than can be followed (${cause.message}): nest less deeply`;
        throw Object.assign(new RangeError(message, { cause }), { code: 'ERR_KEY_TOO_LONG' });
      }
      // Cycles, bigints and detached bytes; what a program's own toJSON throws is its own.
      if (!(cause instanceof TypeError) || 'code' in cause) throw cause;
      throw Object.assign(failure('ERR_ARG', `${call}: this is no document: ${cause.message}`), { cause });
    }
    if (text === undefined)
      throw failure('ERR_ARG', `${call}: ${typeof document} is no document: give a JSON value`);
    return text;
  },

  /**
   * @param {string | undefined} text as the addon gives it
   * @param {(this: any, key: string, value: any) => any} [reviver] as for JSON.parse; it is not shown bytes
   * @returns {any}
   */
  parse(text, reviver) {
    if (text === undefined) return undefined;
    if (text.charCodeAt(0) !== 0) return JSON.parse(text, reviver);
    return JSON.parse(text.slice(1), function revive(key, value) {
      const isBytes = typeof value === 'object' && value !== null && Object.hasOwn(value, BYTES);
      if (isBytes) return new Uint8Array(Buffer.from(value[BYTES], 'base64'));
      return reviver === undefined || value instanceof Uint8Array ? value : reviver.call(this, key, value);
    });
  },
};

/** From this depth on objects are remembered, so that a cycle ends the search; JSON.stringify then reports it. */
const REMEMBERED_DEPTH = 8;

/**
 * @param {any} value
 * @param {number} depth
 * @param {Set<object> | undefined} seen
 * @returns {boolean} whether bytes are anywhere in it
 */
function hasBytes(value, depth, seen) {
  if (typeof value !== 'object' || value === null) return false;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return true;
  if (depth >= REMEMBERED_DEPTH) {
    seen ??= new Set();
    if (seen.has(value)) return false;
    seen.add(value);
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      if (hasBytes(value[index], depth + 1, seen)) return true;
    }
    return false;
  }
  for (const key in value) {
    if (hasBytes(value[key], depth + 1, seen)) return true;
  }
  return false;
}

/**
 * A copy for JSON.stringify in which bytes are marked. What has a `toJSON` keeps it, bytes excepted: a Buffer has one too.
 *
 * @param {any} value
 * @param {Set<object>} [above] the objects this one is inside of
 * @returns {any}
 */
function withMarks(value, above = new Set()) {
  if (typeof value !== 'object' || value === null) return value;
  if (ArrayBuffer.isView(value)) {
    return { [BYTES]: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') };
  }
  if (value instanceof ArrayBuffer) return { [BYTES]: Buffer.from(value).toString('base64') };
  // A cycle is left in place, for JSON.stringify to report as it does.
  if (above.has(value) || typeof value.toJSON === 'function') return value;
  above.add(value);
  const copy = Array.isArray(value)
    ? value.map((member) => withMarks(member, above))
    : Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withMarks(member, above)]));
  above.delete(value);
  return copy;
}
