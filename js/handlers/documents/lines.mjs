// NDJSON: one JSON value a line. Read from bytes or, piece by piece, from a file, so that a long one is never held as a whole.

import { closeSync, openSync, readSync } from 'node:fs';
import { RequestError } from '../../http/errors.mjs';
import { textOf } from '../../http/request.mjs';

const PIECE = 1024 * 1024;
const LINE_FEED = 10;

/** @param {string} path @returns {Generator<Uint8Array>} */
function* piecesOf(path) {
  const file = openSync(path, 'r');
  try {
    for (;;) {
      const piece = new Uint8Array(PIECE);
      const size = readSync(file, piece, 0, PIECE, null);
      if (size === 0) return;
      yield piece.subarray(0, size);
    }
  } finally {
    closeSync(file);
  }
}

/**
 * The lines that hold something.
 * @param {Uint8Array | string} source bytes, or the path of a file
 * @param {number} longest bytes that one line may have
 * @returns {Generator<{where: string, text: string}>} `where` is `line N`, counted from 1
 * @throws {RequestError} 400 where a line is no UTF-8, 413 where it is too long
 */
export function* linesOf(source, longest) {
  let number = 0;
  /** @type {Uint8Array[]} */
  let begun = [];
  let size = 0;
  /** @param {Uint8Array} end */
  const take = (end) => {
    number += 1;
    const bytes = begun.length === 0 ? end : Buffer.concat([...begun, end]);
    if (bytes.length > longest) throw tooLong(number, longest);
    begun = [];
    size = 0;
    return { where: `line ${number}`, text: decoded(bytes, number) };
  };
  for (const piece of typeof source === 'string' ? piecesOf(source) : [source]) {
    let start = 0;
    for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, start)) {
      const line = take(piece.subarray(start, end));
      start = end + 1;
      if (line.text !== '') yield line;
    }
    if (start < piece.length) begun.push(piece.subarray(start));
    size += piece.length - start;
    if (size > longest) throw tooLong(number + 1, longest);
  }
  const last = take(new Uint8Array());
  if (last.text !== '') yield last;
}

/** @param {Uint8Array} bytes @param {number} number */
function decoded(bytes, number) {
  try {
    return textOf(bytes).trim();
  } catch {
    throw new RequestError(400, `line ${number}: it is not valid UTF-8`);
  }
}

/** @param {number} number @param {number} longest */
function tooLong(number, longest) {
  return new RequestError(413, `line ${number}: it is longer than ${longest} bytes`);
}
