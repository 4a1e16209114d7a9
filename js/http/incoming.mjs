// What is still on its way of a request whose reply is ready. Servers close the connection when they have replied to a
// request that they did not read to its end, and a caller that still sends then never hears the reply.

import { SLOW } from './limits.mjs';

/** How many bytes are thrown away at most, before a caller that goes on sending is cut off. */
const MOST = 16 * 1024 * 1024;
/** For how long nothing may come, in milliseconds, until the caller is taken to wait for its reply. */
const SILENCE = 100;

/**
 * Reads what still comes, and throws it away, until the caller stops sending or has sent far too much.
 * @param {AsyncIterable<Uint8Array>} body one that goes on where its last reader stopped
 * @returns {Promise<void>} never rejects
 */
export async function discard(body) {
  const pieces = body[Symbol.asyncIterator]();
  const end = performance.now() + SLOW.body;
  for (let size = 0; size < MOST && performance.now() < end; ) {
    const piece = await orSilence(pieces.next());
    if (piece === undefined) return;
    size += piece.length;
  }
}

/**
 * @param {Promise<IteratorResult<Uint8Array>>} next
 * @returns {Promise<Uint8Array | undefined>} undefined at the end, also where that is a broken connection
 */
function orSilence(next) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, SILENCE, undefined);
    const settle = (/** @type {Uint8Array | undefined} */ piece) => {
      clearTimeout(timer);
      resolve(piece);
    };
    next.then(
      ({ done, value }) => settle(done ? undefined : value),
      () => settle(undefined),
    );
  });
}

/** The body of a request to Bun.serve, piece by piece. A reader that stops early leaves the rest for the next one. */
export class Incoming {
  /** @param {ReadableStream<Uint8Array>} stream */
  constructor(stream) {
    this.reader = stream.getReader();
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      const { done, value } = await this.reader.read();
      if (done) return;
      yield value;
    }
  }
}
