// A small HTTP/1.1 client for load: kept-alive connections with one request in flight each, so that the client takes little of
// the processor that it shares with the server. It reads replies with a length and chunked ones.

import { connect } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * @param {string} method
 * @param {string} path
 * @param {string | Buffer} [body]
 * @param {string} [type] the body's media type
 * @returns {Buffer} the request as it goes over the wire
 */
export function requestBytes(method, path, body, type = 'application/json') {
  const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n`;
  if (body === undefined) return Buffer.from(`${head}\r\n`);
  const bytes = Buffer.from(body);
  const fields = `content-type: ${type}\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head + fields), bytes]);
}

/** One kept-alive connection. */
export class Connection {
  /** @type {Buffer} */
  #received = Buffer.alloc(0);
  /** Where the parts of a long reply wait. @type {Buffer[]} */
  #parts = [];
  #waiting = 0;
  /** How many bytes the reply at hand has; 0 while its head is not there, -1 while its end is not known. */
  #needed = 0;
  /** @type {((status: number, body: Buffer) => void) | undefined} */
  #done;
  /** @type {(error: Error) => void} */
  #failed = () => {};

  /** @param {number} port @returns {Promise<Connection>} */
  static open(port) {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () =>
        resolve(new Connection(socket)),
      );
      socket.once('error', reject);
    });
  }

  /** @param {import('node:net').Socket} socket */
  constructor(socket) {
    this.socket = socket;
    socket.on('data', (data) => this.#take(data));
    socket.on('error', (error) => this.#failed(error));
    socket.on('close', () => this.#failed(new Error('the server closed the connection')));
  }

  /**
   * @param {Buffer} request
   * @param {(status: number, body: Buffer) => void} done
   * @param {(error: Error) => void} failed
   */
  send(request, done, failed) {
    this.#done = done;
    this.#failed = failed;
    this.socket.write(request);
  }

  /** @param {Buffer} request @returns {Promise<{ status: number, body: Buffer }>} */
  ask(request) {
    return new Promise((resolve, reject) =>
      this.send(request, (status, body) => resolve({ status, body }), reject),
    );
  }

  close() {
    this.#failed = () => {};
    this.socket.destroy();
  }

  /** @param {Buffer} data */
  #take(data) {
    this.#parts.push(data);
    this.#waiting += data.length;
    // A long reply is put together once, not once for each of its parts.
    if (this.#needed > 0 && this.#waiting < this.#needed) return;
    this.#received = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    this.#parts = [this.#received];
    const reply = this.#parse();
    if (reply === undefined) return;
    this.#parts = [];
    this.#waiting = 0;
    this.#needed = 0;
    const done = this.#done;
    this.#done = undefined;
    done?.(reply.status, reply.body);
  }

  /** @returns {{ status: number, body: Buffer } | undefined} nothing while it is not all there */
  #parse() {
    const bytes = this.#received;
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) return undefined;
    const head = bytes.latin1Slice(0, end);
    const status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    if (length !== null) {
      this.#needed = end + 4 + Number(length[1]);
      return bytes.length < this.#needed
        ? undefined
        : { status, body: bytes.subarray(end + 4, this.#needed) };
    }
    if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return { status, body: bytes.subarray(end + 4) };
    const body = unchunk(bytes, end + 4);
    return body === undefined ? undefined : { status, body };
  }
}

/** @param {Buffer} bytes @param {number} at where the chunks begin @returns {Buffer | undefined} */
function unchunk(bytes, at) {
  // The last chunk is empty; while it is not there, nothing needs to be read.
  if (bytes.latin1Slice(bytes.length - 5) !== '0\r\n\r\n') return undefined;
  /** @type {Buffer[]} */
  const chunks = [];
  for (;;) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.latin1Slice(at, line), 16);
    if (size === 0) return Buffer.concat(chunks);
    if (line + 2 + size > bytes.length) return undefined;
    chunks.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
