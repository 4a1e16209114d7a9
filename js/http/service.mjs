// The part of a server that does not depend on which server it is: its options, its routes, its pool, and how a request
// becomes a reply. js/fastify.mjs and js/bun-serve.mjs translate to and from their server's own requests and replies.

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLog } from '../pool/log.mjs';
import { toFileUrl, WorkerPool } from '../pool/pool.mjs';
import { errorReply, replyOfError, toReply } from '../pool/reply.mjs';
import { createGuard } from './guard.mjs';
import { toMessage } from './request.mjs';
import { Runs } from './runs.mjs';
import { createCheck } from './schemas.mjs';

/** This package's version. @type {string} */
export const VERSION = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;

/** Bodies are bounded: 1 MiB, unless the options say otherwise. */
export const BODY_LIMIT = 1024 * 1024;

/**
 * @typedef {object} RouteOptions
 * @property {string} method 'get', 'post', 'put', 'patch' or 'delete'
 * @property {string} url with parameters as in `/user/:id`
 * @property {string} [handlerPath] the handler module: a file URL, or a path, relative to the working folder
 * @property {(message: any) => unknown} [mainHandler] in place of handlerPath: a function that answers in the main
 *   thread, for what takes no time and needs no store
 * @property {boolean} [events] whether its runs are long: they have no time limit, `GET <url>/:run/events` follows one and
 *   `DELETE <url>/:run` cancels one; the body may name the run as `run`
 * @property {import('./schemas.mjs').RouteSchema} [schema] what a request must look like; else it is answered with 400
 * @property {string} [invalid] the error text for a request that the schema refuses, in place of what is wrong with it
 *
 * @typedef {object} ServiceOptions
 * @property {'threads' | 'processes' | 'child_process'} [mode] where handlers run; default threads
 * @property {boolean} [logging] whether the console shows the pool at work; default false
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
 * @property {string} [pages] a folder of static files, served for paths that no route has
 *
 * @typedef {RouteOptions & {type: string, method: string, check: import('./schemas.mjs').Check}} Route
 */

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * Reads the routes of the options.
 * @param {RouteOptions[]} given
 * @returns {Route[]}
 * @throws {TypeError} that says which entry is wrong, and how
 */
function readRoutes(given) {
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
    if (entry.handlerPath !== undefined && !existsSync(fileURLToPath(toFileUrl(entry.handlerPath)))) {
      throw new TypeError(
        `${where}.handlerPath: there is no file ${fileURLToPath(toFileUrl(entry.handlerPath))}`,
      );
    }
    const type = `${method} ${entry.url}`;
    if (types.has(type)) throw new TypeError(`${where}: ${type} is there already`);
    types.add(type);
    return { ...entry, method, type, check: createCheck(entry.schema) };
  });
}

/**
 * What workers open the store with.
 * @param {Pick<ServiceOptions, 'store' | 'mgdbx'>} options
 * @returns {Record<string, unknown> & {path: string}} with an absolute path
 */
export function storeOptions({ store, mgdbx }) {
  const { type, path, ...rest } = { ...mgdbx?.open, ...store };
  // The path of another product's open() is that product's installation, not a store.
  const own = type === undefined || type === 'CaretDB' ? path : undefined;
  return { ...rest, path: resolve(String(own || process.env.CARETDB_PATH || 'caretdb-data')) };
}

/** One server's routes, pool and runs. */
export class Service {
  /**
   * @param {ServiceOptions} options
   * @param {string} serverName 'Fastify' or 'Bun.serve'
   */
  constructor(options, serverName) {
    this.routes = readRoutes(options.workerHandlersByRoute);
    this.bodyLimit = options.bodyLimit ?? BODY_LIMIT;
    this.pages = options.pages;
    this.store = storeOptions(options);
    if (this.store.engine === 'sled' && options.mode !== undefined && options.mode !== 'threads') {
      throw new TypeError("The engine 'sled' is for one process: mode must be 'threads'");
    }
    this.guard = createGuard(options);
    const log = createLog(options.logging === true);
    this.pool = new WorkerPool({
      mode: options.mode,
      poolSize: options.poolSize,
      handlers: Object.fromEntries(
        this.routes.flatMap(({ type, handlerPath }) =>
          handlerPath === undefined ? [] : [[type, handlerPath]],
        ),
      ),
      onStartup: options.onStartup,
      handlerTimeout: options.handlerTimeout,
      maxQueue: options.maxQueue,
      store: this.store,
      serverName,
      log,
    });
    this.runs = new Runs(this.pool);
    log.banner('CaretDB', VERSION, this.pool.size);
  }

  /**
   * Answers a request.
   * @param {Route} route
   * @param {import('./request.mjs').RequestParts} parts
   * @param {(reply: import('../pool/reply.mjs').Reply) => void} respond called once
   */
  answer(route, parts, respond) {
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
      this.pool.log.error(`main thread: ${error instanceof Error ? error.stack : error}`);
      return replyOfError(error);
    }
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
    await this.pool.close();
  }
}
