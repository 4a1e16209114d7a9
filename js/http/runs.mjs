// Long runs: a handler that takes seconds or minutes, whose progress can be followed and which can be cancelled while the
// request that started it still waits for its reply. A run has a name, which the caller may choose in the body as `run`.

import { randomUUID } from 'node:crypto';
import { errorReply } from '../pool/reply.mjs';
import { RequestError } from './errors.mjs';

/** How long somebody who follows or cancels a run may come before the run itself, in milliseconds. */
const EARLY = 5000;

/** How many may be early at a time. */
const EARLY_LIMIT = 100;

/** How long the end of a run is remembered for those who come late, in milliseconds, and for how many runs. */
const LATE = 60_000;
const LATE_LIMIT = 100;

/** A stream that says nothing for this long gets a remark, so that nobody in between closes it; milliseconds. */
const SILENCE = 15_000;

const RUN_NAME = /^[\w.~-]{1,100}$/;

/**
 * @typedef {object} RunState
 * @property {AbortController} controller
 * @property {string | undefined} progress the last progress, as an event
 * @property {string | undefined} end the last event, once the run is over
 * @property {Set<() => void>} followers woken when something is new
 */

/** @param {string} name @param {unknown} data */
function event(name, data) {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** @param {import('../pool/reply.mjs').Reply} reply */
function endEvent({ statusCode, body }) {
  return event('done', { statusCode, reply: typeof body === 'string' ? JSON.parse(body) : null });
}

/**
 * @param {unknown} name
 * @returns {string}
 * @throws {RequestError} 400
 */
function checkedName(name) {
  if (typeof name !== 'string' || !RUN_NAME.test(name)) {
    throw new RequestError(400, 'run must be a name of 1 to 100 letters, digits and - _ . ~');
  }
  return name;
}

/** The long runs of one server. */
export class Runs {
  /** @param {import('../pool/pool.mjs').WorkerPool} pool */
  constructor(pool) {
    this.pool = pool;
    /** @type {Map<string, RunState>} */
    this.states = new Map();
    /** @type {Set<() => void>} */
    this.early = new Set();
    this.closing = false;
  }

  /**
   * Starts a run.
   * @param {{type: string, data: Record<string, any>}} message its body may name the run as `run`
   * @returns {Promise<import('../pool/reply.mjs').Reply>} with the run's name in the header field `x-run`
   */
  async start(message) {
    const { body } = message.data;
    const chosen = body !== null && typeof body === 'object' ? body.run : undefined;
    const name = chosen === undefined ? randomUUID() : checkedName(chosen);
    const known = this.states.get(name);
    if (known !== undefined && known.end === undefined)
      return errorReply(409, `A run '${name}' is under way already`);
    /** @type {RunState} */
    const state = {
      controller: new AbortController(),
      progress: undefined,
      end: undefined,
      followers: new Set(),
    };
    this.states.set(name, state);
    for (const wake of this.early) wake();
    const reply = await this.pool.run(message, {
      timeout: Infinity,
      signal: state.controller.signal,
      onProgress(progress) {
        state.progress = event('progress', progress);
        for (const wake of state.followers) wake();
      },
    });
    this.finish(name, state, reply);
    return { ...reply, headers: { ...reply.headers, 'x-run': name } };
  }

  /** @param {string} name @param {RunState} state @param {import('../pool/reply.mjs').Reply} reply */
  finish(name, state, reply) {
    state.end = endEvent(reply);
    for (const wake of state.followers) wake();
    const forget = setTimeout(() => {
      if (this.states.get(name) === state) this.states.delete(name);
    }, LATE);
    forget.unref();
    let over = 0;
    for (const { end } of this.states.values()) if (end !== undefined) over += 1;
    for (const [oldName, { end }] of this.states) {
      if (over <= LATE_LIMIT) break;
      if (end === undefined) continue;
      this.states.delete(oldName);
      over -= 1;
    }
  }

  /**
   * Cancels a run; the request that started it is answered by the handler, which sees its signal.
   * @param {string} name
   * @returns {Promise<import('../pool/reply.mjs').Reply>}
   */
  async cancel(name) {
    const state = await this.find(name);
    if (state === undefined || state.end !== undefined)
      return errorReply(404, `No run '${name}' is under way`);
    state.controller.abort();
    return {
      statusCode: 200,
      headers: undefined,
      body: JSON.stringify({ ok: true, run: name, cancelled: true }),
    };
  }

  /**
   * Waits a little for a run that is not there yet. A page follows it before it starts it, so as to miss nothing; and what cancels
   * it comes by another connection, which may be faster than the one that starts it: without a wait it would run for nobody.
   * @param {string} name
   * @returns {Promise<RunState | undefined>}
   */
  async find(name) {
    const limit = Date.now() + EARLY;
    while (!this.states.has(name) && !this.closing && this.early.size < EARLY_LIMIT && Date.now() < limit) {
      await new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          this.early.delete(wake);
          resolve(undefined);
        };
        const timer = setTimeout(wake, limit - Date.now());
        this.early.add(wake);
      });
    }
    return this.states.get(name);
  }

  /**
   * Follows a run.
   * @param {string} name
   * @returns {Promise<AsyncGenerator<string, void, void> | undefined>} server-sent events: `progress` with what the
   *   handler reports, at last `done` with `{statusCode, reply}`; undefined where there is no such run
   */
  async follow(name) {
    const state = await this.find(name);
    return state === undefined ? undefined : this.events(state);
  }

  /** @param {RunState} state @returns {AsyncGenerator<string, void, void>} */
  async *events(state) {
    let news = true;
    let wake = () => {};
    const follower = () => {
      news = true;
      wake();
    };
    state.followers.add(follower);
    try {
      yield ': following\n\n';
      let told;
      while (state.end === undefined && !this.closing) {
        if (state.progress !== undefined && state.progress !== told) {
          told = state.progress;
          yield told;
        }
        if (!news) {
          await new Promise((resolve) => {
            const timer = setTimeout(() => resolve(undefined), SILENCE);
            wake = () => {
              clearTimeout(timer);
              resolve(undefined);
            };
          });
          if (!news) yield ': still here\n\n';
        }
        news = false;
      }
      if (state.progress !== undefined && state.progress !== told) yield state.progress;
      if (state.end !== undefined) yield state.end;
    } finally {
      state.followers.delete(follower);
    }
  }

  /** Cancels every run and ends every stream. */
  close() {
    this.closing = true;
    for (const wake of [...this.early]) wake();
    for (const state of this.states.values()) {
      if (state.end === undefined) state.controller.abort();
      for (const wake of state.followers) wake();
    }
  }
}
