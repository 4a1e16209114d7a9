// Types of `caretdb/fastify`.

import type { Socket } from 'node:net';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { Service, ServiceOptions } from './servers.mjs';

export type * from './servers.mjs';

export interface CaretdbOptions extends ServiceOptions {
  /**
   * The checks of Host, Origin and token, the header fields, and the replies for unknown paths and errors hold for the
   * whole server, instead of for the routes of these options only. Default false.
   */
  wholeServer?: boolean;
}

/**
 * The plugin: `fastify.register(caretdb, options)`. It lifts the server's `maxHeadersCount`, behind which Node.js drops header
 * fields that the checks must see; their size in all stays limited.
 */
export declare const caretdb: FastifyPluginAsync<CaretdbOptions>;
export default caretdb;

/** For Fastify's option `rewriteUrl`: follows the segments `.` and `..` of a path before anything looks at it. */
export declare function followDots(request: { url?: string }): string;

/** For Fastify's option `frameworkErrors`: answers a path that cannot be decoded, or is too long, as the other server does. */
export declare function answerBadPath(
  error: Error & { code?: string },
  request: FastifyRequest,
  reply: FastifyReply,
): void;

/** For Fastify's option `clientErrorHandler`: answers what is no valid HTTP in the form of all other errors. */
export declare function answerBadRequest(error: Error, socket: Socket): void;

declare module 'fastify' {
  interface FastifyInstance {
    /** CaretDB's part of the server: its pool is `caretdb.pool`. */
    caretdb: Service;
  }
}

/** The routes of documents and attachments, for `workerHandlersByRoute`. Limits are in bytes: 64 MiB and 4 GiB by default. */
export function documentRoutes(limits?: {
  batchLimit?: number;
  attachmentLimit?: number;
}): import('./servers.mjs').RouteOptions[];
