// How long a caller may take to say what it wants, in milliseconds.

export const SLOW = Object.freeze({
  /** For the header fields of a request. */
  header: 15_000,
  /** For a body that is read as a whole. */
  body: 30_000,
  /** For a whole request, one with a body of any size included. */
  request: 600_000,
  /** How often Node.js looks for those who take too long. */
  look: 5_000,
});
