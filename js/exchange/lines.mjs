// Reads a file line by line in memory that does not grow with the file, only with its longest line.

import { Buffer, constants, isUtf8 } from 'node:buffer';
import { readSync } from 'node:fs';
import { fault } from './faults.mjs';

const CHUNK = 1 << 20;
const NEWLINE = 10;

/**
 * @typedef {object} LineTaker
 * @property {(text: string, line: number) => void} take
 * @property {(line: number) => void} [refuse] told of a line that is not UTF-8
 * @property {(bytes: number) => void} [progress] how far the file is read
 */

/**
 * Gives every line of a file, from the start, without its line end (LF or CR LF, as the first line has it).
 *
 * @param {number} file an open file that can be read by position
 * @param {'utf8' | 'latin1'} encoding
 * @param {LineTaker} taker
 * @throws {Error} `ERR_TOO_LARGE` for a line longer than a string may be
 */
export function readLines(file, encoding, taker) {
  const chunk = Buffer.allocUnsafe(CHUNK);
  const splitter = new Splitter(encoding, taker);
  /** @type {Buffer[]} the pieces of a line that is not complete */
  let held = [];
  let heldBytes = 0;
  let position = 0;
  for (;;) {
    const length = readSync(file, chunk, 0, CHUNK, position);
    if (length === 0) break;
    position += length;
    const end = chunk.lastIndexOf(NEWLINE, length - 1) + 1;
    if (end > 0) splitter.split(Buffer.concat([...held, chunk.subarray(0, end - 1)]));
    if (end > 0) [held, heldBytes] = [[], 0];
    if (end < length) held.push(Buffer.from(chunk.subarray(end, length)));
    heldBytes += length - end;
    if (heldBytes > constants.MAX_STRING_LENGTH) {
      throw fault('ERR_TOO_LARGE', `line ${splitter.line + 1} is longer than a string may be`);
    }
    taker.progress?.(position);
  }
  if (heldBytes > 0) splitter.split(Buffer.concat(held));
}

/** Cuts text into lines and counts them. */
class Splitter {
  line = 0;
  #encoding;
  #taker;
  /** @type {boolean | undefined} */
  #returns;

  /**
   * @param {'utf8' | 'latin1'} encoding
   * @param {LineTaker} taker
   */
  constructor(encoding, taker) {
    this.#encoding = encoding;
    this.#taker = taker;
  }

  /** @param {Buffer} bytes whole lines, without the end of the last one */
  split(bytes) {
    if (this.#encoding === 'utf8' && !isUtf8(bytes)) this.#splitDoubtful(bytes);
    else if (bytes.length > constants.MAX_STRING_LENGTH) this.#splitDoubtful(bytes);
    else for (const text of bytes.toString(this.#encoding).split('\n')) this.#give(text);
  }

  /** @param {Buffer} bytes of which one line is no UTF-8 */
  #splitDoubtful(bytes) {
    let begin = 0;
    while (begin <= bytes.length) {
      const found = bytes.indexOf(NEWLINE, begin);
      const end = found < 0 ? bytes.length : found;
      const line = bytes.subarray(begin, end);
      if (this.#encoding === 'latin1' || isUtf8(line)) this.#give(line.toString(this.#encoding));
      else this.#taker.refuse?.(++this.line);
      begin = end + 1;
    }
  }

  /** @param {string} text */
  #give(text) {
    this.line += 1;
    this.#returns ??= text.endsWith('\r');
    this.#taker.take(this.#returns && text.endsWith('\r') ? text.slice(0, -1) : text, this.line);
  }
}
