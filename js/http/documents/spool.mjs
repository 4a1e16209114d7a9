// A body on its way to a worker: small ones as bytes, larger ones as a file, so that they are never held as a whole.

import { randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemFailure } from '../../failure.mjs';

/** NDJSON above this many bytes goes through a file. */
const SPOOL_FROM = 1024 * 1024;

/**
 * Asks a handler about NDJSON, which it finds as bytes in `body` or as the path of a file in `file`.
 * @param {import('../streams.mjs').Ask} ask
 * @param {Record<string, any>} request
 * @param {AsyncGenerator<Uint8Array, void, void>} lines
 * @returns {Promise<import('../../pool/reply.mjs').Reply>}
 */
export async function askWithLines(ask, request, lines) {
  /** @type {Uint8Array[]} */
  const pieces = [];
  let size = 0;
  while (size <= SPOOL_FROM) {
    const { done, value } = await lines.next();
    if (done) return ask({ ...request, form: 'lines', body: Buffer.concat(pieces) });
    pieces.push(value);
    size += value.length;
  }
  const file = join(tmpdir(), `caretdb-${randomUUID()}.ndjson`);
  try {
    await writePieces(file, pieces, lines);
    return await ask({ ...request, form: 'lines', file });
  } finally {
    await rm(file, { force: true });
  }
}

/** @param {string} file @param {Uint8Array[]} first @param {AsyncIterable<Uint8Array>} rest */
async function writePieces(file, first, rest) {
  /** @param {any} error @returns {never} */
  const fail = (error) => {
    throw systemFailure(error, 'a body on its way to a worker', file);
  };
  const handle = await open(file, 'wx', 0o600).catch(fail);
  try {
    for (const piece of first.splice(0)) await handle.writeFile(piece).catch(fail);
    for await (const piece of rest) await handle.writeFile(piece).catch(fail);
  } finally {
    await handle.close();
  }
}
