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

/** What the system says where there is no room. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT']);

/**
 * Makes (does not throw) an error of this package from what the system answered about a file.
 *
 * @param {any} error of `node:fs`
 * @param {string} what was being done
 * @param {string} path the file
 * @returns {Error & {code: string}} `ERR_DISK_FULL` or `ERR_IO`
 */
export function systemFailure(error, what, path) {
  const told = NO_ROOM.has(error?.code)
    ? failure('ERR_DISK_FULL', `${what}: no space left for ${path}: free some disk space and try again`)
    : failure('ERR_IO', `${what}: ${path}: ${error?.message ?? error}`);
  told.cause = error;
  return told;
}

/**
 * What a log says of an error: where it happened, as far as that is known. Bun gives no stack to an error that is made natively
 * while no call is running.
 *
 * @param {unknown} error
 * @returns {string}
 */
export function traceOf(error) {
  return (error instanceof Error ? error.stack : undefined) ?? String(error);
}
