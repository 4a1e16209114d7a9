// Attachments: writers that store images and read them back, each a thread with a connection of its own.

import { createHash } from 'node:crypto';

/** @param {number} writer @param {number} number @param {number} size bytes @returns {Buffer} an image, another for each document */
export function imageOf(writer, number, size) {
  const image = Buffer.allocUnsafe(size);
  let state = (writer * 1_000_003 + number * 7919 + 1) >>> 0;
  for (let at = 0; at + 4 <= size; at += 4) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    image.writeInt32LE(state | 0, at);
  }
  for (let at = size - (size % 4); at < size; at++) image[at] = at & 255;
  return image;
}

/** @param {Uint8Array} bytes */
export const digest = (bytes) => createHash('sha1').update(bytes).digest('base64');

/**
 * @param {any} store what a peer's `open` answered: `prepare(image)` is what a program has in its hand before it calls, and is not
 *   timed; `write(id, prepared)` and `read(id)`, which answers bytes, are, and may answer promises
 * @param {{ size: number, writer: number, documents: number }} task
 */
export function createWriter(store, { size, writer, documents }) {
  const images = Array.from({ length: Math.min(documents, 3) }, (_, at) => imageOf(writer, at, size));
  const digests = images.map(digest);
  const prepared = images.map(store.prepare);
  return {
    /** @param {number} seconds @returns {Promise<number>} how many were written */
    async write(seconds) {
      const end = performance.now() + seconds * 1000;
      let written = 0;
      do {
        await store.write(`${writer}-${written}`, prepared[written % prepared.length]);
        written++;
      } while (written < documents && performance.now() < end);
      return written;
    },
    /** @param {number} written @param {number} seconds @returns {Promise<number>} how many were read and compared by their hash */
    async read(written, seconds) {
      const end = performance.now() + seconds * 1000;
      let done = 0;
      do {
        const found = digest(await store.read(`${writer}-${done}`));
        if (found !== digests[done % digests.length])
          throw new Error(`attachment ${writer}-${done} is wrong`);
        done++;
      } while (done < written && performance.now() < end);
      return done;
    },
  };
}
