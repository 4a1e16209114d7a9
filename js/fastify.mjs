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

import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import { EVENT_HEADERS, REPLY_HEADERS, SECURITY_HEADERS } from './http/headers.mjs';
import { parseBody } from './http/request.mjs';
import { Service } from './http/service.mjs';
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
 * What a fault outside of handlers is answered with: a body that cannot be read, a path out of the folder of pages.
 * @param {Service} service
 * @param {any} error
 * @param {string} url
 * @returns {Reply}
 */
function replyOfFault(service, error, url) {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return service.tooLarge();
  if (error.statusCode === 403) return service.notFound(url);
  return replyOfError(error);
}

/** @param {FastifyInstance} scope @param {Service} service */
function guardScope(scope, service) {
  scope.addHook('onRequest', (request, reply, done) => {
    reply.headers(SECURITY_HEADERS);
    const refusal = service.guard(request.method, request.headers);
    if (refusal === undefined) done();
    else send(reply, refusal);
  });
  scope.setErrorHandler((error, request, reply) => send(reply, replyOfFault(service, error, request.url)));
}

/** @param {FastifyInstance} scope @param {Service} service */
function readBodies(scope, service) {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: service.bodyLimit },
    (request, bytes, done) => {
      try {
        done(null, parseBody(request.headers['content-type'], /** @type {Buffer} */ (bytes)));
      } catch (error) {
        done(/** @type {Error} */ (error));
      }
    },
  );
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
  scope.delete(`${url}/:run`, (request, reply) => {
    send(reply, service.runs.cancel(/** @type {{run: string}} */ (request.params).run));
  });
}

/**
 * For Fastify's option `frameworkErrors`: answers a path that cannot be decoded as the other server does.
 * @param {Error} _error
 * @param {FastifyRequest} request
 * @param {FastifyReply} reply
 */
export function answerBadPath(_error, request, reply) {
  send(reply.headers(SECURITY_HEADERS), errorReply(400, `Bad path: ${request.url.split('?', 1)[0]}`));
}

/**
 * The plugin.
 * @param {FastifyInstance} fastify
 * @param {CaretdbOptions} options
 */
async function caretdb(fastify, options) {
  const service = new Service(options, 'Fastify');
  fastify.decorate('caretdb', service);
  fastify.addHook('preClose', async () => service.interrupt());
  fastify.addHook('onClose', () => service.close());
  if (options.wholeServer) {
    guardScope(fastify, service);
    fastify.setNotFoundHandler((request, reply) => send(reply, service.notFound(request.url)));
  }
  await fastify.register(async (scope) => {
    if (!options.wholeServer) guardScope(scope, service);
    readBodies(scope, service);
    for (const route of service.routes) addRoute(scope, service, route);
    if (service.pages !== undefined) {
      const root = service.pages.startsWith('file:') ? fileURLToPath(service.pages) : service.pages;
      await scope.register(fastifyStatic, { root, decorateReply: false });
    }
  });
}

// Fastify's marks of a plugin whose decorations are for the whole application.
Object.assign(caretdb, {
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'caretdb',
  [Symbol.for('plugin-meta')]: { name: 'caretdb', fastify: '5.x' },
});

export { caretdb };
export default caretdb;
