// The line between the pool and one worker. tinypool gives a worker one task at a time and hears nothing before it ends, so a
// worker's whole life is one task of tinypool, and requests, replies, progress and log lines travel beside it: over a
// message port to a thread, over the process's own channel to a child process.
//
// Messages are plain values. To the worker: `{requests}`, `{cancel}`, `{stop}`; to the pool: `{ready}`, `{failed}`, `{replies}`,
// `{handedBack}`, `{progress}`, `{log}`, `{fault}`, `{fatal}` (worker.mjs says what is in each).

import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';

/**
 * @typedef {object} PoolLink the pool's end
 * @property {object} task what the worker's task needs to open its end
 * @property {object} runOptions what `Tinypool.run` needs
 * @property {(message: object) => void} send
 * @property {(onMessage: (message: any) => void, onEnd: () => void) => void} listen `onEnd` is called when the other end is gone,
 *   where that can be seen (a thread that calls process.exit() ends without an error)
 * @property {() => void} drain delivers what a dead worker had still sent
 * @property {() => void} close
 *
 * @typedef {object} WorkerLink the worker's end
 * @property {(message: object) => void} send
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
  return {
    task: { port: port2 },
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
 * @param {{port?: import('node:worker_threads').MessagePort}} task from the pool's end
 * @returns {WorkerLink}
 */
export function openLink({ port }) {
  if (port !== undefined) {
    return {
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
