// For handlers that pass data of the request on to the store as they are: what the store refuses as a wrong argument is then
// the caller's mistake. (In other handlers it is their own, so that the servers do not take it for the caller's.)

import { RequestError } from '../http/errors.mjs';

/**
 * Makes a handler whose `ERR_ARG` errors are answered with 400 and their message.
 *
 * @template Context
 * @param {(this: Context, messageObj: any, finished: (reply: object) => void) => void} handler it answers synchronously
 * @returns {(this: Context, messageObj: any, finished: (reply: object) => void) => void}
 */
export function refusingWrongData(handler) {
  return function (messageObj, finished) {
    try {
      handler.call(this, messageObj, finished);
    } catch (error) {
      const { code, message } = /** @type {any} */ (error);
      throw code === 'ERR_ARG' ? new RequestError(400, message) : error;
    }
  };
}
