// One worker as the pool sees it: what was sent to it, what it has started, what was taken back, and how it ends.

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { fileURLToPath } from 'node:url';
import { Tinypool } from 'tinypool';
import { atOrAfter, createLedger } from './ledger.mjs';
import { APART, BELL, createLink, INLINE, packBytes, readReply, unpackBytes } from './link.mjs';

/** How long the replies of a process that ended may still arrive, in milliseconds. */
const LAST_WORDS = 20;

/**
 * @typedef {object} Job one request on its way through the pool
 * @property {string} json the message
 * @property {Uint8Array | undefined} bytes its body, where that is bytes
 * @property {number} timeout milliseconds from the start of its handler, or Infinity
 * @property {boolean} long a run of its own, which nothing is queued behind
 * @property {(reply: import('./reply.mjs').Reply) => void} settle
 * @property {((progress: unknown) => void) | undefined} onProgress
 * @property {Seat | undefined} seat where it is
 * @property {number} sequence its number there
 * @property {boolean} cancelled
 * @property {boolean} settled
 * @property {number} cancelledAt
 *
 * @typedef {object} SeatEvents what the pool is told
 * @property {(seat: Seat, pid: number) => void} onReady
 * @property {(seat: Seat, reason: string) => void} onFailed it could not start
 * @property {(seat: Seat, job: Job | undefined, reply: import('./reply.mjs').Reply) => void} onReply
 * @property {() => void} onReplies after one reply or several, of one turn
 * @property {(seat: Seat, jobs: Job[]) => void} onHandedBack jobs that are the pool's again
 * @property {(seat: Seat) => void} onDead
 * @property {(text: string) => void} onLog
 * @property {(text: string) => void} onFault
 */

/**
 * Where the system has no room for a process, Node.js says so with an event of a process that tinypool has given up by then; an event
 * that nobody hears would end the server.
 * @param {unknown} message what Node.js tells of each new process
 */
function hearErrors(message) {
  /** @type {{process: import('node:child_process').ChildProcess}} */ (message).process.on('error', () => {});
}

/** A worker of the pool. */
export class Seat {
  /**
   * Starts a worker.
   * @param {object} start what every worker is told (see worker.mjs)
   * @param {number} id
   * @param {'threads' | 'processes'} mode
   * @param {string | undefined} ledgerPath
   * @param {SeatEvents} events
   */
  constructor(start, id, mode, ledgerPath, events) {
    this.id = id;
    this.mode = mode;
    this.events = events;
    /** @type {'starting' | 'ready' | 'stopping' | 'dead'} */
    this.state = 'starting';
    this.since = performance.now();
    /** Sent and not answered, in order. @type {Map<number, Job>} */
    this.inFlight = new Map();
    /** Taken back, but not yet handed back by the worker. @type {Set<number>} */
    this.withdrawn = new Set();
    /** What the next message to a process is made of. @type {[number, string, unknown?][]} */
    this.outbox = [];
    /** Whether the worker is told at the end of this turn that there is something. */
    this.flushing = false;
    this.sequence = 0;
    this.seenStarted = 0;
    this.seenAt = 0;
    this.withdrawnAt = 0;
    this.overdue = false;
    /** The request that the pool killed it for, and why. @type {{job: Job | undefined, reason: string} | undefined} */
    this.killed = undefined;
    /** @type {number | undefined} */
    this.pid = undefined;
    /** @type {Promise<void> | undefined} */
    this.failing = undefined;
    /** @type {Promise<void> | undefined} */
    this.gone = undefined;

    const { ledger, handle } = createLedger(ledgerPath);
    this.ledger = ledger;
    this.link = createLink(mode);
    this.link.listen(
      (message) => this.receive(message),
      () => this.die(),
    );
    this.abort = new AbortController();
    this.tinypool = new Tinypool({
      filename: fileURLToPath(new URL('./worker.mjs', import.meta.url)),
      runtime: mode === 'threads' ? 'worker_threads' : 'child_process',
      minThreads: 0,
      maxThreads: 1,
      // The worker's task never ends, and a thread that waits in Atomics.wait would not hear its message port.
      useAtomics: false,
    });
    // It died before it had its task: tinypool would keep the task for the next one, which nobody starts.
    this.tinypool.on('error', (error) => this.fail(error));
    const life = this.begin({ ...start, ...this.link.task, id, mode, ledger: handle });
    /** Fulfilled when it is gone, and its thread or process with it. */
    this.ended = life
      .then(
        () => this.die(),
        (error) => this.fail(error),
      )
      .then(() => this.gone);
  }

  /** @param {object} task @returns {Promise<void>} the worker's life @throws where the system has no room for one more */
  begin(task) {
    subscribe('child_process', hearErrors);
    try {
      return this.tinypool.run(task, { ...this.link.runOptions, signal: this.abort.signal });
    } catch (error) {
      this.link.close();
      this.ledger.close();
      throw error;
    } finally {
      unsubscribe('child_process', hearErrors);
    }
  }

  /**
   * Its task ended with an error: the worker crashed, or the pool ended it.
   * @param {any} error
   * @returns {Promise<void>} fulfilled when it is dead; a second error on the way there changes nothing
   */
  fail(error) {
    this.failing ??= this.endWith(error);
    return this.failing;
  }

  /** @param {any} error */
  async endWith(error) {
    if (this.killed === undefined && this.state !== 'dead') {
      this.events.onFault(`worker ${this.id}: ${error?.stack ?? error}`);
      // The end of a process may be known before the last replies that it had sent are read.
      this.state = 'stopping';
      if (this.mode === 'processes') await new Promise((resolve) => setTimeout(resolve, LAST_WORDS));
    }
    this.die();
  }

  /** Whether it has started a request, ever. */
  get hasStarted() {
    return this.ledger.started() !== 0;
  }

  /** How many requests it holds. */
  get load() {
    return this.inFlight.size;
  }

  /** Whether it holds a long run. */
  get hasLongRun() {
    for (const job of this.inFlight.values()) if (job.long) return true;
    return false;
  }

  /** @param {any} message from worker.mjs */
  receive(message) {
    if (message === BELL) this.hear();
    else if (message.reply !== undefined) {
      this.receiveReply(message.reply);
      this.events.onReplies();
    } else if (message.progress !== undefined)
      this.inFlight.get(message.progress[0])?.onProgress?.(message.progress[1]);
    else if (message.log !== undefined) this.events.onLog(message.log);
    else if (message.fault !== undefined) this.events.onFault(message.fault);
    else if (message.handedBack !== undefined) this.receiveHandedBack(message.handedBack);
    else if (message.ready !== undefined) {
      if (this.state === 'starting') this.state = 'ready';
      // It did not listen yet when it was told to stop.
      else if (this.state === 'stopping') this.link.send({ stop: true });
      this.pid = message.ready.pid;
      this.events.onReady(this, message.ready.pid);
    } else if (message.failed !== undefined) {
      this.pid = message.failed.pid;
      this.events.onFailed(this, message.failed.reason);
    }
  }

  /** @param {[number, number, any, any]} packed */
  receiveReply([sequence, statusCode, headers, body]) {
    const job = this.inFlight.get(sequence);
    this.inFlight.delete(sequence);
    this.accountFor(sequence);
    const unpacked =
      body === undefined || body === null || typeof body === 'string'
        ? (body ?? undefined)
        : unpackBytes(body);
    this.events.onReply(this, job, { statusCode, headers: headers ?? undefined, body: unpacked });
  }

  /** The worker has rung: reads its ring until there is nothing new. */
  hear() {
    const { replies } = this.link;
    if (replies === undefined) return;
    do this.readReplies();
    while (!replies.rest());
  }

  /** Takes the replies that are in the ring, whether the worker has rung for them or not. */
  readReplies() {
    let count = 0;
    this.link.replies?.read((sequence, status, text) => {
      count += 1;
      this.receiveReply([sequence, ...readReply(status, text)]);
    });
    if (count > 0) this.events.onReplies();
  }

  /** @param {number[]} sequences */
  receiveHandedBack(sequences) {
    const jobs = [];
    for (const sequence of sequences) {
      this.accountFor(sequence);
      const job = this.inFlight.get(sequence);
      this.inFlight.delete(sequence);
      if (job !== undefined) jobs.push(job);
    }
    this.events.onHandedBack(this, jobs);
  }

  /** Notes that a withdrawn request was handed back or answered after all. @param {number} sequence */
  accountFor(sequence) {
    if (this.withdrawn.delete(sequence) && this.withdrawn.size === 0) this.ledger.readmit();
  }

  /** Sends a request. @param {Job} job */
  send(job) {
    this.sequence = (this.sequence + 1) | 0;
    job.seat = this;
    job.sequence = this.sequence;
    this.inFlight.set(this.sequence, job);
    if (this.inFlight.size === 1) this.since = performance.now();
    if (this.link.requests === undefined) this.outbox.push(this.pack(job));
    else this.writeToRing(this.link.requests, job);
    if (!this.flushing) {
      this.flushing = true;
      setImmediate(() => this.flush());
    }
  }

  /** @param {Job} job @returns {[number, string, unknown?]} */
  pack({ sequence, json, bytes }) {
    return bytes === undefined ? [sequence, json] : [sequence, json, packBytes(bytes, this.mode)];
  }

  /** @param {import('./ring.mjs').Ring} ring @param {Job} job */
  writeToRing(ring, job) {
    if (ring.write(job.sequence, INLINE, job.json, job.bytes)) return;
    // Requests start in the order of their numbers: the ring keeps the place of one that comes another way.
    this.link.send({ payload: this.pack(job) });
    ring.write(job.sequence, APART);
  }

  /** Tells the worker once of what was sent in this turn, and a thread only where it is not looking anyway. */
  flush() {
    this.flushing = false;
    if (this.state === 'dead') return;
    if (this.link.requests !== undefined) {
      if (this.link.requests.needsBell()) this.link.send(BELL);
    } else if (this.outbox.length > 0) {
      this.link.send({ requests: this.outbox.splice(0) });
    }
  }

  /**
   * Reads what the worker has started.
   * @param {number} now
   * @returns {{job: Job | undefined, busyFor: number}} the running request and for how long (milliseconds) it has been seen
   *   running; with none, for how long the worker has started nothing of what it holds
   */
  observe(now) {
    const started = this.ledger.started();
    if (started !== this.seenStarted) {
      this.seenStarted = started;
      this.seenAt = now;
      this.overdue = false;
    }
    const job = this.inFlight.get(started);
    return { job, busyFor: now - (job === undefined ? Math.max(this.since, this.seenAt) : this.seenAt) };
  }

  /**
   * Takes back what the worker has not started.
   * @returns {Job[]} the requests that are the pool's again
   */
  withdraw() {
    if (this.withdrawn.size > 0) return [];
    this.flush();
    const waiting = [...this.inFlight.keys()].filter((sequence) => !atOrAfter(this.seenStarted, sequence));
    if (waiting.length === 0) return [];
    const started = this.ledger.withdraw(waiting[0], waiting[waiting.length - 1]);
    this.withdrawnAt = performance.now();
    const jobs = [];
    for (const sequence of waiting) {
      this.withdrawn.add(sequence);
      // One that it started in this very moment is answered or handed back, but not ours to give away.
      if (atOrAfter(started, sequence)) continue;
      jobs.push(/** @type {Job} */ (this.inFlight.get(sequence)));
      this.inFlight.delete(sequence);
    }
    return jobs;
  }

  /** Tells the worker that a run is no longer wanted. @param {Job} job */
  cancel(job) {
    this.flush();
    this.link.send({ cancel: job.sequence });
  }

  /** Asks the worker to close its store and end. */
  stop() {
    if (this.state === 'dead') return;
    this.state = 'stopping';
    this.link.send({ stop: true });
  }

  /**
   * Ends the worker at once, whatever it does.
   * @param {string} reason 'timeout', 'cancelled' or 'closing'
   * @param {Job} [job] the request that is to blame
   */
  kill(reason, job) {
    if (this.state === 'dead') return;
    this.killed = { job, reason };
    // It lives on for a moment, and must not start what is about to be given to another worker.
    const jobs = this.withdraw();
    if (this.mode === 'processes' && this.pid !== undefined) {
      try {
        process.kill(this.pid, 'SIGKILL');
      } catch {
        // It was faster.
      }
    }
    this.abort.abort();
    this.die();
    if (jobs.length > 0) this.events.onHandedBack(this, jobs);
  }

  /** Called once when the worker is gone, whichever way it went. */
  die() {
    if (this.state === 'dead') return;
    this.link.drain();
    this.readReplies();
    this.state = 'dead';
    this.abort.abort();
    // Its thread may have ended without an error, or its process may not have come as far as its task.
    this.gone = this.tinypool.destroy().catch(() => {});
    this.link.close();
    this.events.onDead(this);
    this.ledger.close();
  }

  /**
   * Sorts what a dead worker held.
   * @returns {{started: Job[], waiting: Job[]}} what it may have run, and what it surely has not
   */
  leftovers() {
    const last = this.ledger.started();
    /** @type {Job[]} */
    const started = [];
    /** @type {Job[]} */
    const waiting = [];
    for (const [sequence, job] of this.inFlight) (atOrAfter(last, sequence) ? started : waiting).push(job);
    this.inFlight.clear();
    return { started, waiting };
  }
}
