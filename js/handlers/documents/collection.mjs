// A collection: the documents that are the children of one global. The global has the collection's name, the subscript of a
// document is its id.

import { addon } from '../../addon.mjs';
import { DocumentText } from '../../document-text.mjs';
import { RequestError } from '../../http/errors.mjs';

/** How the native call takes the bounds of a stretch of children. */
const EXCLUSIVE = 0;
const PLACE = 2;
/** How many members of a page of subscripts, or of an index, make one entry. */
const KEY_WIDTH = 2;
const FOUND_WIDTH = 3;

/** What no id can be: text that would lead elsewhere in a URL, or that no header field can carry. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NO_ID = /^(|\.|\.\.|_indexes)$|[\u0000-\u001f\u007f]/;

/**
 * @param {string} id
 * @returns {string} the same
 * @throws {RequestError} 400
 */
export function checkedId(id) {
  if (!NO_ID.test(id)) return id;
  throw new RequestError(
    400,
    `${JSON.stringify(id)} cannot be an id: it must not be empty, '.', '..' or '_indexes', nor hold control characters`,
  );
}

/**
 * JSON as HTTP can carry it. Bytes, which only other faces can store, are shown as base64.
 * @param {string | undefined} text as the addon gives it
 * @returns {string | undefined}
 */
function plainJson(text) {
  if (text === undefined || text.charCodeAt(0) !== 0) return text;
  return JSON.stringify(DocumentText.parse(text), (_key, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  );
}

/** The documents below one global. */
export class Collection {
  /**
   * @param {any} db the worker's connection
   * @param {string} name of the collection and its global
   */
  constructor(db, name) {
    // The product's own bookkeeping and other system globals are nobody's documents; a caret would be read as no part of the name.
    if (!/^[A-Za-z]/.test(name)) {
      throw new RequestError(
        400,
        `${JSON.stringify(name)} cannot be a collection: it must begin with a letter`,
      );
    }
    this.name = name;
    this.global = new addon.Global(db, name);
  }

  /** @param {string} id @returns {boolean} */
  has(id) {
    return this.global.has(id) || this.global.hasChildren(id);
  }

  /** @param {string} id @returns {string | undefined} JSON text */
  read(id) {
    return plainJson(this.global.documentText(id));
  }

  /** @param {string} id @param {string} text a JSON object */
  write(id, text) {
    this.global.setDocumentText(id, text);
  }

  /** @param {string} id @param {string} text a JSON merge patch */
  patch(id, text) {
    this.global.patchDocumentText(id, text);
  }

  /** @param {string} id */
  delete(id) {
    this.global.delete(id);
  }

  /**
   * The next documents by id.
   * @param {string | undefined} behind the place of the last one
   * @param {number} limit
   * @returns {Generator<{id: string, text: string, place: string}>}
   */
  *byId(behind, limit) {
    const kind = behind === undefined ? EXCLUSIVE : PLACE;
    const keys = this.global.scan(
      undefined,
      0,
      limit,
      false,
      behind,
      kind,
      undefined,
      EXCLUSIVE,
      true,
      undefined,
    );
    for (let at = 0; at < keys.length; at += KEY_WIDTH) {
      const text = this.read(keys[at]);
      // Somebody may have deleted it meanwhile.
      yield { id: keys[at], text: text ?? '', place: keys[at + 1] };
    }
  }

  /**
   * The next documents that an index finds.
   * @param {string} index its name
   * @param {import('./query.mjs').Stretch} stretch
   * @param {string | undefined} behind the place of the last one
   * @param {number} limit
   * @returns {Generator<{id: string, text: string, place: string}>}
   */
  *byIndex(index, { equals, low, lowInclusive, high, highInclusive, prefix }, behind, limit) {
    const found = this.global.findPage(
      index,
      limit,
      false,
      behind,
      equals,
      low,
      lowInclusive === true,
      high,
      highInclusive === true,
      prefix,
      true,
    );
    for (let at = 0; at < found.length; at += FOUND_WIDTH) {
      yield { id: found[at], text: plainJson(found[at + 1]) ?? '', place: found[at + 2] };
    }
  }
}
