// Connections that do nothing: each asks once, waits with all the others while something else is done, and asks again.

import { connect } from 'node:net';

/** @param {import('node:net').Socket} socket @param {string} path @returns {Promise<boolean>} whether it was answered with 200 */
function ask(socket, path) {
  return new Promise((resolve) => {
    const end = () => resolve(false);
    socket.once('close', end);
    socket.once('data', (chunk) => {
      socket.off('close', end);
      resolve(String(chunk).startsWith('HTTP/1.1 200'));
    });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  });
}

/**
 * @template T
 * @param {{port: number, count: number, path: string, meanwhile: (() => Promise<T>)[]}} options `meanwhile`: what is done one after
 *   the other while they wait; between any two each asks once, since servers hang up on those that are silent for too long
 * @returns {Promise<{answered: number, refused: number, done: T[]}>} how many were answered each time
 */
export async function holdIdle({ port, count, path, meanwhile }) {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}));
  let well = new Array(count).fill(true);
  const askAll = async () => {
    const replies = await Promise.all(sockets.map((socket) => (socket.closed ? false : ask(socket, path))));
    well = well.map((before, index) => before && replies[index]);
  };
  await askAll();
  const done = [];
  for (const task of meanwhile) {
    done.push(await task());
    await askAll();
  }
  for (const socket of sockets) socket.destroy();
  const answered = well.filter(Boolean).length;
  return { answered, refused: count - answered, done };
}
