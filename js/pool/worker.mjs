// The worker's side of the pool: the one task that tinypool runs in each thread or process. It takes requests from its queue
// one after the other, so that a handler never meets another one half-way, and answers each with a reply that is ready to
// be sent.

import { Run, requestContext, WorkerContext } from './context.mjs';
import { loadHandler } from './handler.mjs';
import { openLedger } from './ledger.mjs';
import { openLink, packBytes, unpackBytes } from './link.mjs';
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
 *
 * @typedef {[sequence: number, json: string, bytes?: any]} PackedRequest the message, and its body where it is bytes
 */

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
    /** @type {any} */
    this.store = /** @type {any} */ (this.context).store;
    /** @type {PackedRequest[]} */
    this.queue = [];
    this.running = false;
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
    if (message.requests !== undefined) {
      this.queue.push(...message.requests);
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
    const index = this.queue.findIndex(([waiting]) => waiting === sequence);
    if (index < 0) return;
    this.queue.splice(index, 1);
    this.sendReply(sequence, errorReply(409, 'Cancelled before it started'));
  }

  /** Takes requests from the queue until there are none. */
  async work() {
    this.running = true;
    while (this.queue.length > 0) {
      const request = /** @type {PackedRequest} */ (this.queue.shift());
      if (!this.ledger.start(request[0])) {
        this.handBack(request[0]);
        continue;
      }
      const run = new Run((progress) => this.link.send({ progress: [request[0], progress] }));
      this.current = { sequence: request[0], run };
      let reply;
      try {
        let answer = this.call(request, run);
        // Waiting only where there is something to wait for keeps short handlers short.
        if (typeof (/** @type {any} */ (answer)?.then) === 'function') answer = await answer;
        reply = toReply(answer);
      } catch (error) {
        reply = replyOfError(error);
        // What lies in the request is for the caller only; everything else is for the log.
        if (reply.statusCode >= 500) this.link.send({ fault: `worker ${this.start.id}: ${describe(error)}` });
      }
      const durable = this.settle();
      run.flush();
      this.current = undefined;
      if (durable === undefined) this.sendReply(request[0], reply);
      else this.sendWhenDurable(request[0], reply, durable);
    }
    this.running = false;
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
    const context = requestContext(this.context, run);
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
   */
  sendWhenDurable(sequence, reply, durable) {
    durable.then(
      () => this.sendReply(sequence, reply),
      (error) => {
        this.link.send({ fault: `worker ${this.start.id}: ${describe(error)}` });
        this.sendReply(sequence, replyOfError(error));
      },
    );
  }

  /** @param {number} sequence @param {import('./reply.mjs').Reply} reply */
  sendReply(sequence, { statusCode, headers, body }) {
    const packed = body instanceof Uint8Array ? packBytes(body, this.start.mode) : body;
    this.link.send({ reply: [sequence, statusCode, headers, packed] });
  }

  /** Gives back what the pool withdrew. @param {number} first */
  handBack(first) {
    const sequences = [first];
    while (this.queue.length > 0 && this.ledger.isWithdrawn(this.queue[0][0])) {
      sequences.push(/** @type {PackedRequest} */ (this.queue.shift())[0]);
    }
    this.link.send({ handedBack: sequences });
  }

  /** An orderly end: the pool sends it when nothing is in flight. */
  async stop() {
    try {
      this.context.emit('stop');
      this.store.close();
    } catch (error) {
      this.link.send({ fault: `worker ${this.start.id}: ${describe(error)}` });
    }
    this.ledger.close();
    this.stopped = true;
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
