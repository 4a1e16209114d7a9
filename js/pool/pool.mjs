// The worker pool: runs handlers in threads or child processes, so that a slow, hanging or broken one costs its own request and
// nothing else. Workers are started when they are needed, up to the pool's size, and replaced when they die.
//
// A worker runs one request at a time. Under load some more wait in the worker's own queue, which saves a round trip between
// any two; they are taken back when the worker turns out to be slow.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createLog, inline, shownBody } from './log.mjs';
import { errorReply } from './reply.mjs';
import { Seat } from './seat.mjs';
import { Starts } from './starts.mjs';

/** How many requests a worker holds at most, the running one included. */
const DEPTH = 16;

/** After this many milliseconds of one request, those behind it go elsewhere. */
const BUSY = 50;

/** How often the pool looks at its workers, in milliseconds, while something is in flight. */
const LOOK = 20;

/** How long a cancelled run may take to notice, in milliseconds, before its worker is ended. */
const CANCEL_GRACE = 5000;

/** How long a worker may take to start, in milliseconds. */
const START_LIMIT = 60_000;

/** How long stopping workers are waited for, in milliseconds. */
const STOP_LIMIT = 10_000;

/**
 * @typedef {object} PoolOptions
 * @property {'threads' | 'processes' | 'child_process'} [mode] where handlers run: worker threads (the default) or child
 *   processes, in which even a native crash costs one request only; `'child_process'` is another word for the latter
 * @property {number} [poolSize] how many workers at most; default 2
 * @property {boolean} [logging] whether each step is printed on the console; default false
 * @property {Record<string, string>} handlers handler module by message type: a file URL, or a path, relative to the working folder
 * @property {{module: string, arguments?: unknown}} [onStartup] a module that runs in each new worker before its first
 *   request: it exports `onStartupModule`, a function that gets `arguments` and the handlers' context as `this`
 * @property {number} [handlerTimeout] milliseconds that a handler may take, from its start; default 60,000; 0 or Infinity for no limit
 * @property {number} [maxQueue] how many requests may wait for a worker before the next is refused with 503; default 10,000
 * @property {Record<string, unknown>} [store] what each worker opens its store with: `{path, engine, durability, …}`
 * @property {string} [serverName] what handlers find in `this.serverName`
 * @property {import('./log.mjs').Log} [log] where the lines go; default: made from `logging`
 *
 * @typedef {object} RunOptions
 * @property {(progress: unknown) => void} [onProgress] called with what the handler gives to `this.progress()`
 * @property {AbortSignal} [signal] aborts `this.signal` of the handler; a run that has not started is not started
 * @property {number} [timeout] milliseconds from its start, in place of the pool's; Infinity makes it a long run, which may keep
 *   its worker busy: at most all workers but one are given to long runs at a time, where there is more than one
 */

/**
 * Where a module of the options is.
 * @param {string} module a file URL, or a path, relative to the working folder
 * @returns {string} a file URL
 */
export function toFileUrl(module) {
  return module.startsWith('file:') ? module : pathToFileURL(resolve(module)).href;
}

/** @param {unknown} value @param {string} name @returns {number} @throws {RangeError} */
export function wholeNumber(value, name) {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1)
    throw new RangeError(`${name} must be a whole number of at least 1, not ${value}`);
  return number;
}

/** @param {number} [timeout] milliseconds, 0 for no limit @returns {number} @throws {RangeError} */
function checkedTimeout(timeout = 60_000) {
  if (timeout === 0 || timeout === Infinity) return Infinity;
  if (timeout > 0) return Number(timeout);
  throw new RangeError(`handlerTimeout must be a number of milliseconds, or 0 for no limit, not ${timeout}`);
}

/** @param {PoolOptions['mode']} mode @returns {'threads' | 'processes'} */
function checkedMode(mode = 'threads') {
  if (mode === 'threads' || mode === 'processes') return mode;
  if (mode === 'child_process') return 'processes';
  throw new RangeError(`mode must be 'threads' or 'processes', not '${mode}'`);
}

/**
 * A pool of workers.
 *
 * @example
 * const pool = new WorkerPool({ handlers: { hello: './hello.mjs' } });
 * const reply = await pool.run({ type: 'hello', data: {} });  // {statusCode: 200, body: '{"hello":"world"}', …}
 * await pool.close();
 */
export class WorkerPool {
  /** @param {PoolOptions} options */
  constructor(options) {
    this.mode = checkedMode(options.mode);
    this.size = wholeNumber(options.poolSize ?? 2, 'poolSize');
    this.log = options.log ?? createLog(options.logging === true);
    this.timeout = checkedTimeout(options.handlerTimeout);
    this.maxQueue = wholeNumber(options.maxQueue ?? 10_000, 'maxQueue');
    this.start = {
      logging: this.log.enabled,
      serverName: options.serverName ?? '',
      handlers: Object.fromEntries(
        Object.entries(options.handlers).map(([type, path]) => [type, toFileUrl(path)]),
      ),
      store: options.store ?? {},
      onStartup: options.onStartup && { ...options.onStartup, module: toFileUrl(options.onStartup.module) },
    };
    /** @type {import('./seat.mjs').Job[]} */
    this.queue = [];
    /** @type {Set<Seat>} */
    this.seats = new Set();
    this.starts = new Starts();
    this.nextId = 0;
    /** How many workers ended before their time, and how many requests found the queue full. */
    this.ended = 0;
    this.refused = 0;
    this.closing = false;
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
    /** Where processes share their ledgers with the pool. @type {string | undefined} */
    this.folder = undefined;
    /** @type {(() => void)[]} */
    this.idleWaiters = [];
    /** @type {import('./seat.mjs').SeatEvents} */
    this.events = {
      onReady: (seat, pid) => this.seatReady(seat, pid),
      onFailed: (seat, reason) => this.seatFailed(seat, reason),
      onReply: (seat, job, reply) => this.replied(seat, job, reply),
      onReplies: () => this.goOn(),
      onHandedBack: (_seat, jobs) => this.requeue(jobs),
      onDead: (seat) => this.seatDied(seat),
      onLog: (text) => this.log.line(text),
      onFault: (text) => this.log.error(text),
    };
  }

  /** How many requests are in the pool, waiting or running. */
  get pending() {
    let count = this.queue.length;
    for (const seat of this.seats) count += seat.load;
    return count;
  }

  /** What is to be known of the pool from outside. */
  get figures() {
    const workers = { starting: 0, idle: 0, busy: 0, stopping: 0 };
    let running = 0;
    for (const seat of this.seats) {
      running += seat.load;
      if (seat.state === 'ready') workers[seat.load === 0 ? 'idle' : 'busy'] += 1;
      else if (seat.state !== 'dead') workers[seat.state] += 1;
    }
    const { nextId: started, ended, refused } = this;
    return { waiting: this.queue.length, running, workers, started, ended, refused };
  }

  /**
   * Runs a handler.
   * @param {{type: string, data?: any}} message `type` names the handler; the message is what it gets
   * @param {RunOptions} [options]
   * @returns {Promise<import('./reply.mjs').Reply>} never rejects: a handler's failure is a reply with status 500, a
   *   timeout 504, a full queue 503
   */
  run(message, options = {}) {
    return new Promise((settle) => this.submit(message, options, settle));
  }

  /**
   * `run` without a promise, for the servers.
   * @param {{type: string, data?: any}} message
   * @param {RunOptions} options
   * @param {(reply: import('./reply.mjs').Reply) => void} settle
   */
  submit(message, options, settle) {
    if (this.closing) return settle(errorReply(503, 'The server is shutting down', { connection: 'close' }));
    if (this.queue.length >= this.maxQueue) {
      this.refused += 1;
      return settle(errorReply(503, 'Too many requests are waiting', { 'retry-after': '1' }));
    }
    const body = message.data?.body;
    const bytes = body instanceof Uint8Array ? body : undefined;
    const timeout = options.timeout ?? this.timeout;
    /** @type {import('./seat.mjs').Job} */
    const job = {
      json: JSON.stringify(
        bytes === undefined ? message : { ...message, data: { ...message.data, body: undefined } },
      ),
      bytes,
      timeout,
      long: options.timeout === Infinity,
      settle,
      onProgress: options.onProgress,
      seat: undefined,
      sequence: 0,
      cancelled: false,
      settled: false,
      cancelledAt: 0,
    };
    if (options.signal !== undefined) {
      if (options.signal.aborted) return settle(errorReply(409, 'Cancelled before it started'));
      options.signal.addEventListener('abort', () => this.cancel(job), { once: true });
    }
    this.queue.push(job);
    this.dispatch();
  }

  /** Gives waiting requests to workers, starting workers as needed. */
  dispatch() {
    if (this.queue.length === 0) return;
    if (this.log.enabled) this.log.line(`try processing queue: length ${this.queue.length}`);
    this.watch();
    this.startWorkers();
    for (let index = 0; index < this.queue.length; ) {
      const job = this.queue[index];
      const seat = job.long ? this.seatForLongRun() : this.seatForRequest();
      if (seat === undefined) {
        if (!job.long) break;
        index += 1;
        continue;
      }
      if (this.log.enabled) {
        this.log.line(
          `worker ${seat.id} was ${seat.load === 0 ? 'available' : 'chosen, with requests waiting'}. Sending message to it`,
        );
      }
      this.queue.splice(index, 1);
      seat.send(job);
    }
  }

  /** Starts as many workers as the queue can use, within the pool's size. */
  startWorkers() {
    let idle = 0;
    let starting = 0;
    for (const seat of this.seats) {
      if (seat.state === 'starting') starting += 1;
      else if (seat.state === 'ready' && seat.load === 0 && seat.withdrawn.size === 0) idle += 1;
    }
    if (idle === 0) this.log.line('no available workers');
    const now = performance.now();
    while (idle + starting < this.queue.length && this.seats.size < this.size && this.starts.allowed(now)) {
      this.log.line('starting new worker');
      this.addSeat();
      starting += 1;
    }
  }

  addSeat() {
    const id = this.nextId;
    this.nextId += 1;
    try {
      this.seats.add(new Seat(this.start, id, this.mode, this.ledgerPath(id), this.events));
    } catch (error) {
      // Nothing that this system lacks for a moment (a file, a place for it) may end the server.
      this.log.error(`worker ${id} could not start: ${/** @type {any} */ (error)?.stack ?? error}`);
      this.startFailed();
    }
  }

  /** @param {number} id @returns {string | undefined} */
  ledgerPath(id) {
    if (this.mode === 'threads') return undefined;
    // Systems clean their folder of temporary files: after some days it may be gone.
    if (this.folder === undefined || !existsSync(this.folder))
      this.folder = mkdtempSync(join(tmpdir(), 'caretdb-pool-'));
    return join(this.folder, `worker-${id}`);
  }

  /** A worker is gone that had not started a request. Its replacement is for `dispatch`, now or after a pause. */
  startFailed() {
    this.starts.failed(performance.now());
    if (!this.starts.hopeless) return;
    for (const seat of this.seats) if (seat.state === 'ready' || seat.state === 'starting') return;
    for (const job of this.queue.splice(0))
      this.settle(job, errorReply(500, "No worker could start; the server's log says why"));
  }

  /** @returns {Seat | undefined} the least busy worker that may take one more */
  seatForRequest() {
    /** @type {Seat | undefined} */
    let best;
    for (const seat of this.seats) {
      if (seat.state !== 'ready' || seat.withdrawn.size > 0 || seat.load >= DEPTH) continue;
      if (seat.load === 0) return seat;
      if (best !== undefined && seat.load >= best.load) continue;
      if (seat.hasLongRun || seat.observe(performance.now()).busyFor > BUSY) continue;
      best = seat;
    }
    return best;
  }

  /** @returns {Seat | undefined} an idle worker, unless long runs have their share already */
  seatForLongRun() {
    let long = 0;
    /** @type {Seat | undefined} */
    let idle;
    for (const seat of this.seats) {
      if (seat.hasLongRun) long += 1;
      else if (seat.state === 'ready' && seat.load === 0 && seat.withdrawn.size === 0) idle = seat;
    }
    return long < Math.max(1, this.size - 1) ? idle : undefined;
  }

  /** Puts requests back where they came from: at the head of the queue. @param {import('./seat.mjs').Job[]} jobs */
  requeue(jobs) {
    this.putBack(jobs);
    this.dispatch();
  }

  /** @param {import('./seat.mjs').Job[]} jobs */
  putBack(jobs) {
    for (const job of jobs) job.seat = undefined;
    const [dropped, wanted] = [jobs.filter((job) => job.cancelled), jobs.filter((job) => !job.cancelled)];
    for (const job of dropped) this.settle(job, errorReply(409, 'Cancelled before it started'));
    this.queue.unshift(...wanted);
  }

  /** @param {import('./seat.mjs').Job} job @param {import('./reply.mjs').Reply} reply */
  settle(job, reply) {
    if (job.settled) return;
    job.settled = true;
    job.settle(reply);
  }

  /** @param {import('./seat.mjs').Job} job */
  cancel(job) {
    if (job.settled || job.cancelled) return;
    job.cancelled = true;
    job.cancelledAt = performance.now();
    const index = this.queue.indexOf(job);
    if (index >= 0) {
      this.queue.splice(index, 1);
      this.settle(job, errorReply(409, 'Cancelled before it started'));
      this.becameIdle();
    } else {
      job.seat?.cancel(job);
    }
  }

  /** @param {Seat} seat @param {number} pid */
  seatReady(seat, pid) {
    this.log.line(`response received from Worker: ${seat.id}`);
    if (this.log.enabled) this.log.line(inline({ pid }));
    if (this.closing && this.queue.length === 0) return this.becameIdle();
    this.dispatch();
  }

  /** @param {Seat} seat @param {string} reason */
  seatFailed(seat, reason) {
    this.log.error(`worker ${seat.id} could not start: ${reason}`);
    seat.kill('start');
  }

  /** @param {Seat} seat @param {import('./seat.mjs').Job | undefined} job @param {import('./reply.mjs').Reply} reply */
  replied(seat, job, reply) {
    if (this.log.enabled) {
      this.log.line(`response received from Worker: ${seat.id}`);
      this.log.line(shownBody(reply));
    }
    this.starts.succeeded();
    if (job !== undefined) this.settle(job, reply);
  }

  /** After replies: workers have room for more. */
  goOn() {
    if (this.queue.length > 0) return this.dispatch();
    this.log.line('Queue empty');
    this.becameIdle();
  }

  /** @param {Seat} seat */
  seatDied(seat) {
    this.seats.delete(seat);
    if (!this.closing) this.ended += 1;
    if (seat.killed !== undefined)
      this.log.error(`worker ${seat.id} was ended by the pool (${seat.killed.reason})`);
    else if (!this.closing) this.log.error(`worker ${seat.id} ended by itself`);
    const { started, waiting } = seat.leftovers();
    for (const job of started) this.settle(job, this.deathReply(seat, job));
    // Those that it had not started wait for another one, like those that no worker had yet.
    this.putBack(waiting);
    if (!seat.hasStarted) this.startFailed();
    this.dispatch();
    this.becameIdle();
  }

  /** @param {Seat} seat @param {import('./seat.mjs').Job} job */
  deathReply(seat, job) {
    if (seat.killed?.job === job && seat.killed.reason === 'timeout') {
      return errorReply(504, `The handler did not finish within ${job.timeout / 1000} seconds`);
    }
    if (seat.killed?.job === job && seat.killed.reason === 'cancelled') return errorReply(409, 'Cancelled');
    return errorReply(500, 'The worker of this request ended before it was answered');
  }

  /** Looks after the workers while something is in flight. */
  watch() {
    this.timer ??= setInterval(() => this.look(), LOOK);
  }

  look() {
    const now = performance.now();
    let busy = false;
    for (const seat of [...this.seats]) {
      seat.readReplies();
      this.lookAt(seat, now);
      busy ||= seat.withdrawn.size > 0;
    }
    if (this.starts.resumes(now)) this.dispatch();
    if (this.pending === 0 && !busy) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
  }

  /** @param {Seat} seat @param {number} now */
  lookAt(seat, now) {
    if (seat.state === 'starting') {
      if (now - seat.since <= START_LIMIT) return;
      this.starts.giveUp();
      return this.seatFailed(seat, `not ready after ${START_LIMIT / 1000} seconds`);
    }
    if (seat.state === 'stopping') return;
    if (seat.load === 0) {
      // All was taken back, and nothing runs that could explain why the worker does not hand it back: it is stuck.
      if (seat.withdrawn.size > 0 && now - seat.withdrawnAt > this.timeout) seat.kill('timeout');
      return;
    }
    const { job, busyFor } = seat.observe(now);
    if (job?.cancelled && now - job.cancelledAt > CANCEL_GRACE) return seat.kill('cancelled', job);
    if (busyFor > (job?.timeout ?? this.timeout)) {
      // Once more before the end: the reply may be here already, behind a pause of this thread.
      if (seat.overdue) return seat.kill('timeout', job);
      seat.overdue = true;
    }
    if (busyFor > BUSY && seat.load > (job === undefined ? 0 : 1)) {
      const jobs = seat.withdraw();
      if (jobs.length > 0) this.requeue(jobs);
    }
  }

  /** Tells those who wait for the pool to have nothing left. */
  becameIdle() {
    if (this.pending > 0) return;
    for (const waiter of this.idleWaiters.splice(0)) waiter();
  }

  /**
   * Finishes what is in the pool, then ends its workers; each closes its store.
   * @returns {Promise<void>}
   */
  async close() {
    if (this.closing) return;
    this.closing = true;
    if (this.pending > 0) await new Promise((resolve) => this.idleWaiters.push(() => resolve(undefined)));
    clearInterval(this.timer);
    const seats = [...this.seats];
    for (const seat of seats) seat.stop();
    const limit = setTimeout(() => {
      for (const seat of seats) seat.kill('closing');
    }, STOP_LIMIT);
    await Promise.all(seats.map((seat) => seat.ended));
    clearTimeout(limit);
    if (this.folder !== undefined) rmSync(this.folder, { recursive: true, force: true });
  }
}
