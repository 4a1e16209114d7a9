// Work on a whole store, off the event loop, with progress and a way to end it early.

import { addon } from '../addon.mjs';
import { failure } from '../failure.mjs';
import { checkedFolder } from '../place.mjs';

/**
 * @typedef {object} WorkOptions
 * @property {(done: number, total: number) => void} [onProgress] called now and then; `total` is 0 while it is unknown
 * @property {AbortSignal} [signal] ends the work, and leaves things as they were
 */

/**
 * Starts work in the addon and waits for it.
 *
 * @param {string} name the call, for error messages
 * @param {WorkOptions} options
 * @param {(report: (done: number, total: number) => boolean) => Promise<any>} start
 * @returns {Promise<any>} what the work answers
 */
export async function doLongWork(name, options, start) {
  if (typeof options !== 'object' || options === null)
    throw failure('ERR_ARG', `${name}: the options must be an object`);
  const { onProgress, signal } = options;
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw failure('ERR_ARG', `${name}: onProgress must be a function`);
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw failure('ERR_ARG', `${name}: signal must be an AbortSignal`);
  signal?.throwIfAborted();
  /** @type {{ cause: unknown } | undefined} what the program's own function threw */
  let thrown;
  const report = (/** @type {number} */ done, /** @type {number} */ total) => {
    try {
      onProgress?.(done, total);
    } catch (cause) {
      thrown ??= { cause };
    }
    return thrown === undefined;
  };
  const end = () => addon.breakOff(report);
  signal?.addEventListener('abort', end);
  try {
    const answer = await start(report);
    if (thrown !== undefined) throw thrown.cause;
    return answer;
  } catch (error) {
    if (thrown !== undefined) throw thrown.cause;
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', end);
  }
}

/**
 * Copies a store into a folder of its own, while others read and write.
 *
 * @param {any} server the connection
 * @param {string} path
 * @param {WorkOptions} [options]
 * @returns {Promise<void>}
 */
export async function backup(server, path, options = {}) {
  checkedFolder('backup', path);
  return doLongWork('backup', options, (report) => server.backupLater(path, report));
}

/**
 * Copies a backup into a folder that is empty or does not exist.
 *
 * @param {string} from
 * @param {string} to
 * @param {WorkOptions & { force?: boolean }} [options] `force`: a store that is there and not in use is moved aside
 * @returns {Promise<string | undefined>} where it was moved to
 */
export async function restore(from, to, options = {}) {
  for (const path of [from, to]) checkedFolder('restore', path);
  const { force = false } = options ?? {};
  if (typeof force !== 'boolean') throw failure('ERR_ARG', 'restore: force must be true or false');
  return doLongWork('restore', options, (report) => addon.restoreLater(from, to, force, report));
}

/**
 * Makes the files of a store small, while nobody has it open.
 *
 * @param {string} path
 * @param {WorkOptions} [options]
 * @returns {Promise<void>}
 */
export async function compact(path, options = {}) {
  checkedFolder('compact', path);
  return doLongWork('compact', options, (report) => addon.compactLater(path, report));
}
