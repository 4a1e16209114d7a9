// What the command prints: text gathered into large writes, and progress on a terminal.

import { Buffer } from 'node:buffer';
import { writeSync } from 'node:fs';

const PIECE = 1 << 16;
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** The reader of a pipe has gone, as `head` does: there is nobody left to print for. */
export class ReaderGone extends Error {}

/**
 * Writes everything, also to a pipe whose reader is slow.
 *
 * @param {number} file
 * @param {Uint8Array} bytes
 * @throws {ReaderGone}
 */
export function writeAll(file, bytes) {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(file, bytes, at);
    } catch (error) {
      const { code } = /** @type {any} */ (error);
      if (code === 'EPIPE') throw new ReaderGone();
      if (code !== 'EAGAIN') throw error;
      // The pipe is full and somebody made it non-blocking.
      Atomics.wait(PAUSE, 0, 0, 5);
    }
  }
}

/** Lines for one of the standard outputs. */
export class Output {
  #file;
  #text = '';

  /** @param {number} file */
  constructor(file) {
    this.#file = file;
  }

  /** @param {string} line without its end */
  line(line) {
    this.#text += `${line}\n`;
    if (this.#text.length > PIECE) this.flush();
  }

  /** @param {unknown} value */
  json(value) {
    this.line(JSON.stringify(value));
  }

  /** @param {Uint8Array} bytes as they are */
  bytes(bytes) {
    this.flush();
    writeAll(this.#file, bytes);
  }

  flush() {
    const text = this.#text;
    this.#text = '';
    if (text !== '') writeAll(this.#file, Buffer.from(text));
  }
}

const DRAW_EVERY = 100;
const WIDTH = 24;

/** A bar on stderr, where that is a terminal; elsewhere nothing. */
export class Progress {
  #drawn = 0;
  #shown = false;
  #active = process.stderr.isTTY === true;

  /**
   * @param {string} what
   * @param {number} done
   * @param {number} [total] unknown where left out
   */
  show(what, done, total) {
    if (!this.#active) return;
    const now = Date.now();
    if (now - this.#drawn < DRAW_EVERY) return;
    this.#drawn = now;
    this.#shown = true;
    process.stderr.write(`\r\u001b[K${what} ${total === undefined ? count(done) : bar(done, total)}`);
  }

  /** Takes the bar away. */
  end() {
    if (this.#shown) process.stderr.write('\r\u001b[K');
    this.#shown = false;
  }
}

/** @param {number} done @param {number} total */
function bar(done, total) {
  const part = total === 0 ? 1 : Math.min(1, done / total);
  const full = Math.round(part * WIDTH);
  return `[${'#'.repeat(full)}${' '.repeat(WIDTH - full)}] ${Math.floor(part * 100)} %`;
}

/** @param {number} n @returns {string} with thousands apart */
export function count(n) {
  return n.toLocaleString('en-US');
}
