// Types of `caretdb/bun-serve`.

import type { Service, ServiceOptions } from './servers.mjs';

export type * from './servers.mjs';

/** What the router uses of the server that Bun passes to `fetch`. */
export interface BunServer {
  requestIP(request: Request): { address: string } | null;
  timeout(request: Request, seconds: number): void;
}

export type RouteHandler = (
  request: Request,
  server: BunServer,
  found: { params: Record<string, string>; url: string },
) => Response | Promise<Response>;

/** The routes of one Bun.serve: `Bun.serve({ fetch: router.fetch })`. */
export declare class Router {
  constructor(options: ServiceOptions);
  readonly service: Service;
  readonly fetch: (request: Request, server: BunServer) => Promise<Response>;
  /** The same as `fetch`. */
  useRoutes(request: Request, server: BunServer): Promise<Response>;
  get(url: string, handler: RouteHandler): void;
  post(url: string, handler: RouteHandler): void;
  put(url: string, handler: RouteHandler): void;
  patch(url: string, handler: RouteHandler): void;
  delete(url: string, handler: RouteHandler): void;
  /** Serves the files of a folder for the paths that no route has. */
  static(folder: string): void;
  /** Finishes what is in flight and ends the workers; new requests are refused with 503. */
  close(): Promise<void>;
}

/** The routes of documents and attachments, for `workerHandlersByRoute`. Limits are in bytes: 64 MiB and 4 GiB by default. */
export function documentRoutes(limits?: {
  batchLimit?: number;
  attachmentLimit?: number;
}): import('./servers.mjs').RouteOptions[];
