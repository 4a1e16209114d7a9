// Attachments over HTTP. Bytes go from the request to the disk and back as they come; a worker commits and looks up what they belong
// to.

import { stat } from 'node:fs/promises';
import { CHUNK } from '../../attachments/layout.mjs';
import { errorReply } from '../../pool/reply.mjs';
import { isFresh } from '../conditions.mjs';
import { RequestError } from '../errors.mjs';
import { boundedBody, wholeBody } from '../streams.mjs';
import { ABOUT } from './about.mjs';
import { mediaType } from './lines.mjs';
import { Form } from './multipart.mjs';
import { rangeOf } from './ranges.mjs';
import { asked, replyOfRefusal, settle, Uploads } from './uploads.mjs';

/**
 * @typedef {import('../streams.mjs').Stream} Stream
 * @typedef {import('../streams.mjs').StreamData} StreamData
 * @typedef {import('../streams.mjs').StreamReply} StreamReply
 * @typedef {import('../streams.mjs').Ask} Ask
 */

/** What others may do with an attachment: whatever it is, it runs nothing in the name of this server. */
const CONTENT_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
  'cache-control': 'no-cache',
  'accept-ranges': 'bytes',
};

/** @param {StreamData} data */
function conditions({ headers }) {
  return { 'if-match': headers['if-match'], 'if-none-match': headers['if-none-match'] };
}

/** @param {Ask} ask @param {StreamData} data @returns {Ask} for what is about the same attachment */
function bound(ask, { params }) {
  return (request) => ask({ ...params, ...request });
}

/**
 * PUT of one attachment.
 * @param {number} limit bytes
 * @returns {Stream}
 */
function putting(limit) {
  return async (data, { ask, service }) => {
    const uploads = Uploads.of(service);
    const upload = uploads.begin(bound(ask, data));
    const about = { ...data.params, headers: conditions(data) };
    try {
      // What cannot succeed is refused before its bytes come.
      const { bytes, ...stored } = await upload.take(boundedBody(data, limit), () =>
        asked(ask({ ...about, action: 'begin' })),
      );
      const part = { ...stored, name: data.params.name, type: data.headers['content-type'] };
      const start = bytes === undefined ? undefined : 0;
      const reply = await ask({ ...about, action: 'commit', parts: [{ ...part, start }], body: bytes });
      await settle([upload], reply);
      if (reply.statusCode === 200) uploads.dropped();
      return reply;
    } catch (error) {
      return replyOfRefusal(error);
    }
  };
}

/**
 * GET of one attachment.
 * @type {Stream}
 */
async function getting(data, { ask, service }) {
  Uploads.of(service);
  const reply = await ask({ ...data.params, action: 'look' });
  const known = reply.headers?.['x-attachment'];
  if (known === undefined) return reply;
  const attachment = JSON.parse(String(known));
  const { etag, type, size, sha256 } = attachment;
  const headers = {
    ...CONTENT_HEADERS,
    'content-type': type,
    'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
    etag,
  };
  if (isFresh(data.headers, etag)) return { statusCode: 304, headers, body: undefined };
  const range = data.method === 'GET' ? rangeOf(data.headers, size, etag) : 'whole';
  if (range === 'none') {
    return errorReply(416, `It has ${size} bytes: there are none in that range`, {
      'content-range': `bytes */${size}`,
    });
  }
  const { start, length } = range === 'whole' ? { start: 0, length: size } : range;
  const body = await bodyOf(attachment, start, length, reply.body, bound(ask, data));
  const fields = { ...headers, 'content-length': String(length) };
  if (range === 'whole') return { statusCode: 200, headers: fields, body };
  const contentRange = `bytes ${start}-${start + length - 1}/${size}`;
  return { statusCode: 206, headers: { ...fields, 'content-range': contentRange }, body };
}

/**
 * @param {any} attachment
 * @param {number} start
 * @param {number} length
 * @param {string | Uint8Array | undefined} bytes where they are few
 * @param {Ask} ask
 * @returns {Promise<StreamReply['body']>}
 */
async function bodyOf({ file, key, size }, start, length, bytes, ask) {
  if (bytes instanceof Uint8Array) return bytes.subarray(start, start + length);
  if (file === undefined) return chunks(ask, key, start, start + length);
  const status = await stat(file).catch(() => undefined);
  if (status?.size === size) return { file, start, length };
  throw new Error(`the file of an attachment is damaged or missing: ${file}; run caretdb check`);
}

/**
 * @param {Ask} ask
 * @param {string} key
 * @param {number} start
 * @param {number} end
 * @returns {AsyncGenerator<Uint8Array, void, void>}
 */
async function* chunks(ask, key, start, end) {
  for (let n = Math.floor(start / CHUNK); n * CHUNK < end; n += 1) {
    const { body } = await asked(ask({ action: 'read chunk', key, n }));
    yield/** @type {Uint8Array} */ (body).subarray(Math.max(0, start - n * CHUNK), end - n * CHUNK);
  }
}

/**
 * POST of several attachments: a form, or base64 in JSON.
 * @param {number} limit bytes of a form
 * @param {number} jsonLimit bytes of JSON
 * @returns {Stream}
 */
function posting(limit, jsonLimit) {
  return async (data, { ask, service }) => {
    const uploads = Uploads.of(service);
    const type = mediaType(data);
    const about = { ...data.params, action: 'commit all' };
    if (type === 'application/json') {
      const reply = await ask({ ...about, body: await wholeBody(data, jsonLimit) });
      uploads.dropped();
      return reply;
    }
    if (type !== 'multipart/form-data') {
      throw new RequestError(415, 'The body must be multipart/form-data, or application/json with base64');
    }
    const form = new Form((small) => uploads.begin(bound(ask, data), small), service.bodyLimit);
    await form.read(boundedBody(data, limit), data.headers['content-type']);
    if (form.documents.length > 0) {
      await form.abandon();
      throw new RequestError(400, "A part named 'document' has no place among the attachments of a document");
    }
    const reply = await ask({ ...about, parts: form.loose, body: form.packet.body() });
    await form.settle(reply);
    uploads.dropped();
    return reply;
  };
}

/**
 * POST of documents with attachments, to a collection.
 * @param {StreamData} data
 * @param {import('../streams.mjs').StreamContext} context its `ask` runs the handler of documents
 * @param {number} limit bytes
 * @returns {Promise<StreamReply>}
 */
export async function postForm(data, { ask, service }, limit) {
  const uploads = Uploads.of(service);
  const askAttachments = (/** @type {Record<string, any>} */ request) =>
    service.pool.run({ type: CHUNK_TYPE, data: { ...data.params, ...request } });
  const form = new Form((small) => uploads.begin(askAttachments, small), service.bodyLimit);
  await form.read(boundedBody(data, limit), data.headers['content-type']);
  if (form.loose.length > 0 || form.documents.length === 0) {
    await form.abandon();
    throw new RequestError(400, "The form must begin with a part named 'document'");
  }
  const request = { action: 'add', ...data.params, documents: form.documents, body: form.packet.body() };
  const reply = await ask(request);
  await form.settle(reply);
  return reply;
}

const HANDLER = new URL('../../handlers/attachments.mjs', import.meta.url).href;
const URL_OF_ALL = '/documents/:collection/:id/attachments';
/** The type of messages that the handler of attachments takes. */
const CHUNK_TYPE = `PUT ${URL_OF_ALL}/:name`;

/**
 * @param {{params: object, named: object}} schemas
 * @param {number} limit bytes of an upload
 * @param {number} jsonLimit bytes of JSON with base64
 * @returns {import('../service.mjs').RouteOptions[]}
 */
export function attachmentRoutes({ params, named }, limit, jsonLimit) {
  const one = `${URL_OF_ALL}/:name`;
  /** @param {string} action @returns {Stream} */
  const asking =
    (action) =>
    async (data, { ask, service }) => {
      const reply = await ask({ ...data.params, action, headers: conditions(data) });
      if (action === 'delete') Uploads.of(service).dropped();
      return reply;
    };
  const handlerPath = HANDLER;
  return [
    {
      method: 'get',
      url: URL_OF_ALL,
      handlerPath,
      stream: asking('list'),
      schema: { params },
      openapi: ABOUT.attachments,
    },
    {
      method: 'post',
      url: URL_OF_ALL,
      handlerPath,
      stream: posting(limit, jsonLimit),
      schema: { params },
      openapi: ABOUT.attach,
    },
    {
      method: 'put',
      url: one,
      handlerPath,
      stream: putting(limit),
      schema: { params: named },
      openapi: ABOUT.putAttachment,
    },
    {
      method: 'get',
      url: one,
      handlerPath,
      stream: getting,
      schema: { params: named },
      openapi: ABOUT.getAttachment,
    },
    {
      method: 'delete',
      url: one,
      handlerPath,
      stream: asking('delete'),
      schema: { params: named },
      openapi: ABOUT.deleteAttachment,
    },
  ];
}
