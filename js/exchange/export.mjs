// Moves nodes out: walks globals or a subtree in one snapshot and gives them as bytes in one of the formats.

import { Buffer } from 'node:buffer';
import { fault } from './faults.mjs';
import { charsetFor, formatOf } from './formats.mjs';
import { withMark } from './marks.mjs';
import { M_NAMES, Names } from './names.mjs';

/** @typedef {{ name: string, subscripts?: any[] }} Place a global, or the node that a subtree hangs on */

/**
 * @typedef {object} ExportOptions
 * @property {string} [format] `zwr`, `go`, `glsdb` or `jsonl`, the default
 * @property {string} [charset] of `zwr`: `utf-8`, the default, `latin1` or `m`; of `go`: `m`, the default, or `latin1`
 * @property {Place[]} [places] default all globals
 * @property {boolean} [rename] give globals whose names M does not allow another name, rather than refuse them
 * @property {(nodes: number) => void} [onProgress] told after every piece
 */

/** Characters that are gathered before they are written. */
const PIECE = 1 << 18;

/**
 * Writes nodes in collation order, all as of one moment.
 *
 * @param {any} db a Database
 * @param {(piece: Buffer) => void} write called with one piece after another; it must not be async
 * @param {ExportOptions} [options]
 * @returns {{ nodes: number, renamed: Map<string, string> }}
 * @throws {Error} `ERR_BAD_NAME`, `ERR_BAD_VALUE`, `ERR_BAD_KEY` for what the format cannot say, naming the node
 * @example
 * exportNodes(db, (piece) => writeSync(file, piece), { format: 'zwr', places: [{ name: 'Person' }] });
 */
export function exportNodes(db, write, options = {}) {
  return db.snapshot(() => new Exporter(db, write, options).run(options.places));
}

class Exporter {
  #db;
  #write;
  #format;
  #charset;
  #options;
  #nodes = 0;
  #text = '';

  /**
   * @param {any} db
   * @param {(piece: Buffer) => void} write
   * @param {ExportOptions} options
   */
  constructor(db, write, options) {
    this.#db = db;
    this.#write = write;
    this.#options = options;
    this.#format = formatOf(options.format ?? 'jsonl');
    this.#charset = charsetFor(this.#format, options.charset);
  }

  /** @param {Place[]} [places] */
  run(places) {
    const all = places ?? Array.from(this.#db.globals(), (name) => ({ name }));
    const names = new Names(
      M_NAMES,
      this.#options.rename ?? false,
      all.map(({ name }) => name),
    );
    // Before anything is written, so that a name that M does not allow leaves no half file behind.
    const outside = all.map(({ name }) => (this.#format.isM ? names.of(name) : name));
    this.#text = this.#format.head(this.#charset, new Date());
    all.forEach((place, index) => {
      this.#subtree(place, outside[index]);
    });
    this.#flush();
    return { nodes: this.#nodes, renamed: names.renamed };
  }

  /**
   * @param {Place} place
   * @param {string} outside what the global is called in the file
   */
  #subtree({ name, subscripts = [] }, outside) {
    const global = this.#db.global(name);
    if (global.has(...subscripts)) {
      this.#node(global, outside, subscripts, global.get(...subscripts));
    }
    const top = subscripts.length === 0 ? global : global.at(...subscripts);
    for (const [below, value] of top.leaves()) {
      this.#node(global, outside, subscripts.length === 0 ? below : [...subscripts, ...below], value);
    }
  }

  /**
   * @param {any} global
   * @param {string} outside
   * @param {any[]} subscripts
   * @param {any} value
   */
  #node(global, outside, subscripts, value) {
    const stored = value === undefined ? withMark(global, subscripts, value) : value;
    try {
      this.#text += this.#format.node(outside, subscripts, stored, this.#charset);
    } catch (error) {
      throw this.#placed(error, global.name, subscripts);
    }
    this.#nodes += 1;
    if (this.#text.length >= PIECE) this.#flush();
  }

  /** @param {any} error @param {string} name @param {any[]} subscripts */
  #placed(error, name, subscripts) {
    if (typeof error?.code !== 'string') return error;
    const place = subscripts.map((subscript) =>
      typeof subscript === 'object' ? 'bytes' : JSON.stringify(subscript),
    );
    const node = place.length === 0 ? `^${name}` : `^${name}(${place.join(',')})`;
    return fault(error.code, `export of ${node}: ${error.message}`);
  }

  #flush() {
    if (this.#text !== '') this.#write(Buffer.from(this.#text, this.#charset.encoding));
    this.#text = '';
    this.#options.onProgress?.(this.#nodes);
  }
}
