// The pace of a run: it works in short slices, and between two of them tells how far it is and sees whether it was cancelled.
// The clock of a section runs only while records are written or read.

import { setImmediate as turn } from 'node:timers/promises';

import { Refusal } from './request.mjs';

/** How long a worker stays away from its event loop, and how often it tells how far it is; in milliseconds. */
const SLICE = 25;
const PROGRESS_INTERVAL = 100;

/** A batch is timed as one piece. It grows until it takes this long, so that reading the clock costs next to nothing. */
const BATCH_TIME = 4;
const LARGEST_BATCH = 1024;

/** The smallest time a clock can tell, in milliseconds: a rate is never infinite. */
const TICK = 1e-6;

/**
 * @typedef {{ phase: string, done: number, total: number }} Progress
 */

export class Pace {
  /**
   * @param {(progress: Progress) => void} report
   * @param {AbortSignal} signal
   */
  constructor(report, signal) {
    this.report = report;
    this.signal = signal;
    this.lastTurn = performance.now();
    this.lastReport = Number.NEGATIVE_INFINITY;
  }

  /** The same pace, for the work after a cancelled run, which is not cancelled again. */
  uncancelled() {
    return new Pace(this.report, new AbortController().signal);
  }

  /**
   * To be called often, with the clock stopped.
   *
   * @param {Progress} progress
   * @throws {Refusal} when the run was cancelled
   */
  async breathe(progress) {
    if (performance.now() - this.lastTurn < SLICE) return;
    this.tell(progress);
    await turn();
    this.lastTurn = performance.now();
    if (this.signal.aborted) {
      throw new Refusal(409, 'cancelled', 'The benchmark was cancelled; what it had written is deleted');
    }
  }

  /**
   * @param {Progress} progress told unless another was told just now
   */
  tell(progress) {
    const now = performance.now();
    if (now - this.lastReport < PROGRESS_INTERVAL) return;
    this.lastReport = now;
    this.report(progress);
  }

  /**
   * Does `work` for each record from 1 to `total`, and times it.
   *
   * @template T
   * @param {string} phase
   * @param {number} total
   * @param {(record: number) => T} work timed
   * @param {(result: T, record: number) => void} [check] not timed; throws when the result is not what it should be
   * @returns {Promise<number>} milliseconds spent in `work`
   */
  async time(phase, total, work, check) {
    let elapsed = 0;
    let size = 1;
    for (let first = 1; first <= total; ) {
      const end = Math.min(first + size, total + 1);
      const results = check ? new Array(end - first) : undefined;
      const started = performance.now();
      for (let record = first; record < end; record += 1) {
        const result = work(record);
        if (results) results[record - first] = result;
      }
      const spent = performance.now() - started;
      elapsed += spent;
      if (check && results) for (let at = 0; at < results.length; at += 1) check(results[at], first + at);
      if (spent < BATCH_TIME && size < LARGEST_BATCH) size *= 2;
      else if (spent > 2 * BATCH_TIME && size > 1) size /= 2;
      first = end;
      await this.breathe({ phase, done: first - 1, total });
    }
    return Math.max(elapsed, TICK);
  }
}
