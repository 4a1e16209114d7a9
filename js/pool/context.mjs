// What a handler finds in `this` (and as the second argument of a default export): the worker's number, the store, and the
// progress and cancelling of its own run. The store is opened when a handler first reaches for it, once per worker.

import { EventEmitter } from 'node:events';

/** `use()` keeps this many globals ready; a program that names more starts again from none. */
const KEPT_GLOBALS = 1000;

/** The store of one worker, open or not yet. */
export class WorkerStore {
  /** @type {Promise<void> | undefined} */
  #flush;
  /** @type {Promise<void> | undefined} */
  #nextFlush;

  /** @param {Record<string, unknown>} options what `open` is given, `path` included */
  constructor(options) {
    this.options = options;
    /** Whether the current request has touched the store. */
    this.touched = false;
    /** @type {any} */
    this.opened = undefined;
    /** @type {Map<string, any>} */
    this.globals = new Map();
    /** @type {{addon: any, documents: any} | undefined} */
    this.modules = undefined;
  }

  /**
   * Loads the database code. It is apart from opening, because a handler reaches for the store synchronously.
   * @returns {Promise<void>}
   */
  async load() {
    try {
      this.modules = { addon: await import('../mg-dbx.mjs'), documents: await import('../glsdb.mjs') };
    } catch (error) {
      // Handlers that need no store still work; the others get this error when they reach for it.
      this.loadError = error;
    }
  }

  /** @returns {{glsdb: any, db: any, mgdbx: any}} */
  open() {
    this.touched = true;
    if (this.opened !== undefined) return this.opened;
    if (this.modules === undefined) throw this.loadError;
    const { server, mglobal, mcursor, mclass } = this.modules.addon;
    const db = new server();
    db.open({ type: 'CaretDB', ...this.options });
    const mgdbx = { db, server, mglobal, mcursor, mclass };
    // glsDB works on the same connection, so that a transaction holds whichever way a handler writes.
    const glsdb = new this.modules.documents.glsDB({ db, mglobal, mcursor, mclass });
    this.opened = { glsdb, db, mgdbx };
    return this.opened;
  }

  /**
   * @param {string} name
   * @param {unknown[]} subscripts
   * @returns {any} an mglobal, the same one for the same arguments
   */
  global(name, subscripts) {
    const { mgdbx } = this.open();
    const key = subscripts.length === 0 ? name : JSON.stringify([name, ...subscripts]);
    let found = this.globals.get(key);
    if (found === undefined) {
      if (this.globals.size >= KEPT_GLOBALS) this.globals.clear();
      found = new mgdbx.mglobal(mgdbx.db, name, ...subscripts);
      this.globals.set(key, found);
    }
    return found;
  }

  /**
   * Ends what a handler may have left open, so that the next request starts from a clean connection.
   * @returns {{rolledBack: boolean, durable: Promise<void> | undefined}} whether a transaction had to be rolled back, and on a
   *   strict store a promise that settles when all the handler wrote is on the disk
   */
  settle() {
    const db = this.opened?.db;
    if (!this.touched || db === undefined) return { rolledBack: false, durable: undefined };
    this.touched = false;
    const rolledBack = Number(db.tlevel()) > 0;
    while (Number(db.tlevel()) > 0) db.trollback();
    db.unlockAll();
    return { rolledBack, durable: db.durability() === 'strict' ? this.#durable(db) : undefined };
  }

  /**
   * One flush is under way at most; whoever comes meanwhile shares the next one, which begins when this one ends.
   *
   * @param {any} db
   * @returns {Promise<void>}
   */
  #durable(db) {
    if (this.#flush === undefined) {
      const ended = () => {
        this.#flush = undefined;
      };
      this.#flush = db.syncLater();
      this.#flush?.then(ended, ended);
      return /** @type {Promise<void>} */ (this.#flush);
    }
    if (this.#nextFlush === undefined) {
      const begin = () => {
        this.#nextFlush = undefined;
        return this.#durable(db);
      };
      this.#nextFlush = this.#flush.then(begin, begin);
    }
    return this.#nextFlush;
  }

  close() {
    if (this.opened === undefined) return;
    const { db } = this.opened;
    this.opened = undefined;
    this.globals.clear();
    db.close();
  }
}

/**
 * The part of the context that lives as long as the worker. A start-up module gets it as `this` and may add to it; what it
 * adds, handlers find in their own `this`.
 */
export class WorkerContext {
  /**
   * @param {number} id the worker's number
   * @param {string} serverName
   * @param {Record<string, unknown>} storeOptions
   * @param {(text: string) => void} log
   */
  constructor(id, serverName, storeOptions, log) {
    /** The worker's number, 0 for the first. */
    this.id = id;
    /** The server that the worker works for: 'Fastify' or 'Bun.serve'. */
    this.serverName = serverName;
    /** Prints a line on the server's console, where logging is on. */
    this.log = log;
    const store = new WorkerStore(storeOptions);
    const events = new EventEmitter();
    Object.defineProperty(this, 'store', { value: store });
    /** An mglobal for a global name and fixed subscripts: `this.use('Person', 'data')`. */
    this.use = (/** @type {string} */ name, /** @type {unknown[]} */ ...subscripts) =>
      store.global(name, subscripts);
    /** `this.on('stop', fn)`: called before the worker ends in an orderly way. */
    this.on = (/** @type {string} */ name, /** @type {(...args: any[]) => void} */ listener) =>
      void events.on(name, listener);
    this.off = (/** @type {string} */ name, /** @type {(...args: any[]) => void} */ listener) =>
      void events.off(name, listener);
    this.emit = (/** @type {string} */ name, /** @type {unknown[]} */ ...values) =>
      events.emit(name, ...values);
    Object.defineProperties(this, {
      glsdb: { get: () => store.open().glsdb, configurable: true },
      db: { get: () => store.open().db, configurable: true },
      mgdbx: { get: () => store.open().mgdbx, configurable: true },
    });
  }
}

/** How often a handler's progress leaves the worker at most, in milliseconds. */
const PROGRESS_INTERVAL = 50;

/** The progress and the cancelling of one request's run. */
export class Run {
  /** @param {(progress: unknown) => void} send */
  constructor(send) {
    this.send = send;
    this.cancelled = false;
    /** Whether any progress was sent. */
    this.told = false;
    this.sentAt = -Infinity;
    /** @type {any} */
    this.latest = undefined;
    /** @type {unknown} */
    this.phase = undefined;
    /** @type {AbortController | undefined} */
    this.controller = undefined;
  }

  /** The run's AbortSignal; made when first asked for, since most requests never do. */
  get signal() {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.cancelled) this.controller.abort();
    }
    return this.controller.signal;
  }

  cancel() {
    this.cancelled = true;
    this.controller?.abort();
  }

  /**
   * Reports how far the run is. A new `phase` is reported at once, the rest at most every PROGRESS_INTERVAL, so a
   * handler may call this after every step.
   * @param {any} progress any JSON value, such as `{phase, done, total}`
   */
  report(progress) {
    const now = performance.now();
    this.latest = { progress };
    if (progress?.phase === this.phase && now - this.sentAt < PROGRESS_INTERVAL) return;
    this.phase = progress?.phase;
    this.sentAt = now;
    this.flush();
  }

  /** Sends the last report if it was held back. */
  flush() {
    if (this.latest === undefined) return;
    const { progress } = this.latest;
    this.latest = undefined;
    this.told = true;
    this.send(progress);
  }
}

/**
 * Makes the class of the `this` of requests: the worker's context with the run's own `progress` and `signal`.
 * @param {WorkerContext} context
 * @returns {new (run: Run) => any}
 */
export function contextClass(context) {
  class RequestContext {
    #run;

    /** @param {Run} run */
    constructor(run) {
      this.#run = run;
      this.progress = (/** @type {unknown} */ progress) => run.report(progress);
    }

    get signal() {
      return this.#run.signal;
    }
  }
  Object.setPrototypeOf(RequestContext.prototype, context);
  return RequestContext;
}
