// CaretDB as a router for Bun.serve.
//
//     import { Router } from 'caretdb/bun-serve';
//
//     const router = new Router({
//       workerHandlersByRoute: [{ method: 'get', url: '/user/:id', handlerPath: 'handlers/getUser.mjs' }],
//     });
//     router.get('/local', () => Response.json({ ok: true }));
//     Bun.serve({ port: 3000, fetch: router.fetch });

import findMyWay from 'find-my-way';
import { traceOf } from './failure.mjs';
import { readStream } from './http/body.mjs';
import { EVENT_HEADERS, REPLY_HEADERS } from './http/headers.mjs';
import { discard, Incoming } from './http/incoming.mjs';
import { createPages } from './http/pages.mjs';
import { parseBody } from './http/request.mjs';
import { Service } from './http/service.mjs';
import { answerStream, arePieces, isFile, lengthOf } from './http/streams.mjs';
import { errorReply, replyOfError } from './pool/reply.mjs';

export { documentRoutes } from './http/documents/routes.mjs';

/**
 * @typedef {import('./pool/reply.mjs').Reply} Reply
 *
 * @typedef {object} BunServer the second argument of Bun's fetch, as far as it is used here
 * @property {(request: Request) => {address: string} | null} requestIP
 * @property {(request: Request, seconds: number) => void} timeout
 *
 * @typedef {(request: Request, server: BunServer, found: {params: Record<string, any>, url: string}) => Response | Promise<Response>} RouteHandler
 */

/** Global names and document ids may be longer than the router's own limit for a parameter. */
const LONGEST_PARAMETER = 2048;

/**
 * Path and query of a request, as Node.js gives them.
 * @param {string} url absolute
 */
function pathAndQuery(url) {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  return start < 0 ? '/' : url.slice(start);
}

/** For how long a connection may be silent, in seconds, where nobody is at work: Bun's own limit, which has to be set again. */
const SILENT = 10;
/** For how long a caller may take nothing of a file, in seconds: a player that pauses. The most that Bun can be told. */
const PAUSED = 255;
/** How long a file has to be on its way, in milliseconds, until Bun has set the limit that it sets for one. */
const FILE_BEGUN = 100;

/**
 * Lets a caller read a file slowly. Bun closes a connection that takes none of it for ten seconds, whatever limit was set before
 * the file began.
 * @param {Request} request
 * @param {BunServer} server
 */
function letReadSlowly(request, server) {
  setTimeout(() => server.timeout(request, PAUSED), FILE_BEGUN).unref();
}

/**
 * @param {AsyncIterable<string | Uint8Array>} iterable
 * @param {() => void} [ended] called when the last piece is made, one fails, or nobody takes any more; more than once perhaps
 * @returns {ReadableStream<Uint8Array>}
 */
function toStream(iterable, ended = () => {}) {
  const encoder = new TextEncoder();
  const pieces = iterable[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next();
        if (!done) return controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value);
      } catch (error) {
        ended();
        throw error;
      }
      ended();
      controller.close();
    },
    async cancel() {
      ended();
      await pieces.return?.();
    },
  });
}

/** @param {Request} request one that is answered; a body that nobody asked for is still on its way */
async function discardUnread({ method, body }) {
  if (method === 'GET' || method === 'HEAD' || body === null || body.locked) return;
  await discard(new Incoming(body));
}

/** The routes of one Bun.serve. */
export class Router {
  /** @param {import('./http/service.mjs').ServiceOptions} options */
  constructor(options) {
    this.service = new Service(options, 'Bun.serve');
    this.jsonHeaders = { ...this.service.headers, ...REPLY_HEADERS };
    this.router = findMyWay({ maxParamLength: LONGEST_PARAMETER });
    this.inFlight = 0;
    this.closing = false;
    /** @type {(() => void)[]} */
    this.idleWaiters = [];
    /** @type {ReturnType<typeof createPages> | undefined} */
    this.pages = undefined;
    for (const route of this.service.routes) this.addRoute(route);
    if (this.service.pages !== undefined) this.static(this.service.pages);
    /** For Bun.serve: `{fetch: router.fetch}`. @type {(request: Request, server: BunServer) => Promise<Response>} */
    this.fetch = (request, server) => this.useRoutes(request, server);
  }

  /**
   * Adds a route that is answered in the main thread.
   * @param {string} method
   * @param {string} url
   * @param {RouteHandler} handler
   */
  on(method, url, handler) {
    this.router.on(/** @type {any} */ (method), url, () => {}, handler);
  }

  /** @param {string} url @param {RouteHandler} handler */
  get(url, handler) {
    this.on('GET', url, handler);
  }

  /** @param {string} url @param {RouteHandler} handler */
  post(url, handler) {
    this.on('POST', url, handler);
  }

  /** @param {string} url @param {RouteHandler} handler */
  put(url, handler) {
    this.on('PUT', url, handler);
  }

  /** @param {string} url @param {RouteHandler} handler */
  patch(url, handler) {
    this.on('PATCH', url, handler);
  }

  /** @param {string} url @param {RouteHandler} handler */
  delete(url, handler) {
    this.on('DELETE', url, handler);
  }

  /**
   * Serves the files of a folder for the paths that no route has.
   * @param {string} folder
   */
  static(folder) {
    this.pages = createPages(folder);
  }

  /** @param {Reply} reply @returns {Response} */
  toResponse({ statusCode, headers, body }) {
    /** @type {Record<string, any>} */
    const fields = headers === undefined ? this.jsonHeaders : { ...this.jsonHeaders, ...headers };
    if (headers === undefined && body !== undefined)
      return new Response(/** @type {any} */ (body), { status: statusCode, headers: fields });
    const all = new Headers();
    for (const [name, value] of Object.entries(fields)) {
      if (body === undefined && name === 'content-type') continue;
      for (const one of Array.isArray(value) ? value : [value]) all.append(name, one);
    }
    return new Response(/** @type {any} */ (body), { status: statusCode, headers: all });
  }

  /**
   * @param {Request} request
   * @param {import('./http/streams.mjs').StreamReply} reply
   * @param {() => void} ended called when the last piece of several is made
   * @returns {Response}
   */
  toStreamResponse(request, { statusCode, headers, body }, ended) {
    if (body === undefined) return this.toResponse({ statusCode, headers, body });
    const init = { status: statusCode, headers: { ...this.jsonHeaders, .../** @type {any} */ (headers) } };
    const length = lengthOf(body);
    if (length !== undefined) init.headers['content-length'] = length;
    if (request.method === 'HEAD') {
      // Without a body, a length that is not known would be 0; nothing is read of the stream.
      return new Response(init.headers['content-length'] === undefined ? new ReadableStream() : null, init);
    }
    if (arePieces(body)) return new Response(toStream(body, this.holdOpen(request, ended)), init);
    if (!isFile(body)) return new Response(/** @type {any} */ (body), init);
    const { file, start } = body;
    return new Response(length === 0 ? '' : Bun.file(file).slice(start, start + body.length), init);
  }

  /**
   * Answers what has no route.
   * @param {string} route a word for it
   * @param {Request} request
   * @param {BunServer} server
   * @param {string} url
   * @param {Reply} reply
   */
  refuse(route, request, server, url, reply) {
    this.service.note(route, { method: request.method, url, ip: ipOf(request, server) }, reply.statusCode);
    return this.toResponse(reply);
  }

  /** @param {import('./http/service.mjs').Route} route */
  addRoute(route) {
    if (route.stream !== undefined) return this.addStream(route);
    this.on(route.method, route.url, (request, server, found) => this.answer(route, request, server, found));
    if (!route.events) return;
    this.on('GET', `${route.url}/:run/events`, async (request, server, { params }) => {
      const events = await this.service.runs.follow(params.run);
      if (events === undefined) return this.toResponse(errorReply(404, `No run '${params.run}'`));
      server.timeout(request, 0);
      return new Response(toStream(events), { headers: { ...this.service.headers, ...EVENT_HEADERS } });
    });
    this.on('DELETE', `${route.url}/:run`, async (_request, _server, { params }) =>
      this.toResponse(await this.service.runs.cancel(params.run)),
    );
  }

  /** @param {import('./http/service.mjs').Route} route one whose body is not read before its handler runs */
  addStream(route) {
    this.on(route.method, route.url, async (request, server, { params, url }) => {
      // A body that stands still is noticed where it is read.
      server.timeout(request, 0);
      const incoming = request.body === null ? undefined : new Incoming(request.body);
      const parts = this.partsOf(request, server, params, url, incoming);
      const reply = await answerStream(this.service, route, parts);
      if (incoming !== undefined) await discard(incoming);
      const ended = () => server.timeout(request, SILENT);
      if (isFile(reply.body)) letReadSlowly(request, server);
      else if (!arePieces(reply.body)) ended();
      return this.toStreamResponse(request, reply, ended);
    });
  }

  /**
   * Keeps the pool until the pieces of a reply are made.
   * @param {Request} request
   * @param {() => void} ended
   * @returns {() => void} to be called at the end of the pieces, once or more often
   */
  holdOpen(request, ended) {
    this.inFlight += 1;
    let open = true;
    const close = () => {
      if (!open) return;
      open = false;
      ended();
      this.leave();
    };
    request.signal.addEventListener('abort', close);
    return close;
  }

  /** Counts one thing less that is in flight. */
  leave() {
    this.inFlight -= 1;
    if (this.inFlight === 0) for (const waiter of this.idleWaiters.splice(0)) waiter();
  }

  /**
   * @param {Request} request
   * @param {BunServer} server
   * @param {Record<string, any>} params
   * @param {string} url
   * @param {unknown} body
   * @returns {import('./http/request.mjs').RequestParts}
   */
  partsOf(request, server, params, url, body) {
    return {
      method: request.method,
      url,
      protocol: request.url.startsWith('https:') ? 'https' : 'http',
      ip: ipOf(request, server),
      headers: Object.fromEntries(request.headers),
      params,
      body,
    };
  }

  /**
   * @param {import('./http/service.mjs').Route} route
   * @param {Request} request
   * @param {BunServer} server
   * @param {{params: Record<string, any>, url: string}} found
   * @returns {Promise<Response>}
   */
  async answer(route, request, server, { params, url }) {
    const body = request.body === null ? undefined : await this.readBody(request);
    // The pool has its own limit for how long a handler may take; Bun's is for connections that do nothing.
    server.timeout(request, 0);
    return new Promise((resolve) => {
      const parts = this.partsOf(request, server, params, url, body);
      this.service.answer(route, parts, (reply) => {
        server.timeout(request, SILENT);
        resolve(this.toResponse(reply));
      });
    });
  }

  /** @param {Request} request @returns {Promise<unknown>} */
  async readBody(request) {
    const length = request.headers.get('content-length');
    const incoming = new Incoming(/** @type {ReadableStream<Uint8Array>} */ (request.body));
    try {
      const promised = length === null ? undefined : Number(length);
      const bytes = await readStream(incoming, promised, this.service.bodyLimit);
      return parseBody(request.headers.get('content-type'), bytes);
    } catch (error) {
      await discard(incoming);
      throw error;
    }
  }

  /**
   * Answers a request: the routes first, then the pages, else 404.
   * @param {Request} request
   * @param {BunServer} server
   * @returns {Promise<Response>} never rejects
   */
  async useRoutes(request, server) {
    const url = pathAndQuery(request.url);
    this.inFlight += 1;
    try {
      const response = await this.route(request, server, url);
      await discardUnread(request);
      return response;
    } catch (error) {
      const reply = replyOfError(error);
      if (reply.statusCode >= 500) this.service.pool.log.error(traceOf(error));
      await discardUnread(request);
      return this.refuse('(failed)', request, server, url, reply);
    } finally {
      this.leave();
    }
  }

  /**
   * @param {Request} request
   * @param {BunServer} server
   * @param {string} url path and query
   * @returns {Promise<Response>}
   */
  async route(request, server, url) {
    const { method } = request;
    const refuse = (/** @type {string} */ route, /** @type {Reply} */ reply) =>
      this.refuse(route, request, server, url, reply);
    const refusal = this.service.guard(method, guardedFields(request.headers), url);
    if (refusal !== undefined) return refuse('(refused)', refusal);
    if (this.closing)
      return refuse('(refused)', errorReply(503, 'The server is shutting down', { connection: 'close' }));
    const mark = url.indexOf('?');
    const pathname = mark < 0 ? url : url.slice(0, mark);
    if (!isDecodable(pathname)) return refuse('(refused)', errorReply(400, `Bad path: ${pathname}`));
    const found = this.router.find(method === 'HEAD' ? 'GET' : /** @type {any} */ (method), url);
    if (found !== null) {
      const handler = /** @type {RouteHandler} */ (found.store);
      return handler(request, server, { params: found.params, url });
    }
    if (this.pages !== undefined && (method === 'GET' || method === 'HEAD')) {
      const since = performance.now();
      const page = await this.pages(pathname, {
        'if-none-match': request.headers.get('if-none-match') ?? '',
        'if-modified-since': request.headers.get('if-modified-since') ?? '',
      });
      if (page !== undefined) {
        const asked = { method, url, ip: ipOf(request, server) };
        this.service.note('(pages)', asked, page.fresh ? 304 : 200, since);
        const fields = { ...this.service.headers, ...page.headers };
        if (page.fresh) return new Response(null, { status: 304, headers: fields });
        letReadSlowly(request, server);
        return new Response(Bun.file(page.file), { headers: fields });
      }
    }
    return refuse('(none)', this.service.notFound(url));
  }

  /**
   * Finishes what is in flight and ends the workers; new requests are refused with 503.
   * @returns {Promise<void>}
   */
  async close() {
    this.closing = true;
    this.service.interrupt();
    if (this.inFlight > 0) await new Promise((resolve) => this.idleWaiters.push(() => resolve(undefined)));
    await this.service.close();
  }
}

/** @param {Request} request @param {BunServer} server */
function ipOf(request, server) {
  return server.requestIP(request)?.address ?? '';
}

/** The header fields that the guard looks at. @param {Headers} headers @returns {Record<string, string | undefined>} */
function guardedFields(headers) {
  /** @type {Record<string, string | undefined>} */
  const fields = {};
  for (const name of GUARDED_FIELDS) fields[name] = headers.get(name) ?? undefined;
  return fields;
}

const GUARDED_FIELDS = [
  'host',
  'origin',
  'authorization',
  'cookie',
  'accept',
  'sec-fetch-site',
  'expect',
  'content-encoding',
  'content-type',
];

/** @param {string} pathname */
function isDecodable(pathname) {
  if (!pathname.includes('%')) return true;
  try {
    decodeURI(pathname);
    return true;
  } catch {
    return false;
  }
}
