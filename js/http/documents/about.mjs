// What the OpenAPI document says of the routes of documents, besides their schemas.

const OBJECT = { type: 'object' };
const BYTES = { type: 'string', format: 'binary' };
const TEXT = { type: 'string' };
const CONDITIONS = { 'if-match': { type: 'string' }, 'if-none-match': { type: 'string' } };
const LINES = { type: 'string', description: 'One JSON object a line' };
const BASE64 = {
  type: 'object',
  required: ['name', 'data'],
  properties: { name: TEXT, type: TEXT, data: { type: 'string', contentEncoding: 'base64' } },
};
const NOT_THERE = 'There is no such thing';
const CHANGED = 'A condition does not hold: nothing was changed';

const DOCUMENTS = 'Documents';
const INDEXES = 'Indexes';
const ATTACHMENTS = 'Attachments';
const PAYLOAD = 'As WMPayload has them';

/** @type {Record<string, import('../openapi.mjs').Described>} */
export const ABOUT = {
  add: {
    summary: 'Adds documents: one, an array, one a line, or a form with attachments; all or none',
    tag: DOCUMENTS,
    bodies: {
      'application/json': { anyOf: [OBJECT, { type: 'array', minItems: 1, items: OBJECT }] },
      'application/x-ndjson': LINES,
      'multipart/form-data': {
        type: 'object',
        required: ['document'],
        properties: { document: TEXT, file: BYTES },
      },
    },
    replies: {
      201: 'Their ids',
      400: 'What is wrong, and with which of them',
      409: 'An id or a unique value is taken',
    },
  },
  list: {
    summary: 'Lists documents by id, or those that have values: a page of JSON, or all of them one a line',
    tag: DOCUMENTS,
    replies: { 200: 'Documents, and where the next page begins', 400: 'There is no index for a field' },
  },
  get: {
    summary: 'Reads a document',
    tag: DOCUMENTS,
    headers: CONDITIONS,
    replies: { 200: 'The document', 304: 'The caller has it', 404: NOT_THERE },
  },
  put: {
    summary: 'Makes or replaces a document',
    tag: DOCUMENTS,
    headers: CONDITIONS,
    bodies: { 'application/json': OBJECT },
    replies: { 200: 'Replaced', 201: 'Made', 412: CHANGED },
  },
  patch: {
    summary: 'Changes a document by a JSON merge patch (RFC 7396)',
    tag: DOCUMENTS,
    headers: CONDITIONS,
    bodies: { 'application/merge-patch+json': OBJECT },
    replies: { 200: 'Changed', 404: NOT_THERE, 412: CHANGED },
  },
  delete: {
    summary: 'Deletes a document and its attachments',
    tag: DOCUMENTS,
    headers: CONDITIONS,
    replies: { 204: 'Deleted', 404: NOT_THERE, 412: CHANGED },
  },
  indexes: { summary: 'Lists the indexes of a collection', tag: INDEXES },
  index: {
    summary: 'Makes an index',
    tag: INDEXES,
    replies: {
      200: 'It was there',
      201: 'Made',
      409: 'Another one has the name, or two documents one unique value',
    },
  },
  drop: { summary: 'Drops an index', tag: INDEXES, replies: { 204: 'Dropped', 404: NOT_THERE } },
  attachments: { summary: 'Lists the attachments of a document', tag: ATTACHMENTS },
  attach: {
    summary: 'Adds attachments to a document: a form, or base64 in JSON',
    tag: ATTACHMENTS,
    bodies: {
      'multipart/form-data': { type: 'object', properties: { file: BYTES } },
      'application/json': { anyOf: [BASE64, { type: 'array', minItems: 1, items: BASE64 }] },
    },
    replies: { 201: 'What they are' },
  },
  putAttachment: {
    summary: 'Makes or replaces an attachment; a document that is not there is made',
    tag: ATTACHMENTS,
    headers: CONDITIONS,
    bodies: { 'application/octet-stream': BYTES },
    replies: { 200: 'Replaced', 201: 'Made', 412: CHANGED },
  },
  getAttachment: {
    summary: 'Reads an attachment, or a stretch of it',
    tag: ATTACHMENTS,
    headers: { ...CONDITIONS, range: { type: 'string' }, 'if-range': { type: 'string' } },
    replies: {
      200: 'Its bytes',
      206: 'The stretch',
      304: 'The caller has it',
      404: NOT_THERE,
      416: 'There are no bytes in that range',
    },
  },
  deleteAttachment: {
    summary: 'Deletes an attachment',
    tag: ATTACHMENTS,
    headers: CONDITIONS,
    replies: { 204: 'Deleted', 404: NOT_THERE, 412: CHANGED },
  },
  insert: {
    summary: 'Inserts documents',
    tag: PAYLOAD,
    bodies: {
      'application/json': { type: 'array', minItems: 1, items: OBJECT },
      'application/x-ndjson': LINES,
    },
    replies: { 200: 'Inserted', 400: 'What is wrong, and with which of them' },
  },
  search: { summary: 'Finds documents by their id', tag: PAYLOAD },
};
