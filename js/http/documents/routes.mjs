// The routes of documents over HTTP.

import { wholeNumber } from '../../pool/pool.mjs';
import { RequestError } from '../errors.mjs';
import { boundedBody, wholeBody } from '../streams.mjs';
import { ABOUT } from './about.mjs';
import { attachmentRoutes, postForm } from './attachments.mjs';
import { isLines, LARGEST_PAGE, mediaType, sendLines, startLines, wantsLines } from './lines.mjs';
import { payloadRoutes } from './payload.mjs';
import { askWithLines } from './spool.mjs';

/**
 * @typedef {import('../streams.mjs').StreamData} StreamData
 *
 * @typedef {object} DocumentLimits
 * @property {number} [batchLimit] bytes of NDJSON that one request may bring: one transaction; default 64 MiB
 * @property {number} [attachmentLimit] bytes of one upload of attachments; default 4 GiB
 */

const INDEX_HANDLER = new URL('../../handlers/document-indexes.mjs', import.meta.url).href;
const HANDLER = new URL('../../handlers/documents.mjs', import.meta.url).href;

const BATCH_LIMIT = 64 * 1024 * 1024;
const ATTACHMENT_LIMIT = 4 * 1024 ** 3;
/** How many documents a page has, unless the query says how many. */
const PAGE = 100;

/** @param {StreamData} data @param {string[]} types */
function requireType(data, types) {
  if (types.includes(mediaType(data))) return;
  throw new RequestError(415, `The body must be one of: ${types.join(', ')} (content-type)`);
}

/**
 * @param {StreamData} data
 * @param {number} limit
 */
async function neededBody(data, limit) {
  const bytes = await wholeBody(data, limit);
  if (bytes.length === 0) throw new RequestError(400, 'The body is empty');
  return bytes;
}

/** @param {string} action @param {StreamData} data */
function asked(action, { params, headers }) {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  return { action, ...params, headers: { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } };
}

/** Methods of one document. @type {Record<string, import('../streams.mjs').Stream>} */
const DOCUMENT = {
  get: (data, { ask }) => ask(asked('read', data)),
  async put(data, { ask, service }) {
    requireType(data, ['application/json']);
    return ask({ ...asked('put', data), body: await neededBody(data, service.bodyLimit) });
  },
  async patch(data, { ask, service }) {
    requireType(data, ['application/merge-patch+json', 'application/json']);
    return ask({ ...asked('patch', data), body: await neededBody(data, service.bodyLimit) });
  },
  delete: (data, { ask }) => ask(asked('delete', data)),
};

/**
 * Adds documents.
 * @param {number} batchLimit bytes of NDJSON
 * @param {number} attachmentLimit bytes of a form
 * @returns {import('../streams.mjs').Stream}
 */
function adding(batchLimit, attachmentLimit) {
  return async (data, context) => {
    const { ask, service } = context;
    if (mediaType(data) === 'multipart/form-data') return postForm(data, context, attachmentLimit);
    const request = { ...asked('add', data), limit: service.bodyLimit };
    if (isLines(mediaType(data))) return askWithLines(ask, request, boundedBody(data, batchLimit));
    requireType(data, [
      'application/json',
      'application/x-ndjson',
      'application/ndjson',
      'multipart/form-data',
    ]);
    return ask({ ...request, form: 'json', body: await neededBody(data, service.bodyLimit) });
  };
}

/** @type {import('../streams.mjs').Stream} */
async function listing(data, { ask }) {
  const { params, query } = data;
  const limit = query.limit === undefined ? undefined : Number(query.limit);
  const page = { action: 'page', ...params, query, withIds: true };
  if (wantsLines(data)) return sendLines(await startLines(ask, page, 0, limit));
  return ask({ ...page, form: 'json', limit: Math.min(limit ?? PAGE, LARGEST_PAGE) });
}

const COLLECTION_PARAM = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  pattern: '^[A-Za-z]([A-Za-z0-9_.-]*[A-Za-z0-9])?$',
};
const ID_PARAM = { type: 'string', minLength: 1, maxLength: 1000 };

/** @param {Record<string, object>} properties */
function parameters(properties) {
  return { type: 'object', required: Object.keys(properties), properties };
}

const OF_COLLECTION = parameters({ collection: COLLECTION_PARAM });
const OF_DOCUMENT = parameters({ collection: COLLECTION_PARAM, id: ID_PARAM });

const OF_ATTACHMENT = parameters({ collection: COLLECTION_PARAM, id: ID_PARAM, name: ID_PARAM });

const LIST_QUERY = {
  type: 'object',
  properties: {
    limit: { type: 'string', pattern: '^[1-9][0-9]{0,8}$' },
    after: { type: 'string', minLength: 1, maxLength: 8192 },
  },
};

const INDEX_BODY = {
  type: 'object',
  required: ['path'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 255 },
    path: {
      anyOf: [
        { type: 'string', minLength: 1, maxLength: 1000 },
        {
          type: 'array',
          maxItems: 100,
          items: { anyOf: [{ type: 'string' }, { type: 'integer', minimum: 0 }] },
        },
      ],
    },
    unique: { type: 'boolean' },
  },
};

/**
 * The routes.
 * @param {DocumentLimits} [limits]
 * @throws {RangeError} where a limit is no whole number
 * @returns {import('../service.mjs').RouteOptions[]}
 */
export function documentRoutes({ batchLimit = BATCH_LIMIT, attachmentLimit = ATTACHMENT_LIMIT } = {}) {
  wholeNumber(batchLimit, 'batchLimit');
  wholeNumber(attachmentLimit, 'attachmentLimit');
  const collection = '/documents/:collection';
  return [
    {
      method: 'post',
      url: collection,
      handlerPath: HANDLER,
      stream: adding(batchLimit, attachmentLimit),
      schema: { params: OF_COLLECTION },
      openapi: ABOUT.add,
    },
    {
      method: 'get',
      url: collection,
      handlerPath: HANDLER,
      stream: listing,
      schema: { params: OF_COLLECTION, query: LIST_QUERY },
      openapi: ABOUT.list,
    },
    ...Object.entries(DOCUMENT).map(([method, stream]) => ({
      method,
      url: `${collection}/:id`,
      handlerPath: HANDLER,
      stream,
      schema: { params: OF_DOCUMENT },
      openapi: ABOUT[method],
    })),
    ...attachmentRoutes({ params: OF_DOCUMENT, named: OF_ATTACHMENT }, attachmentLimit, batchLimit),
    ...indexRoutes(`${collection}/_indexes`),
    ...payloadRoutes(HANDLER, batchLimit),
  ];
}

/** @param {string} url @returns {import('../service.mjs').RouteOptions[]} */
function indexRoutes(url) {
  const handlerPath = INDEX_HANDLER;
  const named = { params: parameters({ collection: COLLECTION_PARAM, name: ID_PARAM }) };
  return [
    { method: 'get', url, handlerPath, schema: { params: OF_COLLECTION }, openapi: ABOUT.indexes },
    {
      method: 'post',
      url,
      handlerPath,
      schema: { params: OF_COLLECTION, body: INDEX_BODY },
      openapi: ABOUT.index,
    },
    { method: 'delete', url: `${url}/:name`, handlerPath, schema: named, openapi: ABOUT.drop },
  ];
}
