// The main thread's side of a store's attachments: a connection of its own, whose locks keep uploads that are under way, and the
// collection of what nobody refers to any more.

import { addon } from '../../addon.mjs';
import { placeOf } from '../../attachments/attachments.mjs';
import { collect, GRACE } from '../../attachments/collect.mjs';
import { Upload } from '../../attachments/uploads.mjs';

/** How long after the first use of attachments everything is looked at once, in milliseconds. */
const FIRST_LOOK = 30_000;

/** @type {WeakMap<import('../service.mjs').Service, Uploads>} */
const known = new WeakMap();

/** The uploads of one server. */
export class Uploads {
  /** @param {import('../service.mjs').Service} service */
  static of(service) {
    let uploads = known.get(service);
    if (uploads === undefined) {
      uploads = new Uploads(service);
      known.set(service, uploads);
    }
    return uploads;
  }

  /** @param {import('../service.mjs').Service} service */
  constructor(service) {
    this.log = service.pool.log;
    this.server = new addon.server();
    this.server.open({ ...service.store, type: 'CaretDB' });
    /** @type {import('../../attachments/uploads.mjs').Place} */
    this.place = placeOf(this.server);
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
    /** @type {Promise<unknown>} */
    this.collecting = Promise.resolve();
    this.first = setTimeout(() => this.collect(true), FIRST_LOOK);
    this.first.unref();
    service.beforeClose.push(() => this.close());
  }

  /**
   * @param {import('../streams.mjs').Ask} ask runs the handler of attachments, about those of the same collection
   * @param {number} [small] how many bytes are held until they are committed
   */
  begin(ask, small) {
    // Where bytes become nodes, a worker writes them: that takes time.
    const writeChunk = async (
      /** @type {string} */ key,
      /** @type {number} */ n,
      /** @type {Uint8Array} */ body,
    ) => void (await asked(ask({ action: 'chunk', key, n, body })));
    const removeChunks = async (/** @type {string} */ key) =>
      void (await asked(ask({ action: 'remove chunks', key })));
    return new Upload({ ...this.place, writeChunk, removeChunks }, small);
  }

  /** Says that bytes may have been dropped. */
  dropped() {
    if (this.timer !== undefined) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.collect(false);
    }, GRACE + 1000);
    this.timer.unref();
  }

  /** @param {boolean} everything */
  collect(everything) {
    this.collecting = this.collecting
      .then(() => collect(this.server, { everything }))
      .catch((error) => this.log.error(`attachments: ${error.stack ?? error}`));
  }

  async close() {
    clearTimeout(this.timer);
    clearTimeout(this.first);
    await this.collecting;
    this.server.close();
  }
}

/** The reply of a worker to something that the caller did not ask for himself. */
class Refused extends Error {
  /** @param {import('../../pool/reply.mjs').Reply} reply */
  constructor(reply) {
    super(`a worker answered ${reply.statusCode}: ${reply.body}`);
    this.reply = reply;
  }
}

/**
 * @param {Promise<import('../../pool/reply.mjs').Reply>} answer
 * @returns {Promise<import('../../pool/reply.mjs').Reply>}
 * @throws {Refused} where it is an error
 */
export async function asked(answer) {
  const reply = await answer;
  if (reply.statusCode >= 400) throw new Refused(reply);
  return reply;
}

/**
 * @param {unknown} error
 * @returns {import('../../pool/reply.mjs').Reply} the reply of the worker
 * @throws the error where it is another one
 */
export function replyOfRefusal(error) {
  if (error instanceof Refused) return error.reply;
  throw error;
}

/**
 * Settles uploads with what became of the commit that was to give them owners.
 * @param {Upload[]} uploads
 * @param {import('../../pool/reply.mjs').Reply} reply
 */
export async function settle(uploads, reply) {
  for (const upload of uploads) {
    // After a fault nobody knows whether it was committed: a collection finds out.
    if (reply.statusCode >= 400 && reply.statusCode < 500) await upload.abandon();
    else await upload.release();
  }
}
