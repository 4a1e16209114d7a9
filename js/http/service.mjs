// The part of a server that does not depend on which server it is: its options, its routes, its pool, and how a request
// becomes a reply. js/fastify.mjs and js/bun-serve.mjs translate to and from their server's own requests and replies.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { traceOf } from '../failure.mjs';
import { fixedPlace } from '../place.mjs';
import { createLog } from '../pool/log.mjs';
import { toFileUrl, WorkerPool, wholeNumber } from '../pool/pool.mjs';
import { errorReply, replyOfError, toReply } from '../pool/reply.mjs';
import { VERSION } from '../version.mjs';
import { createGuard } from './guard.mjs';
import { handlerWithin } from './handler-path.mjs';
import { SECURE_HEADERS, SECURITY_HEADERS } from './headers.mjs';
import { Health, PROBE, PROBE_HANDLER } from './health.mjs';
import { createJsonLog } from './json-log.mjs';
import { LOGIN_PATHS, Login, sessionRoute } from './login.mjs';
import { Metrics } from './metrics.mjs';
import { openApi } from './openapi.mjs';
import { HEALTH_PATHS, operationRoutes } from './operations.mjs';
import { toMessage } from './request.mjs';
import { Runs } from './runs.mjs';
import { createCheck } from './schemas.mjs';
import { canBeSent } from './token.mjs';

/** Bodies are bounded: 1 MiB, unless the options say otherwise. */
export const BODY_LIMIT = 1024 * 1024;

/**
 * @typedef {object} RouteOptions
 * @property {string} method 'get', 'post', 'put', 'patch' or 'delete'
 * @property {string} url with parameters as in `/user/:id`
 * @property {string} [handlerPath] the handler module: a file URL, or a path, relative to the working folder
 * @property {(message: any) => unknown} [mainHandler] in place of handlerPath: a function that answers in the main
 *   thread, for what takes no time and needs no store
 * @property {import('./openapi.mjs').Described} [openapi] what the OpenAPI document says of it
 * @property {import('./streams.mjs').Stream} [stream] with handlerPath: reads the body as it comes and makes the reply in the main
 *   thread, asking the handler for what needs the store; for bodies that are too large to be held
 * @property {boolean} [events] whether its runs are long: they have no time limit, `GET <url>/:run/events` follows one and
 *   `DELETE <url>/:run` cancels one; the body may name the run as `run`
 * @property {import('./schemas.mjs').RouteSchema} [schema] what a request must look like; else it is answered with 400
 * @property {string} [invalid] the error text for a request that the schema refuses, in place of what is wrong with it
 *
 * @typedef {object} ServiceOptions
 * @property {'threads' | 'processes' | 'child_process'} [mode] where handlers run; default threads
 * @property {boolean | 'json'} [logging] true: the console shows the pool at work; 'json': a line of JSON for each request;
 *   default false
 * @property {number} [poolSize] how many workers at most; default 2
 * @property {RouteOptions[]} workerHandlersByRoute
 * @property {{module: string, arguments?: unknown}} [onStartup] runs in each new worker
 * @property {number} [handlerTimeout] milliseconds that a handler may take from its start; default 60,000
 * @property {number} [maxQueue] how many requests may wait for a worker; default 10,000
 * @property {Record<string, unknown>} [store] what workers open the store with: `{path, engine, durability, …}`; the
 *   folder is `path`, else the environment variable CARETDB_PATH, else `./caretdb-data`
 * @property {{open?: Record<string, unknown>}} [mgdbx] the same as `{open: {…}}`, for programs that have it so
 * @property {number} [bodyLimit] bytes that a body may have; default 1 MiB
 * @property {string[]} [allowedHosts] names that the Host header may have, besides those of the loopback
 * @property {string} [token] a token that each request must bring
 * @property {string} [handlersFolder] where handler modules must be; relative paths are relative to it
 * @property {boolean} [operations] adds GET /health and GET /metrics, and with a token /login and /logout; default false
 * @property {boolean} [secure] whether browsers reach the server by https; the servers that come with the package know
 * @property {string} [pages] a folder of static files, served for paths that no route has
 *
 * @typedef {RouteOptions & {type: string, method: string, check: import('./schemas.mjs').Check}} Route
 *
 * @typedef {object} Asked what is noted of a request
 * @property {string} method
 * @property {string} url
 * @property {string} ip
 */

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * @param {string} handlerPath
 * @param {string} where in the options, for errors
 * @param {string | undefined} folder
 * @returns {string}
 * @throws {TypeError}
 */
function located(handlerPath, where, folder) {
  if (folder !== undefined) {
    try {
      return handlerWithin(folder, handlerPath);
    } catch (error) {
      throw new TypeError(`${where}.${/** @type {Error} */ (error).message}`);
    }
  }
  const path = fileURLToPath(toFileUrl(handlerPath));
  if (!existsSync(path)) throw new TypeError(`${where}.handlerPath: there is no file ${path}`);
  return handlerPath;
}

/**
 * Reads the routes of the options.
 * @param {RouteOptions[]} given
 * @param {string} [folder] where handler modules must be
 * @returns {Route[]}
 * @throws {TypeError} that says which entry is wrong, and how
 */
function readRoutes(given, folder) {
  if (!Array.isArray(given))
    throw new TypeError('workerHandlersByRoute must be an array of {method, url, handlerPath}');
  const types = new Set();
  return given.map((entry, index) => {
    const where = `workerHandlersByRoute[${index}]`;
    const method = String(entry?.method ?? '').toUpperCase();
    if (!METHODS.has(method))
      throw new TypeError(`${where}.method must be one of get, post, put, patch, delete`);
    if (typeof entry.url !== 'string' || !entry.url.startsWith('/')) {
      throw new TypeError(`${where}.url must be a path that starts with '/'`);
    }
    if ((typeof entry.handlerPath === 'string') === (typeof entry.mainHandler === 'function')) {
      throw new TypeError(`${where} needs either handlerPath, a string, or mainHandler, a function`);
    }
    const handlerPath =
      entry.handlerPath === undefined ? undefined : located(entry.handlerPath, where, folder);
    const type = `${method} ${entry.url}`;
    if (types.has(type)) throw new TypeError(`${where}: ${type} is there already`);
    types.add(type);
    return { ...entry, handlerPath, method, type, check: createCheck(entry.schema) };
  });
}

/**
 * What workers open the store with.
 * @param {Pick<ServiceOptions, 'store' | 'mgdbx'>} options
 * @returns {Record<string, unknown>} with an absolute path, or the URL of a server as path or url
 */
export function storeOptions({ store, mgdbx }) {
  const { type, path, ...rest } = { ...mgdbx?.open, ...store };
  // The path of another product's open() is that product's installation, not a store.
  const own = type === undefined || type === 'CaretDB' ? path : undefined;
  if (rest.url !== undefined) return rest;
  return { ...rest, path: fixedPlace(String(own || process.env.CARETDB_PATH || 'caretdb-data')) };
}

/** @param {Route[]} routes @returns {Record<string, string>} handler module by message type */
function handlersOf(routes) {
  return Object.fromEntries(
    routes.flatMap(({ type, handlerPath }) => (handlerPath === undefined ? [] : [[type, handlerPath]])),
  );
}

/** One server's routes, pool and runs. */
export class Service {
  /**
   * @param {ServiceOptions} options
   * @param {string} serverName 'Fastify' or 'Bun.serve'
   */
  constructor(options, serverName) {
    const { operations = false, token, secure = false, handlersFolder } = options;
    this.bodyLimit = wholeNumber(options.bodyLimit ?? BODY_LIMIT, 'bodyLimit');
    if (token !== undefined && !canBeSent(token)) {
      throw new TypeError(
        'token must be one word of letters, digits and signs: no header field brings another',
      );
    }
    this.pages = options.pages;
    this.store = storeOptions(options);
    if (this.store.engine === 'sled' && options.mode !== undefined && options.mode !== 'threads') {
      throw new TypeError("The engine 'sled' is for one process: mode must be 'threads'");
    }
    const login = operations && token !== undefined ? new Login(token, secure) : undefined;
    const openPaths = operations ? [...HEALTH_PATHS, ...LOGIN_PATHS] : [];
    this.guard = createGuard({ allowedHosts: options.allowedHosts, token, login, openPaths });
    /** What every reply has. @type {Record<string, string>} */
    this.headers = secure ? { ...SECURITY_HEADERS, ...SECURE_HEADERS } : SECURITY_HEADERS;
    const routes = readRoutes(options.workerHandlersByRoute, handlersFolder);
    const log =
      options.logging === 'json' ? createJsonLog(token) : createLog(options.logging === true, token);
    this.metrics = new Metrics();
    this.pool = new WorkerPool({
      mode: options.mode,
      poolSize: options.poolSize,
      handlers: { ...handlersOf(routes), ...(operations ? { [PROBE]: PROBE_HANDLER } : {}) },
      onStartup: options.onStartup,
      handlerTimeout: options.handlerTimeout,
      maxQueue: options.maxQueue,
      store: this.store,
      serverName,
      log,
    });
    /** @type {Route[]} */
    this.routes = operations
      ? [
          ...routes,
          ...readRoutes(operationRoutes(this.metrics, new Health(this.pool))),
          ...readRoutes([this.documentRoute(token !== undefined)]),
          ...readRoutes([sessionRoute(login), ...(login?.routes() ?? [])]),
        ]
      : routes;
    this.runs = new Runs(this.pool);
    /** What else must end before the server does. @type {(() => Promise<void>)[]} */
    this.beforeClose = [];
    log.banner('CaretDB', VERSION, this.pool.size);
  }

  /** @param {boolean} token whether requests need one @returns {RouteOptions} */
  documentRoute(token) {
    return {
      method: 'get',
      url: '/openapi.json',
      mainHandler: () => openApi(this.routes, { version: VERSION, token }),
      openapi: { summary: 'This document', tag: 'Server' },
    };
  }

  /**
   * Answers a request.
   * @param {Route} route
   * @param {import('./request.mjs').RequestParts} parts
   * @param {(reply: import('../pool/reply.mjs').Reply) => void} send called once
   */
  answer(route, parts, send) {
    const since = performance.now();
    const respond = (/** @type {import('../pool/reply.mjs').Reply} */ reply) => {
      this.note(route.url, parts, reply.statusCode, since);
      send(reply);
    };
    const message = toMessage(route.type, route.url, parts);
    // Bytes have no properties that a schema could look at, so that one would let them pass.
    if (route.schema?.body !== undefined && parts.body instanceof Uint8Array) {
      return respond(errorReply(415, 'The body must be JSON: content-type: application/json'));
    }
    const problem = route.check(message.data);
    if (problem !== undefined)
      return respond(errorReply(400, route.invalid ?? `Invalid request: ${problem}`));
    if (route.events) {
      this.runs.start(message).then(respond, (error) => respond(replyOfError(error)));
    } else if (route.mainHandler !== undefined) {
      this.answerHere(route.mainHandler, message).then(respond);
    } else {
      this.pool.submit(message, {}, respond);
    }
  }

  /**
   * @param {(message: any) => unknown} handler
   * @param {object} message
   * @returns {Promise<import('../pool/reply.mjs').Reply>}
   */
  async answerHere(handler, message) {
    try {
      return toReply(await handler(message));
    } catch (error) {
      this.pool.log.error(`main thread: ${traceOf(error)}`);
      return replyOfError(error);
    }
  }

  /**
   * Counts a reply, and writes its line where there is a log of requests.
   * @param {string} route as configured, or a word in brackets for what has none
   * @param {Asked} asked
   * @param {number} status
   * @param {number} [since] when the request came, by performance.now(); now: it took no time
   */
  note(route, { method, url, ip }, status, since = performance.now()) {
    const milliseconds = performance.now() - since;
    this.metrics.of(method, route).add(status, milliseconds / 1000);
    this.pool.log.request?.({ method, url, route, status, milliseconds, ip });
  }

  /** @param {string} url @returns {import('../pool/reply.mjs').Reply} */
  notFound(url) {
    return errorReply(404, `Not found: ${url}`);
  }

  /** The reply for a body above the limit. */
  tooLarge() {
    return errorReply(413, `The body is larger than ${this.bodyLimit} bytes`);
  }

  /** Cancels long runs and ends their streams, so that nothing keeps the server from closing. */
  interrupt() {
    this.runs.close();
  }

  /** Finishes what is in flight and ends the workers. @returns {Promise<void>} */
  async close() {
    this.interrupt();
    for (const end of this.beforeClose.splice(0)) await end();
    await this.pool.close();
  }
}
