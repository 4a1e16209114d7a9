// What can be wrong with a file or a node that moves in or out: errors with a code, and with the line where there is one.

import { failure } from '../failure.mjs';

/**
 * @param {string} code one of the package's error codes
 * @param {string} message
 * @param {Record<string, unknown>} [more] further members, such as `line`
 * @returns {Error & { code: string, line?: number }}
 */
export function fault(code, message, more) {
  return Object.assign(failure(code, message), more);
}

/** Text that is not what its place asks for. `at` is the index of the first character that does not fit. */
export class SyntaxFault extends Error {
  code = 'ERR_BAD_VALUE';

  /**
   * @param {string} message
   * @param {number} at
   */
  constructor(message, at) {
    super(message);
    this.at = at;
  }
}
