// An error that a request brought about itself, with the status that it is answered with.

/** A request that cannot be served as it is. `replyOfError` answers with its status and message. */
export class RequestError extends Error {
  /**
   * @param {number} statusCode 400 to 499
   * @param {string} message for the caller
   */
  constructor(statusCode, message) {
    super(message);
    this.name = 'RequestError';
    this.statusCode = statusCode;
  }
}
