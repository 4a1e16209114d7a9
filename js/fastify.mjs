// CaretDB as a plugin for Fastify 5.
//
//     import Fastify from 'fastify';
//     import caretdb from 'caretdb/fastify';
//
//     const fastify = Fastify();
//     fastify.register(caretdb, {
//       workerHandlersByRoute: [{ method: 'get', url: '/user/:id', handlerPath: 'handlers/getUser.mjs' }],
//     });
//     await fastify.listen({ port: 3000 });
//
// The routes live in a scope of their own, with their own body parsing and checks, so that they change nothing for the rest of
// an application; `fastify.caretdb` is there for all of it.

import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import { readStream } from './http/body.mjs';
import { EVENT_HEADERS, REPLY_HEADERS, SECURITY_HEADERS } from './http/headers.mjs';
import { discard } from './http/incoming.mjs';
import { parseBody } from './http/request.mjs';
import { Service } from './http/service.mjs';
import { answerStream, arePieces, isFile, lengthOf } from './http/streams.mjs';
import { errorReply, replyOfError } from './pool/reply.mjs';

/**
 * @typedef {import('fastify').FastifyInstance} FastifyInstance
 * @typedef {import('fastify').FastifyRequest} FastifyRequest
 * @typedef {import('fastify').FastifyReply} FastifyReply
 * @typedef {import('./pool/reply.mjs').Reply} Reply
 *
 * @typedef {import('./http/service.mjs').ServiceOptions & {wholeServer?: boolean}} CaretdbOptions with `wholeServer`, the
 *   checks of Host, Origin and token, the header fields, and the replies for unknown paths and errors hold for the
 *   whole server, instead of for the routes of these options only
 */

/** @param {FastifyReply} reply @param {Reply} answer */
function send(reply, { statusCode, headers, body }) {
  reply.code(statusCode).headers(REPLY_HEADERS);
  if (headers !== undefined) reply.headers(headers);
  if (body === undefined) reply.removeHeader('content-type');
  reply.send(body);
}

/** @param {FastifyRequest} request @returns {import('./http/request.mjs').RequestParts} */
function partsOf(request) {
  return {
    method: request.method,
    url: request.url,
    protocol: request.protocol,
    ip: request.ip,
    headers: request.headers,
    params: /** @type {Record<string, any>} */ (request.params),
    body: request.body,
  };
}

/**
 * The header fields as the guard sees them. Node.js keeps the first of two Host fields; what lies behind another server may have
 * gone by the second.
 * @param {import('node:http').IncomingMessage} raw
 * @returns {Record<string, any>}
 */
function guardedFields({ headers, rawHeaders }) {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1 ? { ...headers, host: undefined } : headers;
}

/** @param {FastifyInstance} scope @param {Service} service */
function guardScope(scope, service) {
  scope.addHook('onRequest', (request, reply, done) => {
    reply.headers(service.headers);
    const refusal = service.guard(request.method, guardedFields(request.raw), request.url);
    if (refusal === undefined) return done();
    service.note('(refused)', request, refusal.statusCode);
    send(reply, refusal);
  });
  scope.addHook('onSend', async ({ method, raw }) => {
    if (method === 'GET' || method === 'HEAD' || raw.complete) return;
    await discard(raw.iterator({ destroyOnReturn: false }));
  });
  // What fails outside of handlers: a body that cannot be read, a path out of the folder of pages.
  scope.setErrorHandler((/** @type {any} */ error, request, reply) => {
    const answer = error.statusCode === 403 ? service.notFound(request.url) : replyOfError(error);
    service.note('(failed)', request, answer.statusCode);
    send(reply, answer);
  });
}

/** @param {FastifyInstance} scope @param {Service} service */
function readBodies(scope, service) {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    '*',
    async (/** @type {FastifyRequest} */ request, /** @type {Readable} */ payload) => {
      const length = request.headers['content-length'];
      const bytes = await readStream(
        // The reply goes the same way back: an iterator that ends early must not destroy the connection.
        payload.iterator({ destroyOnReturn: false }),
        length === undefined ? undefined : Number(length),
        service.bodyLimit,
      );
      return parseBody(request.headers['content-type'], bytes);
    },
  );
}

/** @param {import('./http/streams.mjs').StreamReply['body']} body */
function toPayload(body) {
  if (arePieces(body)) return Readable.from(body, { objectMode: false });
  if (!isFile(body)) return body;
  const { file, start, length } = body;
  return length === 0
    ? ''
    : createReadStream(file, { start, end: start + length - 1, highWaterMark: 1 << 18 });
}

/** @param {FastifyReply} reply @param {boolean} isHead @param {import('./http/streams.mjs').StreamReply} answer */
function sendStream(reply, isHead, { statusCode, headers, body }) {
  const length = lengthOf(body);
  reply.code(statusCode).headers({ ...REPLY_HEADERS, ...headers });
  if (body === undefined) reply.removeHeader('content-type');
  if (length !== undefined) reply.header('content-length', length);
  reply.send(isHead ? undefined : toPayload(body));
}

/**
 * Adds the routes whose bodies are not read before their handlers run.
 * @param {FastifyInstance} scope
 * @param {Service} service
 */
async function addStreams(scope, service) {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, payload, done) =>
    // The reply goes the same way back: an iterator that ends early must not destroy the connection.
    done(null, /** @type {Readable} */ (payload).iterator({ destroyOnReturn: false })),
  );
  for (const route of service.routes) {
    if (route.stream === undefined) continue;
    scope.route({
      method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
      url: route.url,
      async handler(request, reply) {
        const isHead = request.method === 'HEAD';
        sendStream(reply, isHead, await answerStream(service, route, partsOf(request)));
        return reply;
      },
    });
  }
}

/** @param {FastifyInstance} scope @param {Service} service @param {import('./http/service.mjs').Route} route */
function addRoute(scope, service, route) {
  scope.route({
    method: route.method,
    url: route.url,
    handler(request, reply) {
      service.answer(route, partsOf(request), (answer) => send(reply, answer));
    },
  });
  if (route.events) addRunRoutes(scope, service, route.url);
}

/** @param {FastifyInstance} scope @param {Service} service @param {string} url */
function addRunRoutes(scope, service, url) {
  scope.get(`${url}/:run/events`, async (request, reply) => {
    const { run } = /** @type {{run: string}} */ (request.params);
    const events = await service.runs.follow(run);
    if (events === undefined) return send(reply, errorReply(404, `No run '${run}'`));
    reply.headers(EVENT_HEADERS).send(Readable.from(events));
    return reply;
  });
  scope.delete(`${url}/:run`, async (request, reply) => {
    send(reply, await service.runs.cancel(/** @type {{run: string}} */ (request.params).run));
    return reply;
  });
}

/** @param {FastifyInstance} scope @param {Service} service */
async function servePages(scope, service) {
  const pages = String(service.pages);
  const root = pages.startsWith('file:') ? fileURLToPath(pages) : pages;
  scope.addHook('onResponse', async (request, reply) => {
    service.note('(pages)', request, reply.statusCode, performance.now() - reply.elapsedTime);
  });
  await scope.register(fastifyStatic, { root, decorateReply: false });
}

/** A segment `.` or `..`, or a backslash, which stands for a slash. */
const DOTS = /\\|[/](?:\.|%2e){1,2}(?=[/?#]|$)/i;

/**
 * For Fastify's option `rewriteUrl`: follows the segments `.` and `..` of a path before anything looks at it, as Bun does, and as
 * every browser does before it asks.
 * @param {{url?: string}} request
 * @returns {string}
 */
export function followDots({ url = '/' }) {
  if (!url.startsWith('/') || !DOTS.test(url.split('?', 1)[0])) return url;
  const { pathname, search } = new URL(`http://localhost${url}`);
  return pathname + search;
}

/**
 * For Fastify's option `frameworkErrors`: answers a path that cannot be decoded, or has a part too long for any route, as the other
 * server does.
 * @param {Error & {code?: string}} error
 * @param {FastifyRequest} request
 * @param {FastifyReply} reply
 */
export function answerBadPath({ code }, request, reply) {
  const answer =
    code === 'FST_ERR_MAX_PARAM_LENGTH'
      ? errorReply(404, `Not found: ${request.url}`)
      : errorReply(400, `Bad path: ${request.url.split('?', 1)[0]}`);
  send(reply.headers(SECURITY_HEADERS), answer);
}

/**
 * For Fastify's option `clientErrorHandler`: answers what is no HTTP, in the form of all other errors.
 * @param {any} error
 * @param {import('node:net').Socket} socket
 */
export function answerBadRequest(error, socket) {
  if (socket.destroyed || !socket.writable || error.code === 'ECONNRESET') return socket.destroy();
  const [status, reason] = BAD_REQUESTS[error.code] ?? ['400 Bad Request', 'This is no valid HTTP request'];
  const body = JSON.stringify({ error: reason });
  socket.end(
    `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** Errors of the parser that have a status of their own. @type {Record<string, [string, string]>} */
const BAD_REQUESTS = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The header fields are larger than 16 KiB'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time'],
};

/**
 * The plugin.
 * @param {FastifyInstance} fastify
 * @param {CaretdbOptions} options
 */
async function caretdb(fastify, options) {
  // Node.js drops what is beyond the 2,000th header field without a word, an Origin too; their size is limited anyway.
  fastify.server.maxHeadersCount = 0;
  const service = new Service(options, 'Fastify');
  fastify.decorate('caretdb', service);
  fastify.addHook('preClose', async () => service.interrupt());
  fastify.addHook('onClose', () => service.close());
  if (options.wholeServer) {
    guardScope(fastify, service);
    fastify.setNotFoundHandler((request, reply) => {
      service.note('(none)', request, 404);
      send(reply, service.notFound(request.url));
    });
  }
  await fastify.register(async (scope) => {
    if (!options.wholeServer) guardScope(scope, service);
    readBodies(scope, service);
    for (const route of service.routes) {
      if (route.stream === undefined) addRoute(scope, service, route);
    }
    await scope.register((streams) => addStreams(streams, service));
    if (service.pages !== undefined) await scope.register(servePages, service);
  });
}

// Fastify's marks of a plugin whose decorations are for the whole application.
Object.assign(caretdb, {
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'caretdb',
  [Symbol.for('plugin-meta')]: { name: 'caretdb', fastify: '5.x' },
});

export { documentRoutes } from './http/documents/routes.mjs';
export { caretdb };
export default caretdb;
