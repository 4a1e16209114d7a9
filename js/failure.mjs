// How this package reports a mistake: an error whose `code` is one of the codes that every face shares.

/**
 * Makes (does not throw) an error with a code.
 *
 * @param {string} code one of the `ERR_…` codes
 * @param {string} message what was asked for, on which node, and what to do about it
 * @returns {Error & {code: string}} a TypeError for `ERR_ARG`, as everywhere in this package
 *
 * @example
 * throw failure('ERR_ARG', 'transaction: the work must be a function');
 */
export function failure(code, message) {
  const error = code === 'ERR_ARG' ? new TypeError(message) : new Error(message);
  return Object.assign(error, { code });
}
