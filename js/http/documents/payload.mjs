// POST /insert and GET /search, as the document service WMPayload has them, on the collection `documents`. Several documents may
// have one `id` there: it is a member with an index, and each document has a key of its own besides.

import { boundedBody, wholeBody } from '../streams.mjs';
import { ABOUT } from './about.mjs';
import { isLines, mediaType, sendArray, sendLines, startLines, wantsLines } from './lines.mjs';
import { askWithLines } from './spool.mjs';

const COLLECTION = 'documents';
const TEXT = { 'content-type': 'text/plain; charset=utf-8' };

const SEARCH_QUERY = {
  type: 'object',
  properties: {
    id: { type: 'string', maxLength: 1000 },
    idx: { type: 'string', pattern: '^[0-9]{1,9}$' },
    limit: { type: 'string', pattern: '^[0-9]{1,9}$' },
  },
};

/**
 * The reply in the words of that service.
 * @param {import('../../pool/reply.mjs').Reply} reply
 */
function inItsWords(reply) {
  const { statusCode, body } = reply;
  if (statusCode === 200) return { statusCode, headers: TEXT, body: 'Documents inserted successfully' };
  if (statusCode === 500) return { statusCode, headers: TEXT, body: 'Failed to insert documents' };
  if (statusCode !== 400) return reply;
  return { statusCode, headers: TEXT, body: `Failed to parse JSON: ${JSON.parse(String(body)).error}` };
}

/**
 * @param {number} batchLimit bytes of NDJSON
 * @returns {import('../streams.mjs').Stream}
 */
function inserting(batchLimit) {
  return async (data, { ask, service }) => {
    const request = { action: 'insert', collection: COLLECTION, limit: service.bodyLimit };
    if (isLines(mediaType(data))) {
      return inItsWords(await askWithLines(ask, request, boundedBody(data, batchLimit)));
    }
    const body = await wholeBody(data, service.bodyLimit);
    return inItsWords(await ask({ ...request, form: 'json', body }));
  };
}

/** @type {import('../streams.mjs').Stream} */
async function search(data, { ask }) {
  const { id, idx = '0', limit = '0' } = data.query;
  const page = { action: 'search', collection: COLLECTION, query: id === undefined ? {} : { id } };
  const started = await startLines(ask, page, Number(idx), Number(limit) || undefined);
  return wantsLines(data) ? sendLines(started) : sendArray(started);
}

/**
 * @param {string} handlerPath
 * @param {number} batchLimit
 * @returns {import('../service.mjs').RouteOptions[]}
 */
export function payloadRoutes(handlerPath, batchLimit) {
  return [
    { method: 'post', url: '/insert', handlerPath, stream: inserting(batchLimit), openapi: ABOUT.insert },
    {
      method: 'get',
      url: '/search',
      handlerPath,
      stream: search,
      schema: { query: SEARCH_QUERY },
      openapi: ABOUT.search,
    },
  ];
}
