// Types that both servers share: their options, routes and replies, and the pool.

import type { glsDB, mclass, mcursor, mglobal, OpenOptions, server } from 'caretdb';

/** What a handler gets. */
export interface Message {
  type: string;
  data: {
    method: string;
    /** Path and query. */
    url: string;
    /** The route as it was configured. */
    routerPath: string;
    hostname: string;
    protocol: string;
    ip: string;
    params: Record<string, string>;
    query: Record<string, string | string[]>;
    headers: Record<string, string | string[] | undefined>;
    cookies: Record<string, string>;
    /** What JSON says, an object for a form, a string for text, bytes for anything else. */
    body?: unknown;
  };
}

/** What a handler finds in `this`, and as its second argument where it is a default export. */
export interface HandlerContext {
  /** The worker's number. */
  readonly id: number;
  readonly serverName: string;
  /** A glsDB on the store. */
  readonly glsdb: glsDB;
  /** The connection, a `server` of the mg-dbx face. */
  readonly db: server;
  readonly mgdbx: {
    db: server;
    server: typeof server;
    mglobal: typeof mglobal;
    mcursor: typeof mcursor;
    mclass: typeof mclass;
  };
  /** An `mglobal` for a global name and fixed subscripts. */
  use(name: string, ...subscripts: (string | number)[]): mglobal;
  /** Tells how far a long run is. */
  progress(data: unknown): void;
  /** Aborted when nobody wants the result any more. */
  readonly signal: AbortSignal;
  /** A line on the console, where logging is on. */
  log(text: string): void;
  on(name: string, listener: (...values: never[]) => void): void;
  off(name: string, listener: (...values: never[]) => void): void;
  emit(name: string, ...values: unknown[]): boolean;
}

export type Handler = (
  this: HandlerContext,
  message: Message,
  finished: (reply?: unknown) => void,
) => unknown;
export type DefaultHandler = (this: HandlerContext, request: Message, context: HandlerContext) => unknown;

/** A reply that is ready to be sent. */
export interface Reply {
  statusCode: number;
  headers: Record<string, string | string[]> | undefined;
  /** JSON text, bytes, or nothing. */
  body: string | Uint8Array | undefined;
}

/** A reply whose body may be a stretch of a file, or pieces that are made while they are sent. */
export interface StreamReply {
  statusCode: number;
  headers: Record<string, string | string[]> | undefined;
  body:
    | string
    | Uint8Array
    | { file: string; start: number; length: number }
    | AsyncIterable<string | Uint8Array>
    | undefined;
}

export type Stream = (
  data: Message['data'] & { body: AsyncIterable<Uint8Array> | undefined },
  context: {
    /** Runs the route's handler in a worker, with this as `messageObj.data`. */
    ask(data: Record<string, unknown>): Promise<Reply>;
    service: Service;
  },
) => Promise<StreamReply>;

export interface RouteOptions {
  method: string;
  /** With parameters as in `/user/:id`. */
  url: string;
  /** The handler module: a file URL, or a path, relative to the working folder. */
  handlerPath?: string;
  /** What the OpenAPI document says of it. */
  openapi?: {
    summary: string;
    tag: string;
    /** JSON schemas of the body by media type. */
    bodies?: Record<string, object>;
    /** JSON schemas of header fields by name. */
    headers?: Record<string, object>;
    /** What a status means. */
    replies?: Record<string, string>;
  };
  /**
   * With `handlerPath`: reads the body as it comes and makes the reply in the main thread, asking the handler for what needs the
   * store. For bodies that are too large to be held.
   */
  stream?: Stream;
  /** In place of `handlerPath`: answers in the main thread. */
  mainHandler?: (message: Message) => unknown;
  /** Long runs, with `GET <url>/:run/events` and `DELETE <url>/:run`. */
  events?: boolean;
  /** JSON schemas (draft 7) of the parts of a request. */
  schema?: { params?: object; query?: object; body?: object };
  /** The error text for a request that the schema refuses, in place of what is wrong with it. */
  invalid?: string;
}

export interface ServiceOptions {
  /** Where handlers run; default `'threads'`. `'child_process'` means `'processes'`. */
  mode?: 'threads' | 'processes' | 'child_process';
  /** True: the console shows the pool at work; 'json': a line of JSON for each request. Default false. */
  logging?: boolean | 'json';
  /** How many workers at most; default 2. */
  poolSize?: number;
  workerHandlersByRoute: RouteOptions[];
  /** A module that runs in each new worker. */
  onStartup?: { module: string; arguments?: unknown };
  /** Milliseconds that a handler may take from its start; default 60,000; 0 for no limit. */
  handlerTimeout?: number;
  /** How many requests may wait for a worker; default 10,000. */
  maxQueue?: number;
  /** What workers open the store with: `{path, engine, durability, …}`. */
  store?: OpenOptions;
  /** The same, for programs that have it so. */
  mgdbx?: { open?: Record<string, unknown> };
  /** Bytes of a body; default 1 MiB. */
  bodyLimit?: number;
  /** Names that the Host header may have, besides those of the loopback. */
  allowedHosts?: string[];
  /** A token that each request must bring. */
  token?: string;
  /** Where handler modules must be: one outside of it is refused. Relative paths are relative to it. */
  handlersFolder?: string;
  /** Adds GET /health and GET /metrics, and with a token /login and /logout. Default false. */
  operations?: boolean;
  /** Whether browsers reach the server by https: adds HSTS, and makes cookies secure. Default false. */
  secure?: boolean;
  /** A folder of static files, for the paths that no route has. */
  pages?: string;
}

export interface RunOptions {
  onProgress?: (progress: unknown) => void;
  signal?: AbortSignal;
  /** Milliseconds from the start of the handler, in place of `handlerTimeout`; Infinity for a long run. */
  timeout?: number;
}

export interface WorkerPool {
  /** Runs the handler that `type` names. Never rejects: a failure is a reply with status 500, a timeout 504. */
  run(message: { type: string; data?: unknown }, options?: RunOptions): Promise<Reply>;
  /** How many requests are waiting or running. */
  readonly pending: number;
  readonly figures: {
    /** Requests that wait for a worker. */
    waiting: number;
    /** Requests that workers hold or run. */
    running: number;
    workers: { starting: number; idle: number; busy: number; stopping: number };
    /** How many workers were started, and how many ended before their time, since the pool was made. */
    started: number;
    ended: number;
    /** How many requests were refused because the queue was full. */
    refused: number;
  };
  close(): Promise<void>;
}

/** One server's routes and pool. */
export interface Service {
  readonly pool: WorkerPool;
  close(): Promise<void>;
}
