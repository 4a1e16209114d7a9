// `caretdb copy`: a whole store into another one, of whatever engine, and the proof that both hold the same.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { addon } from '../addon.mjs';
import { copyAttachments, withoutCollection } from '../attachments/copy.mjs';
import { fault } from '../exchange/faults.mjs';
import { isUrl } from '../place.mjs';
import { requireStore } from './folder.mjs';
import { TypingError } from './nodes.mjs';
import { count, Progress } from './output.mjs';

/** How many bytes of entries are read and written at a time. */
const PAGE = 1 << 20;
/** What stands before an entry of a page: the lengths of its key and its value. */
const HEAD = 8;
const NOTHING = new Uint8Array();

/** @type {import('./commands.mjs').Command} */
export const copyCommand = {
  takes: '--from <place> --to <place>',
  summary: 'moves a whole store to another engine or place',
  teaches: `A place is a folder or a postgres:// URL. What is copied is the source as of one moment; others may go on writing
there. Attachments come along. The target must be empty, or is emptied with --replace. Afterwards both are read and
compared. A copy that was cut short leaves a mark in its target, which the next copy finds; with --replace it begins anew.

Examples
  caretdb copy --from ./data --to postgres://app@db.example/app?sslmode=verify-full
  caretdb copy --from ./data --to ./data-sled --to-engine sled
  caretdb copy --from postgres://app@db.example/app --to ./back-on-disk`,
  options: {
    from: { type: 'string', help: 'the store to copy; default is --data' },
    to: { type: 'string', help: 'where to' },
    'to-engine': { type: 'string', help: 'the engine of a new folder: lmdb (default) or sled' },
    replace: { type: 'boolean', help: 'delete what the target holds' },
  },
  positionals: [0, 0],
  async run({ out }, _, options) {
    const { to, replace = false, json } = options;
    const from = options.from ?? options.data;
    if (from === undefined || to === undefined)
      throw new TypingError('copy takes --from <place> --to <place>');
    if (samePlace(from, to)) throw new TypingError('the source and the target are the same store');
    requireStore(from);
    const source = opened(from, options.engine, true);
    try {
      const target = opened(to, options['to-engine'], false);
      try {
        if (!replace) refuseWhatIsThere(target);
        const { entries, attachments, bytes } = await copy(source, target);
        if (json) out.json({ entries, attachments, bytes, from: source.path(), to: target.path() });
        else {
          const more =
            attachments === 0 ? '' : `, ${count(attachments)} attachments with ${count(bytes)} bytes`;
          out.line(`${count(entries)} entries${more} copied and compared: ${target.path()}`);
        }
      } finally {
        target.close();
      }
    } finally {
      source.close();
    }
  },
};

/** @param {string} from @param {string} to */
function samePlace(from, to) {
  return isUrl(from) || isUrl(to) ? from === to : resolve(from) === resolve(to);
}

/**
 * @param {string} place
 * @param {string | undefined} engine
 * @param {boolean} readOnly
 */
function opened(place, engine, readOnly) {
  const connection = new addon.server();
  const found = !isUrl(place) && existsSync(join(place, 'sled')) ? 'sled' : undefined;
  const chosen = engine ?? found;
  connection.open({
    type: 'CaretDB',
    path: place,
    readOnly,
    ...(chosen === undefined ? {} : { engine: chosen }),
  });
  return connection;
}

/**
 * @param {any} source
 * @param {any} target
 * @returns {Promise<{ entries: number, attachments: number, bytes: number }>} how many of each, and the attachments' bytes
 */
async function copy(source, target) {
  const progress = new Progress();
  try {
    target.beginCopy(`from ${source.path()}, begun ${new Date().toISOString()}`);
    const { entries, ...attached } = await withoutCollection(source, async () => {
      const copied = copyEntries(source, target, progress);
      return {
        entries: copied,
        ...(await copyAttachments(source, target, (...done) => progress.show(...done))),
      };
    });
    target.endCopy();
    target.sync();
    return { entries, ...attached };
  } finally {
    progress.end();
  }
}

/**
 * @param {any} source
 * @param {any} target
 * @param {Progress} progress
 * @returns {number} how many entries
 */
function copyEntries(source, target, progress) {
  const total = source.stats().entries;
  source.hold();
  try {
    const sent = walk(source, (page, done) => {
      target.writeEntries(page);
      progress.show('copy', done, total);
    });
    target.sync();
    const arrived = walk(target, (_, done) => progress.show('compare', done, sent.entries));
    if (arrived.entries !== sent.entries || arrived.sum !== sent.sum) {
      throw fault(
        'ERR_CORRUPT',
        `the target holds ${count(arrived.entries)} entries and the source ${count(sent.entries)}, or other ones: did somebody write to the target? Copy again with --replace`,
      );
    }
    return sent.entries;
  } finally {
    source.release();
  }
}

/** @param {any} target */
function refuseWhatIsThere(target) {
  const unfinished = target.unfinishedCopy();
  if (unfinished !== '') {
    throw fault(
      'ERR_LOCKED',
      `${target.path()} holds a copy that has not come to its end (${unfinished}): if nobody is at it, begin it anew with --replace`,
    );
  }
  if (target.readEntries(NOTHING, 1).length > 0) {
    throw fault(
      'ERR_LOCKED',
      `${target.path()} is not empty: take another target, or delete what it holds with --replace`,
    );
  }
}

/**
 * Reads all entries of a store, in order.
 *
 * @param {any} store
 * @param {(page: Buffer, done: number) => void} visit
 * @returns {{ entries: number, sum: string }} how many, and a checksum of all their bytes
 */
function walk(store, visit) {
  const hash = createHash('sha256');
  let entries = 0;
  let behind = NOTHING;
  for (;;) {
    const bytes = store.readEntries(behind, PAGE);
    if (bytes.length === 0) return { entries, sum: hash.digest('hex') };
    const page = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    hash.update(page);
    for (let at = 0; at < page.length; ) {
      const [key, value] = [page.readUInt32LE(at), page.readUInt32LE(at + 4)];
      behind = page.subarray(at + HEAD, at + HEAD + key);
      at += HEAD + key + value;
      entries += 1;
    }
    visit(page, entries);
  }
}
