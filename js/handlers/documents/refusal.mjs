// What the store refuses of a request about documents, as the caller gets it.

import { RequestError } from '../../http/errors.mjs';

/**
 * @param {any} error of the store
 * @returns {any} the error to throw
 */
export function refusalOf(error) {
  const { code, message } = error ?? {};
  // All data of these calls are the request's.
  if (code === 'ERR_ARG') return new RequestError(400, message);
  // Two documents with one value of a unique index: the request is right, what is there stands in its way.
  if (code === 'ERR_BAD_VALUE' && /unique index/.test(message)) return new RequestError(409, message);
  return error;
}
