// What follows when a worker dies before it has started a request: another one is started in its place, at longer and longer
// intervals, and after so many in a row those who wait for a worker are told that none can be had.

/** After so many workers in a row that died while they started, what waits is answered. */
const ATTEMPTS = 6;

/** The pause after the second failure in a row, in milliseconds; each further one doubles it, up to the longest. */
const PAUSE = 50;
const LONGEST_PAUSE = 1000;

/** The workers that failed to start, since the last one that did its work. */
export class Starts {
  constructor() {
    /** How many in a row. */
    this.failures = 0;
    /** When the next may be started (`performance.now()`); 0: at any time. */
    this.notBefore = 0;
  }

  /** @param {number} now */
  failed(now) {
    this.failures += 1;
    // The first one may have been chance: a killed process is replaced at once.
    const pause = this.failures === 1 ? 0 : PAUSE * 2 ** (this.failures - 2);
    this.notBefore = now + Math.min(LONGEST_PAUSE, pause);
  }

  /** A worker that neither starts nor ends has had its time; there is no sense in waiting as long for the next. */
  giveUp() {
    this.failures = Math.max(this.failures, ATTEMPTS - 1);
  }

  succeeded() {
    this.failures = 0;
    this.notBefore = 0;
  }

  /** Whether those who wait should wait no longer, unless some worker is left. */
  get hopeless() {
    return this.failures >= ATTEMPTS;
  }

  /** @param {number} now @returns {boolean} whether a worker may be started */
  allowed(now) {
    return now >= this.notBefore;
  }

  /** @param {number} now @returns {boolean} whether a pause has just ended: true once */
  resumes(now) {
    if (this.notBefore === 0 || now < this.notBefore) return false;
    this.notBefore = 0;
    return true;
  }
}
