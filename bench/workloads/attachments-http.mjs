// Attachments through HTTP: images put beside documents, one request each, then fetched.

import { requestBytes } from '../http/client.mjs';
import { imageOf } from './attachments.mjs';

/** @typedef {{ size: number, connections: number }} Settings bytes of an image, and how many clients put some */

/** @param {number} number */
const pathOf = (number) => `/documents/picture/p${number}/attachments/image.png`;

/** @param {number} size */
const imagesOf = (size) => Array.from({ length: 10 }, (_, at) => imageOf(0, at, size));

/** @type {Record<string, (settings: Settings) => any>} */
export const scenarios = {
  write({ size }) {
    const images = imagesOf(size);
    return {
      /** @param {number} number */
      request: (number) => requestBytes('PUT', pathOf(number), images[number % 10], 'image/png'),
      /** @param {number} _number @param {Buffer} body */
      check: (_number, body) => JSON.parse(body.toString()).size === size,
      /** @param {import('../http/client.mjs').Connection} connection @param {number} count */
      async after(connection, count) {
        for (let number = 0; number < count; number++) {
          const { body } = await connection.ask(requestBytes('GET', pathOf(number)));
          if (!body.equals(images[number % 10])) throw new Error(`attachment ${number} is wrong`);
        }
      },
    };
  },
  // Each client has put at least one, so that these are there.
  read({ size, connections }) {
    const images = imagesOf(size);
    return {
      /** @param {number} number */
      request: (number) => requestBytes('GET', pathOf(number % connections)),
      /** @param {number} number @param {Buffer} body */
      check: (number, body) => body.equals(images[(number % connections) % 10]),
    };
  },
};
