// What makes sure that every read is right, and that every peer is asked for the same records in the same order.

/**
 * The numbers 1 to `records` in an order that looks random and is always the same.
 *
 * @param {number} records
 */
export function shuffled(records) {
  const numbers = new Uint32Array(records);
  for (let at = 0; at < records; at++) numbers[at] = at + 1;
  let state = 2463534242;
  for (let at = records - 1; at > 0; at--) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const other = (state >>> 0) % (at + 1);
    const number = numbers[at];
    numbers[at] = numbers[other];
    numbers[other] = number;
  }
  return numbers;
}

/** @param {number} n @param {unknown} found */
export function wrongRecord(n, found) {
  return new Error(`record ${n} is wrong: ${String(found)}`);
}
