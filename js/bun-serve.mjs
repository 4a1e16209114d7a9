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
import { RequestError } from './http/errors.mjs';
import { EVENT_HEADERS, REPLY_HEADERS, SECURITY_HEADERS } from './http/headers.mjs';
import { createPages } from './http/pages.mjs';
import { parseBody } from './http/request.mjs';
import { Service } from './http/service.mjs';
import { errorReply, replyOfError } from './pool/reply.mjs';

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

const JSON_HEADERS = Object.freeze({ ...SECURITY_HEADERS, ...REPLY_HEADERS });

/** @param {Reply} reply @returns {Response} */
function toResponse({ statusCode, headers, body }) {
  /** @type {Record<string, any>} */
  const fields = headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers };
  if (headers === undefined && body !== undefined)
    return new Response(body, { status: statusCode, headers: fields });
  const all = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    if (body === undefined && name === 'content-type') continue;
    for (const one of Array.isArray(value) ? value : [value]) all.append(name, one);
  }
  return new Response(/** @type {any} */ (body), { status: statusCode, headers: all });
}

/**
 * Path and query of a request, as Node.js gives them.
 * @param {string} url absolute
 */
function pathAndQuery(url) {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  return start < 0 ? '/' : url.slice(start);
}

/** @param {AsyncGenerator<string, void, void>} events @returns {ReadableStream<Uint8Array>} */
function toStream(events) {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await events.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await events.return();
    },
  });
}

/** The routes of one Bun.serve. */
export class Router {
  /** @param {import('./http/service.mjs').ServiceOptions} options */
  constructor(options) {
    this.service = new Service(options, 'Bun.serve');
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

  /** @param {import('./http/service.mjs').Route} route */
  addRoute(route) {
    this.on(route.method, route.url, (request, server, found) => this.answer(route, request, server, found));
    if (!route.events) return;
    this.on('GET', `${route.url}/:run/events`, async (request, server, { params }) => {
      const events = await this.service.runs.follow(params.run);
      if (events === undefined) return toResponse(errorReply(404, `No run '${params.run}'`));
      server.timeout(request, 0);
      return new Response(toStream(events), { headers: { ...SECURITY_HEADERS, ...EVENT_HEADERS } });
    });
    this.on('DELETE', `${route.url}/:run`, (_request, _server, { params }) =>
      toResponse(this.service.runs.cancel(params.run)),
    );
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
      const parts = {
        method: request.method,
        url,
        protocol: 'http',
        ip: server.requestIP(request)?.address ?? '',
        headers: Object.fromEntries(request.headers),
        params,
        body,
      };
      this.service.answer(route, parts, (reply) => resolve(toResponse(reply)));
    });
  }

  /**
   * Reads a body, up to the limit.
   * @param {Request} request
   * @returns {Promise<unknown>}
   * @throws {RequestError} 400 or 413
   */
  async readBody(request) {
    const tooLarge = () => new RequestError(413, `The body is larger than ${this.service.bodyLimit} bytes`);
    const length = request.headers.get('content-length');
    if (length !== null && Number(length) > this.service.bodyLimit) throw tooLarge();
    if (length !== null) {
      return parseBody(request.headers.get('content-type'), new Uint8Array(await request.arrayBuffer()));
    }
    const chunks = [];
    let size = 0;
    for await (const chunk of /** @type {any} */ (request.body)) {
      size += chunk.length;
      if (size > this.service.bodyLimit) throw tooLarge();
      chunks.push(chunk);
    }
    return parseBody(request.headers.get('content-type'), Buffer.concat(chunks));
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
      return await this.route(request, server, url);
    } catch (error) {
      const reply = replyOfError(error);
      if (reply.statusCode >= 500)
        this.service.pool.log.error(error instanceof Error ? `${error.stack}` : `${error}`);
      return toResponse(reply);
    } finally {
      this.inFlight -= 1;
      if (this.inFlight === 0) for (const waiter of this.idleWaiters.splice(0)) waiter();
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
    const headers = {
      host: request.headers.get('host') ?? undefined,
      origin: request.headers.get('origin') ?? undefined,
      authorization: request.headers.get('authorization') ?? undefined,
      'sec-fetch-site': request.headers.get('sec-fetch-site') ?? undefined,
    };
    const refusal = this.service.guard(method, headers);
    if (refusal !== undefined) return toResponse(refusal);
    if (this.closing)
      return toResponse(errorReply(503, 'The server is shutting down', { connection: 'close' }));
    const mark = url.indexOf('?');
    const pathname = mark < 0 ? url : url.slice(0, mark);
    if (!isDecodable(pathname)) return toResponse(errorReply(400, `Bad path: ${pathname}`));
    const found = this.router.find(method === 'HEAD' ? 'GET' : /** @type {any} */ (method), url);
    if (found !== null) {
      const handler = /** @type {RouteHandler} */ (found.store);
      return handler(request, server, { params: found.params, url });
    }
    if (this.pages !== undefined && (method === 'GET' || method === 'HEAD')) {
      const page = await this.pages(pathname, {
        'if-none-match': request.headers.get('if-none-match') ?? '',
      });
      if (page !== undefined) {
        const fields = { ...SECURITY_HEADERS, ...page.headers };
        if (page.fresh) return new Response(null, { status: 304, headers: fields });
        return new Response(Bun.file(page.file), { headers: fields });
      }
    }
    return toResponse(this.service.notFound(url));
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
