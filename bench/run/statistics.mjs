// Figures of repeated measurements: the median and the spread.

/**
 * @typedef {object} Sample one timed step of one round
 * @property {string} peer
 * @property {string} step
 * @property {number} rate operations a second, or what the benchmark's unit says
 *
 * @typedef {object} Summary
 * @property {string} peer
 * @property {string} step
 * @property {number} median
 * @property {number} least
 * @property {number} most
 * @property {number} samples how many rounds
 */

/** @param {number[]} numbers at least one */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * The part of a sorted list below which `share` of it lies.
 *
 * @param {ArrayLike<number>} sorted
 * @param {number} share 0 to 1
 */
export function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)];
}

/**
 * @param {Sample[]} samples
 * @returns {Summary[]} one for each peer and step, in the order of their first samples
 */
export function summarise(samples) {
  /** @type {Map<string, Sample[]>} */
  const groups = new Map();
  for (const sample of samples) {
    const key = JSON.stringify([sample.peer, sample.step]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [sample]);
    else group.push(sample);
  }
  return [...groups.values()].map((group) => {
    const rates = group.map((sample) => sample.rate);
    return {
      peer: group[0].peer,
      step: group[0].step,
      median: median(rates),
      least: Math.min(...rates),
      most: Math.max(...rates),
      samples: rates.length,
    };
  });
}
