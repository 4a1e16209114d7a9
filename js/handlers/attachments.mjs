// The worker's half of attachments over HTTP: what is known of them, and bytes that are nodes. Files are written and sent by the
// main thread's half, js/http/documents/attachments.mjs, which says in `action` what is to be done.

import { createHash, randomBytes } from 'node:crypto';
import { asOne } from '../as-one.mjs';
import { ensureDocument } from '../attachments/attachments.mjs';
import { CHUNK, fileOf } from '../attachments/layout.mjs';
import { attachmentTag, checkedName, checkedType, Records } from '../attachments/records.mjs';
import { checkPreconditions } from '../http/conditions.mjs';
import { RequestError } from '../http/errors.mjs';
import { parseJson, textOf } from '../http/request.mjs';
import { Collection, checkedId } from './documents/collection.mjs';
import { refusalOf } from './documents/refusal.mjs';

/**
 * @typedef {import('../attachments/records.mjs').Attachment} Attachment
 *
 * @typedef {import('../attachments/records.mjs').Stored & {name: string, type: string, start?: number}} Part an attachment that has
 *   arrived; its bytes begin at `start` of the body where they are not stored yet
 *
 * @typedef {object} Asked
 * @property {string} action a name of ACTIONS
 * @property {string} collection
 * @property {string} id
 * @property {string} name
 * @property {string} key
 * @property {number} n
 * @property {Record<string, any>} headers
 * @property {Part[]} parts
 * @property {any} body
 */

const NOTHING = new Uint8Array();

/** @param {string} collection @param {string} id @param {string} name */
function urlOf(collection, id, name) {
  return `/documents/${[collection, id, 'attachments', name].map(encodeURIComponent).join('/')}`;
}

/** @param {Asked} asked */
function missing({ collection, id, name }) {
  return new RequestError(
    404,
    `There is no attachment ${JSON.stringify(name)} of ${JSON.stringify(id)} in ${collection}`,
  );
}

/** @param {string} name @param {Attachment} attachment */
function described(name, attachment) {
  const { size, type, sha256, created } = attachment;
  return { name, type, size, sha256, etag: attachmentTag(attachment), created };
}

/** @param {Records} records @param {Asked} asked @returns {() => string | undefined} */
function tagOf(records, { collection, id, name }) {
  return () => {
    const attachment = records.read(collection, id, name);
    return attachment === undefined ? undefined : attachmentTag(attachment);
  };
}

/**
 * Gives parts that have arrived to a document, inside a transaction.
 * @param {Records} records
 * @param {string} collection
 * @param {string} id
 * @param {Part[]} parts
 * @param {Uint8Array | undefined} body
 * @returns {Attachment[]}
 */
export function attach(records, collection, id, parts, body) {
  return parts.map((part) => {
    const { name, start, size } = part;
    const bytes = start === undefined ? undefined : (body ?? NOTHING).subarray(start, start + size);
    return records.put(collection, id, name, { ...part, type: checkedType(part.type) }, bytes);
  });
}

/** @param {string} data @returns {boolean} whether it is base64 as a whole, in either alphabet, with padding or without */
function isBase64(data) {
  const digits = /^[A-Za-z0-9+/_-]*(={0,2})$/.exec(data);
  if (digits === null) return false;
  return digits[1] === '' ? data.length % 4 !== 1 : data.length % 4 === 0;
}

/** @param {unknown} value @returns {Part & {bytes: Uint8Array}} */
function partOfJson(value) {
  const { name, type, data } = /** @type {any} */ (value ?? {});
  if (typeof name !== 'string' || typeof data !== 'string' || !isBase64(data.replace(/\s+/g, ''))) {
    throw new RequestError(400, 'An attachment is {"name": …, "type": …, "data": …}, where data is base64');
  }
  const bytes = Buffer.from(data, 'base64');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const key = randomBytes(16).toString('hex');
  return { name, type, key, kind: 'nodes', size: bytes.length, sha256, bytes };
}

/** @type {Record<string, (records: Records, asked: Asked, db: any) => any>} */
const ACTIONS = {
  /** Whether an upload that is about to begin may succeed. */
  begin(records, asked) {
    const { collection, id, name, headers } = asked;
    checkedName(name);
    checkedId(id);
    // A key that is too long is refused here, not after a long upload.
    records.names.has(collection, id, name);
    if (headers !== undefined) checkPreconditions(headers, tagOf(records, asked));
    return { ok: true };
  },

  chunk(records, { key, n, body }) {
    records.writeChunk(key, n, body);
    return { ok: true };
  },

  'remove chunks'(records, { key }) {
    records.bytes.delete(key);
    return { ok: true };
  },

  commit(records, asked, db) {
    const { collection, id, name, headers, parts, body } = asked;
    return asOne(db, () => {
      const tag = tagOf(records, asked);
      const before = tag();
      checkPreconditions(headers, () => before);
      ensureDocument(db, collection, checkedId(id));
      const [attachment] = attach(records, collection, id, parts, body);
      const fields = { etag: attachmentTag(attachment), location: urlOf(collection, id, name) };
      const statusCode = before === undefined ? 201 : 200;
      return { ok: true, ...described(name, attachment), http_response: { statusCode, headers: fields } };
    });
  },

  /** Several attachments of one document: parts that have arrived, or base64 in JSON. */
  'commit all'(records, { collection, id, parts, body }, db) {
    const given = parts ?? [parseJson(textOf(body))].flat().map(partOfJson);
    if (given.length === 0) throw new RequestError(400, 'There is no attachment in the body');
    return asOne(db, () => {
      ensureDocument(db, collection, checkedId(id));
      const attachments = given.map((part) => {
        const bytes = /** @type {any} */ (part).bytes;
        const [attachment] = attach(
          records,
          collection,
          id,
          [bytes === undefined ? part : { ...part, start: 0 }],
          bytes ?? body,
        );
        return described(part.name, attachment);
      });
      const headers = { location: urlOf(collection, id, '').replace(/\/$/, '') };
      return { ok: true, attachments, http_response: { statusCode: 201, headers } };
    });
  },

  look(records, asked) {
    const { collection, id, name } = asked;
    const attachment = records.read(collection, id, name);
    if (attachment === undefined) throw missing(asked);
    const { key, kind, size } = attachment;
    const file = kind === 'file' ? fileOf(records.server.path(), key) : undefined;
    const known = JSON.stringify({ ...attachment, file, etag: attachmentTag(attachment) });
    if (kind === 'file' || size > CHUNK)
      return { http_response: { headers: { 'x-attachment': known }, body: '' } };
    const body = size === 0 ? new Uint8Array() : records.chunkOf(key, 0);
    return { http_response: { headers: { 'x-attachment': known }, body } };
  },

  'read chunk': (records, { key, n }) => records.chunkOf(key, n),

  list(records, { collection, id }) {
    if (!records.hasDocument(collection, id)) {
      throw new RequestError(404, `There is no document ${JSON.stringify(id)} in ${collection}`);
    }
    const attachments = records.list(collection, id).map((one) => described(one.name, one));
    return { attachments };
  },

  delete(records, asked, db) {
    return asOne(db, () => {
      const before = tagOf(records, asked)();
      if (before === undefined && asked.headers['if-match'] === undefined) throw missing(asked);
      checkPreconditions(asked.headers, () => before);
      records.drop(asked.collection, asked.id, asked.name);
      return undefined;
    });
  },
};

/**
 * @this {{db: any}}
 * @param {{data: Asked}} messageObj
 */
export default function attachments({ data }) {
  try {
    // Refuses a name that cannot be a collection.
    new Collection(this.db, data.collection);
    return ACTIONS[data.action](new Records(this.db), data, this.db);
  } catch (error) {
    throw refusalOf(error);
  }
}
