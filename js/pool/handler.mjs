// Loads handler modules and calls them. A module has either
//
//     export const handler = function (messageObj, finished) { …; return finished(reply); };
//     export default async (request, context) => reply;
//
// and both get the same `this`.

/**
 * @typedef {(message: any, context: any) => unknown} Call answers the reply, or a promise of it
 */

/**
 * @param {(message: any, finished: (reply?: unknown) => void) => unknown} handler
 * @returns {Call}
 */
function callWithFinished(handler) {
  return (message, context) => {
    let done = false;
    /** @type {unknown} */
    let reply;
    /** @type {((reply: unknown) => void) | undefined} */
    let resolve;
    const finished = (/** @type {unknown} */ given) => {
      if (done) return;
      done = true;
      reply = given;
      resolve?.(given);
    };
    const result = handler.call(context, message, finished);
    if (done) return reply;
    return new Promise((settle, reject) => {
      resolve = settle;
      // An async handler may answer by returning as well; one that returns nothing still owes its finished().
      const asPromise = /** @type {any} */ (result);
      if (typeof asPromise?.then === 'function') {
        asPromise.then((/** @type {unknown} */ value) => value !== undefined && finished(value), reject);
      } else if (result !== undefined) {
        finished(result);
      }
    });
  };
}

/**
 * Loads a handler module.
 * @param {string} url a file URL
 * @returns {Promise<Call>}
 * @throws if it cannot be loaded or exports neither form
 */
export async function loadHandler(url) {
  const module = await import(url);
  if (typeof module.handler === 'function') return callWithFinished(module.handler);
  if (typeof module.default === 'function') {
    return (message, context) => module.default.call(context, message, context);
  }
  throw new TypeError(
    `${url} exports no handler: it needs 'export const handler' or 'export default', a function`,
  );
}
