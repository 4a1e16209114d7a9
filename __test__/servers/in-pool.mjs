// What the tests of the pool itself give to it: handler modules, and a log that they can read.

/** @param {string} name */
export const fixture = (name) => new URL(`fixtures/${name}.mjs`, import.meta.url).href;

/** A log that keeps what would be printed. */
export function keptLog() {
  /** @type {string[]} */
  const errors = [];
  return {
    errors,
    enabled: false,
    banner() {},
    line() {},
    error: (/** @type {string} */ text) => void errors.push(text),
  };
}
