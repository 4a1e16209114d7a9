// Calls of a global's handle with subscripts and one argument behind them. Spread before another argument makes an array
// first, which costs more than the way into native code; most nodes are near the root, and these need no spread.

/**
 * @param {any} handle the global's
 * @param {string} method
 * @param {readonly any[]} subscripts
 * @param {unknown} last
 * @returns {any} what the method answers
 */
export function callWith(handle, method, subscripts, last) {
  switch (subscripts.length) {
    case 0:
      return handle[method](last);
    case 1:
      return handle[method](subscripts[0], last);
    case 2:
      return handle[method](subscripts[0], subscripts[1], last);
    case 3:
      return handle[method](subscripts[0], subscripts[1], subscripts[2], last);
    default:
      return handle[method](...subscripts, last);
  }
}
