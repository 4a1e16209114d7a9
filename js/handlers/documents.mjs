// The worker's half of documents over HTTP: each request is one transaction. The main thread's half, js/http/documents/, reads
// bodies and sends replies; it says in `action` what is to be done.

import { asOne } from '../as-one.mjs';
import { Records } from '../attachments/records.mjs';
import { checkPreconditions, entityTag, isFresh } from '../http/conditions.mjs';
import { RequestError } from '../http/errors.mjs';
import { textOf } from '../http/request.mjs';
import { attach } from './attachments.mjs';
import { addAll, fromJson, keyedDocument, parseDocument, readyDocument } from './documents/batch.mjs';
import { Collection, checkedId } from './documents/collection.mjs';
import { createIndex, indexesOf } from './documents/indexes.mjs';
import { linesOf } from './documents/lines.mjs';
import { readPage } from './documents/listing.mjs';
import { refusalOf } from './documents/refusal.mjs';

/**
 * @typedef {object} Asked what the main thread asks for
 * @property {string} action a name of ACTIONS
 * @property {string} collection
 * @property {string} id
 * @property {Record<string, any>} headers
 * @property {Record<string, string | string[]>} query
 * @property {any} body
 * @property {import('../http/documents/multipart.mjs').Arrived[]} [documents] of a form, with their attachments
 * @property {string} [file] NDJSON that was too long for a message
 * @property {number} limit of a page, in documents, or of a line, in bytes
 * @property {'json' | 'lines'} form of a page or a body
 */

/** @param {string} id @param {Collection} collection */
function urlOf(id, collection) {
  return `/documents/${encodeURIComponent(collection.name)}/${encodeURIComponent(id)}`;
}

/** @param {string} id @param {Collection} collection */
function missing(id, collection) {
  return new RequestError(404, `There is no document ${JSON.stringify(id)} in ${collection.name}`);
}

/** @param {string | undefined} text */
function tagOrNone(text) {
  return text === undefined ? undefined : entityTag(text);
}

/** @param {string} text */
function tagged(text) {
  return { etag: entityTag(text), 'cache-control': 'no-cache' };
}

/**
 * @param {number} statusCode
 * @param {Record<string, string>} headers
 * @param {object} [body]
 */
function reply(statusCode, headers, body) {
  return { ...body, http_response: { statusCode, headers } };
}

/**
 * Adds documents with attachments that have arrived.
 * @param {any} db
 * @param {Collection} collection
 * @param {import('../http/documents/multipart.mjs').Arrived[]} documents
 * @param {Uint8Array} body what of them was few bytes
 */
function addWithAttachments(db, collection, documents, body) {
  const records = new Records(db);
  const ids = asOne(db, () =>
    documents.map(({ where, start, length, parts }) => {
      const text = textOf(body.subarray(start, start + length));
      const [id] = addAll(collection, [{ where, text }], readyDocument);
      attach(records, collection.name, id, parts, body);
      return id;
    }),
  );
  const one = ids.length === 1 ? { id: ids[0] } : {};
  const headers = ids.length === 1 ? { location: urlOf(ids[0], collection) } : {};
  return reply(201, /** @type {Record<string, string>} */ (headers), { ok: true, ...one, ids });
}

/** @type {Record<string, (db: any, collection: Collection, asked: Asked) => any>} */
const ACTIONS = {
  read(_db, collection, { id, headers }) {
    const text = collection.read(id);
    if (text === undefined) throw missing(id, collection);
    const fields = tagged(text);
    if (isFresh(headers, fields.etag)) return { http_response: { statusCode: 304, headers: fields } };
    return {
      http_response: {
        headers: { ...fields, 'content-type': 'application/json; charset=utf-8' },
        body: text,
      },
    };
  },

  put(db, collection, { id, headers, body }) {
    const text = textOf(body);
    parseDocument(text);
    return asOne(db, () => {
      const before = collection.read(checkedId(id));
      checkPreconditions(headers, () => tagOrNone(before));
      collection.write(id, text);
      const fields = tagged(/** @type {string} */ (collection.read(id)));
      if (before !== undefined) return reply(200, fields, { ok: true, id });
      return reply(201, { ...fields, location: urlOf(id, collection) }, { ok: true, id });
    });
  },

  patch(db, collection, { id, headers, body }) {
    const text = textOf(body);
    parseDocument(text);
    return asOne(db, () => {
      const before = collection.read(id);
      if (before === undefined && headers['if-match'] === undefined) throw missing(id, collection);
      checkPreconditions(headers, () => tagOrNone(before));
      collection.patch(id, text);
      return reply(200, tagged(/** @type {string} */ (collection.read(id))), { ok: true, id });
    });
  },

  delete(db, collection, { id, headers }) {
    return asOne(db, () => {
      const before = collection.read(id);
      if (before === undefined && headers['if-match'] === undefined) throw missing(id, collection);
      checkPreconditions(headers, () => tagOrNone(before));
      collection.delete(id);
      new Records(db).dropAll(collection.name, id);
      return undefined;
    });
  },

  add(db, collection, { form, body, file, limit, documents }) {
    if (documents !== undefined) return addWithAttachments(db, collection, documents, body);
    if (form === 'lines') {
      const ids = asOne(db, () => addAll(collection, linesOf(file ?? body, limit), readyDocument));
      if (ids.length === 0) throw new RequestError(400, 'There is no document in the body');
      return reply(201, {}, { ok: true, ids });
    }
    const { isOne, sources } = fromJson(textOf(body));
    const ids = asOne(db, () => addAll(collection, sources, readyDocument));
    if (!isOne) return reply(201, {}, { ok: true, ids });
    return reply(201, { location: urlOf(ids[0], collection) }, { ok: true, id: ids[0], ids });
  },

  insert(db, collection, { form, body, file, limit }) {
    const sources = form === 'lines' ? linesOf(file ?? body, limit) : fromJson(textOf(body)).sources;
    const ids = asOne(db, () => {
      createIndex(db, collection, { name: 'id', path: ['id'] });
      return addAll(collection, sources, keyedDocument);
    });
    if (ids.length === 0) throw new RequestError(400, 'There is no document in the body');
    return { inserted: ids.length };
  },

  page(db, collection, { query, limit, form }) {
    const page = readPage(db, collection, query, { limit, withIds: true });
    return form === 'lines' ? linesReply(page) : jsonReply(collection, query, page);
  },

  search(db, collection, { query, limit }) {
    const indexes = indexesOf(db, collection);
    // Before the first insert there is no index to search.
    if (!indexes.some(({ name }) => name === 'id')) return linesReply({ documents: [], next: undefined });
    return linesReply(readPage(db, collection, query, { limit, withIds: false, indexes }));
  },
};

/** @param {import('./documents/listing.mjs').Page} page */
function linesReply({ documents, next }) {
  const headers = { 'content-type': 'application/x-ndjson', ...(next !== undefined && { 'x-next': next }) };
  return { http_response: { headers, body: documents.map((text) => `${text}\n`).join('') } };
}

/**
 * @param {Collection} collection
 * @param {Record<string, string | string[]>} query
 * @param {import('./documents/listing.mjs').Page} page
 */
function jsonReply(collection, query, { documents, next }) {
  const body = `{"documents":[${documents.join(',')}],"next":${JSON.stringify(next ?? null)}}`;
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    ...(next !== undefined && { link: `<${nextPage(collection, query, next)}>; rel="next"` }),
  };
  return { http_response: { headers, body } };
}

/**
 * @param {Collection} collection
 * @param {Record<string, string | string[]>} query
 * @param {string} after
 * @returns {string} the URL of the next page
 */
function nextPage(collection, query, after) {
  const search = new URLSearchParams(/** @type {Record<string, string>} */ ({ ...query, after }));
  return `/documents/${encodeURIComponent(collection.name)}?${search}`;
}

/**
 * @this {{db: any}}
 * @param {{data: Asked}} messageObj
 */
export default function documents({ data }) {
  try {
    return ACTIONS[data.action](this.db, new Collection(this.db, data.collection), data);
  } catch (error) {
    throw refusalOf(error);
  }
}
