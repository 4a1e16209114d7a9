// The worker's side of the pool: the one task that tinypool runs in each thread or process. It takes requests from its queue
// one after the other, so that a handler never meets another one half-way, and answers each with a reply that is ready to
// be sent.

import { contextClass, Run, WorkerContext } from './context.mjs';
import { loadHandler } from './handler.mjs';
import { openLedger } from './ledger.mjs';
import { APART, BELL, openLink, packBytes, unpackBytes, writeReply } from './link.mjs';
import { inlineMessage } from './log.mjs';
import { errorReply, replyOfError, toReply } from './reply.mjs';

/**
 * @typedef {object} Start what a new worker is told
 * @property {number} id
 * @property {'threads' | 'processes'} mode
 * @property {boolean} logging
 * @property {string} serverName
 * @property {Record<string, string>} handlers file URL of the handler module by message type
 * @property {Record<string, unknown>} store
 * @property {{module: string, arguments?: unknown} | undefined} onStartup
 * @property {SharedArrayBuffer | string} ledger
 * @property {import('node:worker_threads').MessagePort} [port]
 * @property {{requests: SharedArrayBuffer, replies: SharedArrayBuffer}} [rings]
 *
 * @typedef {[sequence: number, json: string, bytes?: any]} PackedRequest the message, and its body where it is bytes
 */

/** How many short requests run before the worker looks at what else there is, and for how many milliseconds. */
const AT_ONCE = 16;
const TURN = 5;

/** @param {unknown} error */
function describe(error) {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** One worker at work. */
class Worker {
  /** @param {Start} start @param {import('./link.mjs').WorkerLink} link */
  constructor(start, link) {
    this.start = start;
    this.link = link;
    this.ledger = openLedger(start.ledger);
    this.context = new WorkerContext(start.id, start.serverName, start.store, (text) => this.log(text));
    this.RequestContext = contextClass(this.context);
    /** @type {any} */
    this.store = /** @type {any} */ (this.context).store;
    /** @type {PackedRequest[]} */
    this.queue = [];
    this.running = false;
    /** Requests that came as messages, until the ring says that it is their turn. @type {Map<number, PackedRequest>} */
    this.payloads = new Map();
    /** Whether the ring's next request has not come yet. */
    this.awaiting = false;
    /** @type {{sequence: number, run: Run} | undefined} */
    this.current = undefined;
    /** @type {Map<string, import('./handler.mjs').Call>} */
    this.calls = new Map();
    /** Whether it ended in an orderly way. */
    this.stopped = false;
    /** @type {() => void} */
    this.end = () => {};
  }

  /** @param {string} text */
  log(text) {
    if (this.start.logging) this.link.send({ log: text });
  }

  /** Runs the start-up module, then reports for work; the promise lasts as long as the worker. */
  async serve() {
    const ended = new Promise((resolve) => {
      this.end = () => resolve(undefined);
    });
    this.link.listen((message) => this.receive(message));
    try {
      await this.store.load();
      await this.runStartupModule();
    } catch (error) {
      this.link.send({ failed: { pid: process.pid, reason: describe(error) } });
      return;
    }
    this.log(`new worker ${this.start.id} started...`);
    this.link.send({ ready: { pid: process.pid } });
    await ended;
  }

  async runStartupModule() {
    const { onStartup } = this.start;
    if (onStartup === undefined) return;
    const module = await import(onStartup.module);
    const start = module.onStartupModule ?? module.onStartup ?? module.default;
    if (typeof start !== 'function')
      throw new TypeError(`${onStartup.module} exports no onStartupModule function`);
    this.log(`start-up module loaded: ${onStartup.module}`);
    await start.call(this.context, onStartup.arguments);
  }

  /** @param {any} message */
  receive(message) {
    if (message === BELL) {
      if (!this.running) void this.work();
    } else if (message.requests !== undefined) {
      this.queue.push(...message.requests);
      if (!this.running) void this.work();
    } else if (message.payload !== undefined) {
      this.payloads.set(message.payload[0], message.payload);
      if (!this.running) void this.work();
    } else if (message.cancel !== undefined) {
      this.cancel(message.cancel);
    } else if (message.stop !== undefined) {
      void this.stop();
    }
  }

  /** @param {number} sequence a request that is running, or waits here, or was answered meanwhile */
  cancel(sequence) {
    if (this.current?.sequence === sequence) this.current.run.cancel();
    this.fetch();
    const index = this.queue.findIndex(([waiting]) => waiting === sequence);
    if (index < 0) return;
    this.queue.splice(index, 1);
    this.sendReply(sequence, errorReply(409, 'Cancelled before it started'));
  }

  /** Takes the requests that are in the ring into the queue. */
  fetch() {
    this.awaiting = false;
    this.link.requests?.read((sequence, kind, json, bytes) => {
      if (kind !== APART) {
        this.queue.push([sequence, json, bytes]);
        return true;
      }
      const payload = this.payloads.get(sequence);
      this.awaiting = payload === undefined;
      if (payload === undefined) return false;
      this.payloads.delete(sequence);
      this.queue.push(payload);
      return true;
    });
  }

  /** @returns {boolean} whether there is a request to run; where not, the pool says when there is one */
  hasWork() {
    while (this.queue.length === 0) {
      this.fetch();
      if (this.queue.length > 0) return true;
      if (this.awaiting || this.link.requests === undefined || this.link.requests.rest()) return false;
    }
    return true;
  }

  /** Takes requests from the queue until there are none. */
  async work() {
    this.running = true;
    let turn = performance.now();
    for (let count = 1; this.hasWork(); count += 1) {
      const later = this.serveOne(/** @type {PackedRequest} */ (this.queue.shift()));
      // Waiting only where there is something to wait for keeps short handlers short.
      if (later !== undefined) await later;
      if (count % AT_ONCE !== 0 && performance.now() - turn < TURN) continue;
      // The rest of the worker lives in the same thread: timers, flushes, the pool's messages.
      await new Promise((resolve) => setImmediate(resolve));
      turn = performance.now();
    }
    this.running = false;
  }

  /**
   * Runs a request, unless the pool has taken it back.
   * @param {PackedRequest} request
   * @returns {Promise<void> | undefined} undefined where it is done already
   */
  serveOne(request) {
    const [sequence] = request;
    if (!this.ledger.start(sequence)) {
      this.handBack(sequence);
      return undefined;
    }
    const run = new Run((progress) => this.link.send({ progress: [sequence, progress] }));
    this.current = { sequence, run };
    let answer;
    try {
      answer = this.call(request, run);
    } catch (error) {
      this.finish(sequence, run, this.replyOfFault(error));
      return undefined;
    }
    if (typeof (/** @type {any} */ (answer)?.then) === 'function') {
      return /** @type {Promise<unknown>} */ (answer).then(
        (value) => this.finish(sequence, run, this.replyOf(value)),
        (error) => this.finish(sequence, run, this.replyOfFault(error)),
      );
    }
    this.finish(sequence, run, this.replyOf(answer));
    return undefined;
  }

  /** @param {unknown} answer @returns {import('./reply.mjs').Reply} */
  replyOf(answer) {
    try {
      return toReply(answer);
    } catch (error) {
      return this.replyOfFault(error);
    }
  }

  /** @param {unknown} error @returns {import('./reply.mjs').Reply} */
  replyOfFault(error) {
    const reply = replyOfError(error);
    // What lies in the request is for the caller only; everything else is for the log.
    if (reply.statusCode >= 500) this.link.send({ fault: `worker ${this.start.id}: ${describe(error)}` });
    return reply;
  }

  /** @param {number} sequence @param {Run} run @param {import('./reply.mjs').Reply} reply */
  finish(sequence, run, reply) {
    const durable = this.settle();
    run.flush();
    this.current = undefined;
    if (durable === undefined) this.sendReply(sequence, reply, run.told);
    else this.sendWhenDurable(sequence, reply, durable, run.told);
  }

  /**
   * @param {PackedRequest} request
   * @param {Run} run
   * @returns {unknown} the handler's answer or a promise of it
   */
  call([, json, bytes], run) {
    const message = JSON.parse(json);
    if (bytes !== undefined) message.data.body = unpackBytes(bytes);
    if (this.start.logging)
      this.log(`Message received by worker ${this.start.id}: ${inlineMessage(message)}`);
    const call = this.calls.get(message.type);
    const context = new this.RequestContext(run);
    return call === undefined ? this.loadAndCall(message, context) : call(message, context);
  }

  /** @param {any} message @param {any} context */
  async loadAndCall(message, context) {
    const url = this.start.handlers[message.type];
    if (url === undefined)
      throw new TypeError(`no handler is configured for messages of type '${message.type}'`);
    const call = await loadHandler(url);
    this.calls.set(message.type, call);
    this.log(`Handler module imported into worker ${this.start.id}: ${url}`);
    return call(message, context);
  }

  /**
   * Rolls back what the handler left open: nobody may find it half-way.
   * @returns {Promise<void> | undefined} what the reply must wait for
   */
  settle() {
    try {
      const { rolledBack, durable } = this.store.settle();
      if (rolledBack)
        this.link.send({
          fault: `worker ${this.start.id}: a handler left its transaction open; it was rolled back`,
        });
      return durable;
    } catch (error) {
      this.link.send({ fault: `worker ${this.start.id}: ${describe(error)}` });
      return undefined;
    }
  }

  /**
   * Replies once the disk has what the handler wrote. The next request runs meanwhile, so that many share one flush.
   *
   * @param {number} sequence
   * @param {import('./reply.mjs').Reply} reply
   * @param {Promise<void>} durable
   * @param {boolean} inOrder
   */
  sendWhenDurable(sequence, reply, durable, inOrder) {
    durable.then(
      () => this.sendReply(sequence, reply, inOrder),
      (error) => {
        this.link.send({ fault: `worker ${this.start.id}: ${describe(error)}` });
        this.sendReply(sequence, replyOfError(error));
      },
    );
  }

  /**
   * Sends a reply: text by the ring, anything else as a message.
   * @param {number} sequence
   * @param {import('./reply.mjs').Reply} reply
   * @param {boolean} [inOrder] whether it must not overtake the messages that were sent before it
   */
  sendReply(sequence, { statusCode, headers, body }, inOrder = false) {
    const { replies } = this.link;
    const mayUseRing = replies !== undefined && typeof body === 'string' && !inOrder && !this.start.logging;
    if (mayUseRing && writeReply(replies, sequence, { statusCode, headers, body })) {
      if (replies.needsBell()) this.link.send(BELL);
      return;
    }
    const packed = body instanceof Uint8Array ? packBytes(body, this.start.mode) : body;
    this.link.send({ reply: [sequence, statusCode, headers, packed] });
  }

  /** Gives back what the pool withdrew. @param {number} first */
  handBack(first) {
    const sequences = [first];
    this.fetch();
    while (this.queue.length > 0 && this.ledger.isWithdrawn(this.queue[0][0])) {
      sequences.push(/** @type {PackedRequest} */ (this.queue.shift())[0]);
    }
    this.link.send({ handedBack: sequences });
  }

  /** An orderly end: the pool sends it when nothing is in flight. */
  async stop() {
    if (this.stopped) return;
    this.stopped = true;
    try {
      this.context.emit('stop');
      this.store.close();
    } catch (error) {
      this.link.send({ fault: `worker ${this.start.id}: ${describe(error)}` });
    }
    this.ledger.close();
    this.link.send({ stopped: true });
    this.end();
  }

  /**
   * An error that no handler's promise caught, in a process. The worker's state is unknown from here on: the request that ran is
   * answered by the pool, and the worker replaced.
   * @param {unknown} error
   */
  fatal(error) {
    this.link.send({ fault: `worker ${this.start.id}: ${describe(error)}` });
    process.exit(1);
  }
}

/**
 * @param {Start} start
 * @returns {Promise<void>} fulfilled when the worker was told to stop
 */
export default async function serve(start) {
  const link = openLink(start);
  const worker = new Worker(start, link);
  if (start.mode === 'processes') {
    // A thread reports such errors by itself (and Node.js 20 crashes when a thread's own listener calls process.exit()).
    process.on('uncaughtException', (error) => worker.fatal(error));
    process.on('unhandledRejection', (error) => worker.fatal(error));
    // Ctrl-C and a service's stop reach the whole process group: the pool decides when its workers end, and kills one that
    // hangs with SIGKILL. Without the pool there is no work.
    process.on('SIGINT', () => {});
    process.on('SIGTERM', () => {
      if (worker.stopped) process.exit(0);
    });
    process.on('disconnect', () => process.exit(0));
  }
  await worker.serve();
  link.close();
}
