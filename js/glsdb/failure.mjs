// How the document face reports a mistake: an error whose `code` is one of the codes that every face shares.

/**
 * Makes (does not throw) an error with a code.
 *
 * @param {string} code one of the `ERR_…` codes
 * @param {string} message what was asked for, on which node, and what to do about it
 * @returns {Error & {code: string}} a TypeError for `ERR_ARG`, as everywhere in this package
 */
export function failure(code, message) {
  const error = code === 'ERR_ARG' ? new TypeError(message) : new Error(message);
  return Object.assign(error, { code });
}

/**
 * Names a value for an error message without printing all of it.
 *
 * @param {unknown} value
 * @returns {string}
 */
export function describe(value) {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : 'an object';
  return `the ${typeof value} ${String(value).slice(0, 40)}`;
}
