// multipart/form-data: documents with their attachments in one request. A part named `document` begins a document; the parts that
// follow, up to the next such part, are its attachments. All of it is committed at once, when the last byte has arrived.

import { Readable } from 'node:stream';
import { RequestError } from '../errors.mjs';
import { settle } from './uploads.mjs';

/**
 * @typedef {import('../../handlers/attachments.mjs').Part} Part
 *
 * @typedef {object} Arrived a document of a form
 * @property {string} where it stands in the form
 * @property {number} start where its JSON begins in the body
 * @property {number} length
 * @property {Part[]} parts its attachments
 */

/** How many bytes of small parts are held; after that, small ones are written as they come, like large ones. */
const HELD = 32 * 1024 * 1024;
/** How many parts a form may have. */
const PARTS = 100_000;

/** Puts the few bytes of many parts into one body for the worker. */
class Packet {
  constructor() {
    /** @type {Uint8Array[]} */
    this.pieces = [];
    this.size = 0;
  }

  /** @param {Uint8Array} bytes @returns {number} where they begin */
  add(bytes) {
    const start = this.size;
    this.pieces.push(bytes);
    this.size += bytes.length;
    return start;
  }

  /** @returns {Uint8Array} */
  body() {
    return Buffer.concat(this.pieces);
  }
}

/** What a form brings. */
export class Form {
  /**
   * @param {(small: number | undefined) => import('../../attachments/uploads.mjs').Upload} begin
   * @param {number} documentLimit bytes of one document
   */
  constructor(begin, documentLimit) {
    this.begin = begin;
    this.documentLimit = documentLimit;
    this.packet = new Packet();
    /** @type {Arrived[]} */
    this.documents = [];
    /** Attachments before any document. @type {Part[]} */
    this.loose = [];
    /** @type {import('../../attachments/uploads.mjs').Upload[]} */
    this.uploads = [];
    this.count = 0;
  }

  /**
   * Reads a form.
   * @param {AsyncIterable<Uint8Array>} body
   * @param {string} contentType with the boundary
   * @returns {Promise<void>}
   * @throws {RequestError}
   */
  async read(body, contentType) {
    try {
      await this.parse(body, contentType);
    } catch (error) {
      await this.abandon();
      throw error;
    }
  }

  /** @param {AsyncIterable<Uint8Array>} body @param {string} contentType */
  async parse(body, contentType) {
    const { Busboy } = await import('@fastify/busboy');
    let parser;
    try {
      parser = new Busboy({
        headers: { 'content-type': contentType },
        isPartAFile: () => true,
        preservePath: true,
        limits: { files: PARTS, parts: PARTS, fieldNameSize: 1000, headerPairs: 100 },
      });
    } catch (error) {
      throw new RequestError(400, `The form cannot be read: ${/** @type {Error} */ (error).message}`);
    }
    const source = Readable.from(body);
    await new Promise((resolve, reject) => {
      const fail = (/** @type {any} */ error) => {
        source.destroy();
        reject(error);
      };
      const unreadable = (/** @type {Error} */ error) =>
        fail(new RequestError(400, `The form cannot be read: ${error.message}`));
      const tooMany = () => fail(new RequestError(413, `The form has more than ${PARTS} parts`));
      // Parts come one after the other; the parser waits for the one that is being read.
      let parts = Promise.resolve();
      parser.on('file', (field, stream, name, _encoding, type) => {
        // A part that is given up is not to blame: what went wrong comes from whoever was reading it.
        stream.on('error', (error) => error.name !== 'AbortError' && unreadable(error));
        parts = parts.then(() => this.part(field, stream, name, type));
        parts.catch(fail);
      });
      parser.on('filesLimit', tooMany);
      parser.on('partsLimit', tooMany);
      parser.on('error', (error) => unreadable(/** @type {Error} */ (error)));
      parser.on('finish', () => parts.then(resolve, fail));
      source.on('error', fail);
      source.pipe(parser);
    });
  }

  /**
   * @param {string} field
   * @param {AsyncIterable<Uint8Array>} stream
   * @param {string | undefined} fileName
   * @param {string} type
   */
  async part(field, stream, fileName, type) {
    this.count += 1;
    if (field === 'document') return this.document(stream);
    const upload = this.begin(this.packet.size > HELD ? 0 : undefined);
    this.uploads.push(upload);
    const { bytes, ...stored } = await upload.take(stream);
    /** @type {Part} */
    const part = { ...stored, name: fileName ?? field, type };
    if (bytes !== undefined) part.start = this.packet.add(bytes);
    (this.documents.at(-1)?.parts ?? this.loose).push(part);
  }

  /** @param {AsyncIterable<Uint8Array>} stream */
  async document(stream) {
    const where = `part ${this.count}`;
    if (this.loose.length > 0) {
      throw new RequestError(
        400,
        `${where}: attachments come behind their document, which a part named 'document' is`,
      );
    }
    const pieces = [];
    let length = 0;
    for await (const piece of stream) {
      length += piece.length;
      if (length > this.documentLimit) {
        throw new RequestError(413, `${where}: the document is larger than ${this.documentLimit} bytes`);
      }
      pieces.push(piece);
    }
    const start = this.packet.add(Buffer.concat(pieces));
    this.documents.push({ where, start, length, parts: [] });
  }

  /** Removes what has arrived. */
  async abandon() {
    for (const upload of this.uploads) await upload.abandon();
  }

  /** @param {import('../../pool/reply.mjs').Reply} reply of the commit */
  settle(reply) {
    return settle(this.uploads, reply);
  }
}
