// Whether the server can do its work: a worker answers, and the store opens in it. Asked at most once a second, however often
// somebody wants to know, so that asking is no load.

/** How long an answer may be passed on, in milliseconds. */
const FRESH = 1000;

/** How long the worker may take, in milliseconds. */
const PATIENCE = 2000;

/** The message type of the probe's handler. */
export const PROBE = 'health probe';

/** The probe's handler module. */
export const PROBE_HANDLER = new URL('../handlers/health.mjs', import.meta.url).href;

/**
 * @typedef {object} Finding
 * @property {'ok' | 'no answer'} workers
 * @property {'ok' | 'unknown' | 'cannot be opened'} store
 * @property {Record<string, number>} [figures] the store's, where it answered
 */

/** The health of one server. */
export class Health {
  /** @param {import('../pool/pool.mjs').WorkerPool} pool it has PROBE among its handlers */
  constructor(pool) {
    this.pool = pool;
    /** @type {Promise<Finding> | undefined} */
    this.asked = undefined;
    this.askedAt = -Infinity;
  }

  /** @returns {Promise<Finding>} never rejects */
  find() {
    const now = performance.now();
    if (this.asked === undefined || now - this.askedAt > FRESH) {
      this.askedAt = now;
      this.asked = this.ask();
    }
    return this.asked;
  }

  /** @returns {Promise<Finding>} */
  async ask() {
    const controller = new AbortController();
    const limit = setTimeout(() => controller.abort(), PATIENCE);
    /** @type {Promise<undefined>} */
    const tooLate = new Promise((resolve) => {
      controller.signal.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    const probe = this.pool.run({ type: PROBE, data: {} }, { signal: controller.signal });
    const reply = await Promise.race([probe, tooLate]);
    clearTimeout(limit);
    // What never started says nothing of the store.
    if (reply === undefined || reply.statusCode === 409 || reply.statusCode === 503)
      return { workers: 'no answer', store: 'unknown' };
    if (reply.statusCode !== 200) return { workers: 'ok', store: 'cannot be opened' };
    return { workers: 'ok', store: 'ok', figures: JSON.parse(String(reply.body)).figures };
  }
}
