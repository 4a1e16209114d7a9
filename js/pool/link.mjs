// The line between the pool and one worker. tinypool gives a worker one task at a time and hears nothing before it ends, so a
// worker's whole life is one task of tinypool, and requests, replies, progress and log lines travel beside it: over a
// message port to a thread, over the process's own channel to a child process. A thread has two rings besides (ring.mjs), one for
// requests and one for replies; what does not fit there, and replies of bytes, travel as messages.
//
// Messages are plain values. To the worker: `{requests}`, `{payload}`, `{cancel}`, `{stop}`; to the pool: `{ready}`, `{failed}`,
// `{reply}`, `{handedBack}`, `{progress}`, `{log}`, `{fault}` (worker.mjs says what is in each); to either: BELL, look at your ring.

import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { createRing, Ring } from './ring.mjs';

/** The message that says nothing but that there is something in the ring. */
export const BELL = 0;

/** What a record of the ring of requests is: the request itself, or the place of one whose `payload` is a message. */
export const INLINE = 0;
export const APART = 1;

/** Bytes of a ring. A worker holds a few requests at a time; pages of it that are never used take no memory. */
const RING_SIZE = 256 * 1024;

/**
 * @typedef {object} PoolLink the pool's end
 * @property {object} task what the worker's task needs to open its end
 * @property {object} runOptions what `Tinypool.run` needs
 * @property {(message: object | typeof BELL) => void} send
 * @property {Ring} [requests] to a thread: the writer's side
 * @property {Ring} [replies] from a thread: the reader's side
 * @property {(onMessage: (message: any) => void, onEnd: () => void) => void} listen `onEnd` is called when the other end is gone,
 *   where that can be seen (a thread that calls process.exit() ends without an error)
 * @property {() => void} drain delivers what a dead worker had still sent
 * @property {() => void} close
 *
 * @typedef {object} WorkerLink the worker's end
 * @property {(message: object | typeof BELL) => void} send
 * @property {Ring} [requests] to a thread: the reader's side
 * @property {Ring} [replies] from a thread: the writer's side
 * @property {(listener: (message: any) => void) => void} listen
 * @property {() => void} close
 */

/**
 * The pool's end of a line to a thread.
 * @returns {PoolLink}
 */
function linkToThread() {
  const { port1, port2 } = new MessageChannel();
  /** @type {(message: any) => void} */
  let listener = () => {};
  let open = true;
  const requests = createRing(RING_SIZE);
  const replies = createRing(RING_SIZE);
  return {
    requests,
    replies,
    task: { port: port2, rings: { requests: requests.memory, replies: replies.memory } },
    runOptions: { transferList: [port2] },
    send: (message) => port1.postMessage(message),
    listen(onMessage, onEnd) {
      listener = onMessage;
      port1.on('message', listener);
      port1.on('close', () => {
        open = false;
        onEnd();
      });
    },
    drain() {
      // Node.js 20 crashes when a closed port is read; one that closed has delivered everything anyway.
      if (!open) return;
      for (
        let entry = receiveMessageOnPort(port1);
        entry !== undefined;
        entry = receiveMessageOnPort(port1)
      ) {
        listener(entry.message);
      }
    },
    close: () => port1.close(),
  };
}

/**
 * The pool's end of a line to a child process.
 * @returns {PoolLink}
 */
function linkToProcess() {
  /** @type {(message: any) => void} */
  let listener = () => {};
  /** @type {((message: any) => void) | undefined} */
  let sender;
  const channel = {
    onMessage(/** @type {(message: any) => void} */ send) {
      sender = send;
    },
    postMessage: (/** @type {any} */ message) => listener(message),
    onClose() {
      sender = undefined;
    },
  };
  return {
    task: {},
    runOptions: { channel },
    send(message) {
      try {
        sender?.(message);
      } catch {
        // The process is gone and its channel closed: its end is about to be reported.
      }
    },
    listen(onMessage) {
      listener = onMessage;
    },
    drain() {},
    close() {
      sender = undefined;
    },
  };
}

/**
 * @param {'threads' | 'processes'} mode
 * @returns {PoolLink}
 */
export function createLink(mode) {
  return mode === 'threads' ? linkToThread() : linkToProcess();
}

/**
 * The worker's end.
 * @param {{port?: import('node:worker_threads').MessagePort,
 *   rings?: {requests: SharedArrayBuffer, replies: SharedArrayBuffer}}} task from the pool's end
 * @returns {WorkerLink}
 */
export function openLink({ port, rings }) {
  if (port !== undefined) {
    return {
      requests: rings && new Ring(rings.requests),
      replies: rings && new Ring(rings.replies),
      send: (message) => port.postMessage(message),
      listen: (listener) => void port.on('message', listener),
      close: () => port.close(),
    };
  }
  return {
    send: (message) => void process.send?.(message),
    listen(listener) {
      process.on('message', (/** @type {any} */ message) => {
        if (message?.__tinypool_worker_message__ !== true) listener(message);
      });
    },
    close() {},
  };
}

/** A reply's status is below this in its record of the ring; above it is how long its header fields are as JSON. */
const STATUSES = 1024;

/**
 * Writes a reply of text into the ring of replies.
 * @param {Ring} ring
 * @param {number} sequence
 * @param {import('./reply.mjs').Reply & {body: string}} reply
 * @returns {boolean} whether there was room
 */
export function writeReply(ring, sequence, { statusCode, headers, body }) {
  if (headers === undefined) return ring.write(sequence, statusCode, body);
  const fields = JSON.stringify(headers);
  return ring.write(sequence, statusCode + fields.length * STATUSES, fields + body);
}

/**
 * @param {number} status the number in a reply's record
 * @param {string} text its text
 * @returns {[statusCode: number, headers: Record<string, string | string[]> | undefined, body: string]}
 */
export function readReply(status, text) {
  const length = Math.floor(status / STATUSES);
  if (length === 0) return [status, undefined, text];
  return [status % STATUSES, JSON.parse(text.slice(0, length)), text.slice(length)];
}

/**
 * Bytes as they cross to or from a worker: a copy of exactly these bytes for a thread (a Buffer is often a window on a larger
 * block), base64 for a process, whose channel speaks JSON.
 * @param {Uint8Array} bytes
 * @param {'threads' | 'processes'} mode
 * @returns {Uint8Array | {base64: string}}
 */
export function packBytes(bytes, mode) {
  if (mode === 'threads') return new Uint8Array(bytes);
  return { base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') };
}

/**
 * @param {any} packed from `packBytes`
 * @returns {Buffer}
 */
export function unpackBytes(packed) {
  if (packed instanceof Uint8Array) return Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  return Buffer.from(packed.base64, 'base64');
}
