// Routes whose bodies are too large to be held: `stream` of a route reads the request's body as it comes, and may answer with a
// file or with pieces that are made while they are sent. It runs in the main thread, and asks its handler in a worker for
// whatever touches the store.

import { traceOf } from '../failure.mjs';
import { errorReply, replyOfError } from '../pool/reply.mjs';
import { readStream } from './body.mjs';
import { RequestError } from './errors.mjs';
import { toMessage } from './request.mjs';

/**
 * @typedef {object} FileBody a stretch of a file
 * @property {string} file its path
 * @property {number} start the first byte
 * @property {number} length how many bytes
 *
 * @typedef {AsyncIterable<string | Uint8Array>} Pieces what is sent piece by piece, as fast as the caller takes it
 *
 * @typedef {object} StreamReply
 * @property {number} statusCode
 * @property {Record<string, string | string[]> | undefined} headers
 * @property {string | Uint8Array | FileBody | Pieces | undefined} body
 *
 * @typedef {Record<string, any> & {body: AsyncIterable<Uint8Array> | undefined}} StreamData what a handler gets as
 *   `messageObj.data`, with the body as it comes
 *
 * @typedef {(data: Record<string, any>) => Promise<import('../pool/reply.mjs').Reply>} Ask runs the route's handler in a worker
 *
 * @typedef {object} StreamContext
 * @property {Ask} ask
 * @property {import('./service.mjs').Service} service
 *
 * @typedef {(data: StreamData, context: StreamContext) => Promise<StreamReply>} Stream
 */

/** How long a body may stand still before the request is given up, in milliseconds. */
const STANDSTILL = 60_000;

/**
 * Answers a request of a streaming route.
 * @param {import('./service.mjs').Service} service
 * @param {import('./service.mjs').Route} route
 * @param {import('./request.mjs').RequestParts} parts its body is an AsyncIterable of bytes, or undefined
 * @returns {Promise<StreamReply>} never rejects
 */
export async function answerStream(service, route, parts) {
  const since = performance.now();
  const reply = await streamReply(service, route, parts);
  service.note(route.url, parts, reply.statusCode, since);
  return reply;
}

/**
 * @param {import('./service.mjs').Service} service
 * @param {import('./service.mjs').Route} route
 * @param {import('./request.mjs').RequestParts} parts
 * @returns {Promise<StreamReply>}
 */
async function streamReply(service, route, parts) {
  const { type, url, check } = route;
  const { data } = toMessage(type, url, parts);
  const stream = /** @type {Stream} */ (route.stream);
  try {
    const problem = check(data);
    if (problem !== undefined) return errorReply(400, `Invalid request: ${problem}`);
    refuseEncoding(data.headers['content-encoding']);
    const ask = (/** @type {Record<string, any>} */ asked) => service.pool.run({ type, data: asked });
    const reply = await stream(/** @type {StreamData} */ (data), { ask, service });
    return arePieces(reply.body) ? { ...reply, body: watched(reply.body, service, type) } : reply;
  } catch (error) {
    const reply = replyOfError(error);
    if (reply.statusCode >= 500) {
      service.pool.log.error(`${type}: ${traceOf(error)}`);
    }
    return reply;
  }
}

/**
 * Pieces whose failure is in the log: the status is sent by then, and the caller only sees that the connection breaks off.
 * @param {Pieces} pieces
 * @param {import('./service.mjs').Service} service
 * @param {string} type
 * @returns {Pieces}
 */
async function* watched(pieces, service, type) {
  try {
    yield* pieces;
  } catch (error) {
    service.pool.log.error(`${type}: ${traceOf(error)}`);
    throw error;
  }
}

/** @param {string | undefined} encoding what unpacks to an unknown size is not unpacked */
function refuseEncoding(encoding) {
  if (encoding === undefined || encoding.trim() === '' || encoding.toLowerCase() === 'identity') return;
  throw new RequestError(415, `content-encoding ${encoding} is not understood: send the bytes as they are`);
}

/**
 * A request's body, piece by piece, up to a limit.
 * @param {StreamData} data
 * @param {number} limit bytes
 * @returns {AsyncGenerator<Uint8Array, void, void>} it throws where the body ends early (400), is too large (413), or stands still
 *   for a minute (408)
 */
export async function* boundedBody({ body, headers }, limit) {
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  if (body === undefined) return;
  const pieces = body[Symbol.asyncIterator]();
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await withinStandstill(pieces.next());
      if (done) break;
      size += value.length;
      if (size > limit) throw tooLarge(limit);
      yield value;
    }
  } finally {
    // Without waiting: a body that stands still does not end because it is asked to.
    pieces.return?.()?.catch(() => {});
  }
  const promised = headers['content-length'];
  if (promised !== undefined && Number(promised) !== size) throw brokenOff();
}

/** @param {number} limit */
function tooLarge(limit) {
  return new RequestError(413, `The body is larger than ${limit} bytes`);
}

function brokenOff() {
  return new RequestError(400, 'The body broke off');
}

/**
 * @template T
 * @param {Promise<T>} next
 * @returns {Promise<T>}
 */
function withinStandstill(next) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new RequestError(408, 'The body stood still for a minute')),
      STANDSTILL,
    );
    next.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      () => {
        clearTimeout(timer);
        reject(brokenOff());
      },
    );
  });
}

/**
 * A request's whole body.
 * @param {StreamData} data
 * @param {number} limit bytes
 * @returns {Promise<Uint8Array>}
 * @throws {RequestError} as `readStream`
 */
export async function wholeBody({ body, headers }, limit) {
  const length = headers['content-length'];
  if (body === undefined) return new Uint8Array();
  return readStream(body, length === undefined ? undefined : Number(length), limit);
}

/**
 * @param {StreamReply['body']} body
 * @returns {number | undefined} its bytes, where they are known before it is sent
 */
export function lengthOf(body) {
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (body instanceof Uint8Array) return body.length;
  return body !== undefined && 'file' in body ? body.length : undefined;
}

/**
 * @param {StreamReply['body']} body
 * @returns {body is FileBody}
 */
export function isFile(body) {
  return typeof body === 'object' && 'file' in body;
}

/**
 * @param {StreamReply['body']} body
 * @returns {body is Pieces}
 */
export function arePieces(body) {
  return typeof body === 'object' && Symbol.asyncIterator in body;
}
