// Types of `caretdb/fastify`.

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

/** The plugin: `fastify.register(caretdb, options)`. */
export declare const caretdb: FastifyPluginAsync<CaretdbOptions>;
export default caretdb;

/** For Fastify's option `frameworkErrors`: answers a path that cannot be decoded as the other server does. */
export declare function answerBadPath(error: Error, request: FastifyRequest, reply: FastifyReply): void;

declare module 'fastify' {
  interface FastifyInstance {
    /** CaretDB's part of the server: its pool is `caretdb.pool`. */
    caretdb: Service;
  }
}
