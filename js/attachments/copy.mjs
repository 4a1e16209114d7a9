// The files of a store's attachments into another store, whatever it keeps bytes in: `caretdb copy`, once the entries are there.

import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { failure, systemFailure } from '../failure.mjs';
import { placeOf } from './attachments.mjs';
import { verify } from './collect.mjs';
import { CHUNK, fileOf, ownNode, partialOf } from './layout.mjs';
import { Records } from './records.mjs';
import { writerOf } from './uploads.mjs';

/**
 * Keeps the source's files from being collected while something is done.
 *
 * @template R
 * @param {any} server a connection to the source
 * @param {() => Promise<R>} work
 * @returns {Promise<R>} what `work` answers
 */
export async function withoutCollection(server, work) {
  const lock = ownNode(server, 'attachments', 'collect');
  const seconds = 60;
  if (!(await lock.lockLater(seconds))) {
    throw failure(
      'ERR_BUSY',
      `attachments: for ${seconds} s somebody has been removing what is not needed; try again`,
    );
  }
  try {
    return await work();
  } finally {
    await lock.unlockLater();
  }
}

/**
 * Brings the files of all attachments that the target's entries speak of, and reads every attachment of the target.
 *
 * @param {any} source a connection; nobody may collect meanwhile
 * @param {any} target a connection, with the entries of the source
 * @param {(what: string, done: number, total: number) => void} report bytes
 * @returns {Promise<{attachments: number, bytes: number}>} what the target has
 * @throws {Error} `ERR_CORRUPT` where bytes are missing or other than they were
 */
export async function copyAttachments(source, target, report) {
  const records = new Records(target);
  const place = placeOf(target);
  let total = 0;
  for (const { text } of records.all()) total += JSON.parse(text).size;
  let done = 0;
  for (const { owner, text } of records.all()) {
    const attachment = JSON.parse(text);
    if (attachment.kind !== 'file') continue;
    // What a copy that was cut short had begun.
    if (place.files) await rm(partialOf(place.store, attachment.key), { force: true });
    const writer = writerOf(place, attachment.key);
    for await (const piece of bytesOf(fileOf(source.path(), attachment.key))) {
      await writer.write(piece);
      done += piece.length;
      report('attachments', done, total);
    }
    await writer.finish(new Uint8Array());
    if (!place.files) records.names.set(...owner, JSON.stringify({ ...attachment, kind: 'nodes' }));
  }
  const { attachments, bytes, problems } = await verify(target, (read) =>
    report('compare attachments', read, total),
  );
  if (problems.length > 0) {
    const [{ collection, id, name, problem }] = problems;
    throw failure(
      'ERR_CORRUPT',
      `copy: of ${attachments} attachments ${problems.length} did not arrive as they were stored, first ${name} of ${collection} ${id}: ${problem}`,
    );
  }
  return { attachments, bytes };
}

/** @param {string} file */
async function* bytesOf(file) {
  try {
    yield* createReadStream(file, { highWaterMark: CHUNK });
  } catch (error) {
    throw systemFailure(error, 'copy', file);
  }
}
