// Reads a request's body as a whole: no more bytes than the limit, and no longer than a caller may take.

import { RequestError } from './errors.mjs';
import { SLOW } from './limits.mjs';

/**
 * @param {number} limit
 * @returns {RequestError}
 */
function tooLarge(limit) {
  return new RequestError(413, `The body is larger than ${limit} bytes`);
}

/**
 * @param {AsyncIterable<Uint8Array>} stream
 * @param {number} limit bytes
 */
async function collect(stream, limit) {
  const chunks = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size);
}

/**
 * Reads a body.
 * @param {AsyncIterable<Uint8Array>} stream
 * @param {number | undefined} length what the request says of it
 * @param {number} limit bytes
 * @param {number} [patience] milliseconds
 * @returns {Promise<Uint8Array>}
 * @throws {RequestError} 408, 413, or 400 where the connection ended before the body did
 */
export async function readStream(stream, length, limit, patience = SLOW.body) {
  if (length !== undefined && length > limit) throw tooLarge(limit);
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const tooSlow = new Promise((_, reject) => {
    timer = setTimeout(() => {
      reject(new RequestError(408, `The body did not arrive within ${patience / 1000} seconds`));
    }, patience);
  });
  try {
    return await Promise.race([collect(stream, limit), tooSlow]);
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw new RequestError(400, 'The body ended too early');
  } finally {
    clearTimeout(timer);
  }
}
