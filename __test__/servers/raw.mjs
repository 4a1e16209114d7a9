// Speaks to a server in bytes, for what no HTTP client would send.

import { connect } from 'node:net';

/**
 * @typedef {object} RawAnswer
 * @property {number} status of the last reply, 0 where there was none
 * @property {string} text all that came
 * @property {boolean} closed whether the server closed the connection
 */

/**
 * Sends bytes and waits for a final reply or the end of the connection.
 * @param {number} port
 * @param {string} bytes
 * @returns {Promise<RawAnswer>}
 */
export function askRaw(port, bytes) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    let closed = false;
    const finish = () => {
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
      socket.destroy();
      resolve({ status: statuses.at(-1) ?? 0, text, closed });
    };
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      text += chunk;
      // A reply that says "go on" is not the last one.
      if (/HTTP\/1\.1 (?!100)\d{3}/.test(text)) setTimeout(finish, 50);
    });
    socket.on('close', () => {
      closed = true;
      finish();
    });
    socket.write(bytes);
  });
}

/**
 * Sends a beginning and then nothing more.
 * @param {number} port
 * @param {string} bytes
 * @returns {Promise<RawAnswer>} once the server has closed the connection
 */
export function startAndStall(port, bytes) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('close', () => {
      resolve({ status: Number(/HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text, closed: true });
    });
    socket.write(bytes);
  });
}
