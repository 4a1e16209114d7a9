// Moves nodes in. A file is read twice: once to find everything that is wrong with it, then, if nothing is, to write it.
// So a file with a mistake changes nothing, and memory does not grow with the file.

import { Buffer } from 'node:buffer';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { fault } from './faults.mjs';
import { charsetFor, formatOf, recognise } from './formats.mjs';
import { readLines } from './lines.mjs';
import { store } from './marks.mjs';
import { CARETDB_NAMES, Names } from './names.mjs';

/** @typedef {{ line: number, code: string, message: string }} Fault */

/**
 * @typedef {object} ImportOptions
 * @property {string} [format] `zwr`, `go`, `jsonl` or `glsdb`; default: what the file looks like
 * @property {string} [charset] of `zwr`: `utf-8`, the default, `latin1` or `m`; of `go`: `m`, the default, or `latin1`
 * @property {boolean} [keepGoing] leave out what is wrong and write the rest
 * @property {boolean} [rename] give globals whose names are not allowed another name, rather than refuse them
 * @property {boolean} [dryRun] look for mistakes and write nothing
 * @property {(phase: 'checking' | 'writing', bytes: number, total: number) => void} [onProgress]
 */

/**
 * @typedef {object} ImportResult
 * @property {number} nodes how many were written, or with `dryRun` would be
 * @property {number} faults how many lines were left out
 * @property {Fault[]} shown the first of them
 * @property {Map<string, string>} renamed
 */

/** A smaller file is one transaction. A larger one would keep other writers out for too long, so it is several. */
const ONE_TRANSACTION = 64 << 20;
const BATCH_NODES = 50_000;
const BATCH_CHARACTERS = 16 << 20;
const SHOWN_FAULTS = 20;

/**
 * Lays the nodes of a file over what is stored.
 *
 * @param {any} db a Database
 * @param {string} path a file that can be read twice
 * @param {ImportOptions} [options]
 * @returns {ImportResult}
 * @throws {Error} with `line`, `faults` and `shown` where lines are wrong and `keepGoing` is not set: nothing was
 *   written then. Where the store fails while writing (a full disk), the message says how much is in.
 * @example
 * importNodes(db, './person.zwr', { charset: 'latin1' });
 */
export function importNodes(db, path, options = {}) {
  const file = openFile(path);
  try {
    const format = formatOf(options.format ?? recogniseFile(file, path));
    const charset = charsetFor(format, options.charset);
    const source = { file, total: fstatSync(file).size, format, charset };
    const check = new Check(db, source, options).run();
    const { faults, shown } = check;
    if (faults > 0 && !options.keepGoing) throw refused(check, path);
    const nodes = options.dryRun ? check.nodes : new Writer(db, source, options, check.names).run();
    return { nodes, faults, shown, renamed: check.names.renamed };
  } finally {
    closeSync(file);
  }
}

/** @param {string} path */
function openFile(path) {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw fault('ERR_IO', `cannot read ${path}: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {number} file @param {string} path */
function recogniseFile(file, path) {
  const start = Buffer.alloc(64 << 10);
  let length = 0;
  try {
    length = readSync(file, start, 0, start.length, 0);
  } catch (error) {
    throw fault('ERR_IO', `cannot read ${path}: ${/** @type {Error} */ (error).message}`);
  }
  if (length === 0) throw fault('ERR_BAD_VALUE', `${path} is empty`);
  const found = recognise(start.toString('latin1', 0, length).split(/\r?\n/));
  if (found !== undefined) return found;
  throw fault(
    'ERR_BAD_VALUE',
    `${path} looks like none of zwr, go, jsonl and glsdb: say which it is with --format`,
  );
}

/** @param {Check} check @param {string} path */
function refused({ faults, shown, source }, path) {
  const lines = shown.map(({ line, message }) => `${path}:${line}: ${message}`);
  const more = faults > shown.length ? [`and ${faults - shown.length} more`] : [];
  const hint =
    source.charset.name === 'utf-8' && shown.some(({ message }) => message === NOT_UTF8)
      ? ['a file of M mode is read with --charset latin1 or --charset m']
      : [];
  return fault(
    shown[0].code,
    [...lines, ...more, ...hint, 'nothing was imported; --keep-going imports the rest'].join('\n'),
    { line: shown[0].line, faults, shown },
  );
}

const NOT_UTF8 = 'the line is not UTF-8';

/**
 * @typedef {{ file: number, total: number, format: import('./formats.mjs').Format,
 *   charset: import('./charset.mjs').Charset }} Source
 */

/**
 * Reads a file's nodes.
 *
 * @param {Source} source
 * @param {(node: import('./formats.mjs').Node, line: number, size: number) => void} take
 * @param {(error: any, line: number) => void} refuse
 * @param {(bytes: number) => void} progress
 */
function readNodes({ file, format, charset }, take, refuse, progress) {
  const reader = format.reader(charset);
  let last = 0;
  readLines(file, charset.encoding, {
    take(text, line) {
      last = line;
      let node;
      try {
        node = reader.read(text);
      } catch (error) {
        refuse(error, line);
      }
      if (node !== undefined) take(node, line, text.length);
    },
    refuse(line) {
      last = line;
      // A format of several lines a node keeps count of them.
      try {
        reader.read('');
      } catch {}
      refuse(fault('ERR_BAD_VALUE', NOT_UTF8), line);
    },
    progress,
  });
  try {
    reader.end();
  } catch (error) {
    refuse(error, last);
  }
}

/** The first reading: finds what is wrong, and how globals are to be called. */
class Check {
  nodes = 0;
  faults = 0;
  /** @type {Fault[]} */
  shown = [];
  #db;
  #options;
  /** @type {Set<string>} */
  #seen = new Set();
  /** @type {any} */
  #last;

  /**
   * @param {any} db
   * @param {Source} source
   * @param {ImportOptions} options
   */
  constructor(db, source, options) {
    this.#db = db;
    this.source = source;
    this.#options = options;
    this.names = new Names(CARETDB_NAMES, false);
  }

  run() {
    const { source } = this;
    const { onProgress } = this.#options;
    readNodes(
      source,
      (node, line) => this.#node(node, line),
      (error, line) => this.#fault(error, line),
      (bytes) => onProgress?.('checking', bytes, source.total),
    );
    if (this.#options.rename) {
      this.names = new Names(CARETDB_NAMES, true, this.#seen);
      for (const name of this.#seen) this.names.of(name);
    }
    return this;
  }

  /** @param {import('./formats.mjs').Node} node @param {number} line */
  #node({ name, subscripts }, line) {
    try {
      // A name that is going to change is checked as the longest that it may become.
      const certain = !this.#options.rename || CARETDB_NAMES.allows(name);
      const checked = certain ? this.names.of(name) : 'X'.repeat(Math.min(255, name.length + RENAMED_GROWS));
      // Any read would do: the question is whether the key can be.
      this.#global(checked).has(...subscripts);
    } catch (error) {
      this.#fault(error, line);
      return;
    }
    this.#seen.add(name);
    this.nodes += 1;
  }

  /** @param {string} name */
  #global(name) {
    if (this.#last?.name !== name) this.#last = this.#db.global(name);
    return this.#last;
  }

  /** @param {any} error @param {number} line */
  #fault(error, line) {
    if (typeof error?.code !== 'string') throw error;
    this.faults += 1;
    if (this.shown.length < SHOWN_FAULTS) this.shown.push({ line, code: error.code, message: error.message });
  }
}

/** How much longer a name may become: a letter in front, a count at the end. */
const RENAMED_GROWS = 8;

/** What is wrong with a node rather than with the store. */
const NODE_FAULTS = new Set(['ERR_ARG', 'ERR_BAD_NAME', 'ERR_BAD_KEY', 'ERR_KEY_TOO_LONG', 'ERR_BAD_VALUE']);

/** The second reading: writes, in as few transactions as other writers can bear. */
class Writer {
  #db;
  #source;
  #options;
  #names;
  #nodes = 0;
  /** @type {Map<string, any>} */
  #globals = new Map();

  /**
   * @param {any} db
   * @param {Source} source
   * @param {ImportOptions} options
   * @param {Names} names
   */
  constructor(db, source, options, names) {
    this.#db = db;
    this.#source = source;
    this.#options = options;
    this.#names = names;
  }

  /** @returns {number} how many nodes were written */
  run() {
    if (this.#source.total > ONE_TRANSACTION) this.#inBatches();
    else this.#db.transaction(() => this.#read((node, line) => this.#write(node, line)));
    return this.#nodes;
  }

  #inBatches() {
    /** @type {[import('./formats.mjs').Node, number][]} */
    let batch = [];
    let characters = 0;
    const commit = () => {
      this.#commit(batch);
      [batch, characters] = [[], 0];
    };
    this.#read((node, line, size) => {
      batch.push([node, line]);
      characters += size;
      if (batch.length >= BATCH_NODES || characters >= BATCH_CHARACTERS) commit();
    });
    commit();
  }

  /** @param {[import('./formats.mjs').Node, number][]} batch */
  #commit(batch) {
    const before = this.#nodes;
    try {
      this.#db.transaction(() => {
        for (const [node, line] of batch) this.#write(node, line);
      });
    } catch (error) {
      this.#nodes = before;
      if (error instanceof Error) {
        error.message += `; ${before} nodes before line ${batch[0][1]} are imported, the others are not: importing the file again is safe`;
      }
      throw error;
    }
  }

  /** @param {(node: import('./formats.mjs').Node, line: number, size: number) => void} take */
  #read(take) {
    const { onProgress, keepGoing } = this.#options;
    readNodes(
      this.#source,
      take,
      (error) => {
        // The first reading found nothing, so the file has changed since.
        if (!keepGoing) throw error;
      },
      (bytes) => onProgress?.('writing', bytes, this.#source.total),
    );
  }

  /** @param {import('./formats.mjs').Node} node @param {number} line */
  #write({ name, subscripts, value }, line) {
    try {
      store(this.#global(name), subscripts, value);
      this.#nodes += 1;
    } catch (error) {
      const { code, message } = /** @type {any} */ (error);
      if (typeof code !== 'string') throw error;
      if (!NODE_FAULTS.has(code)) throw fault(code, `line ${line}: ${message}`, { line, cause: error });
      // Without `keepGoing` the first reading has refused these.
      if (!this.#options.keepGoing) throw error;
    }
  }

  /** @param {string} name */
  #global(name) {
    let global = this.#globals.get(name);
    if (global === undefined) {
      global = this.#db.global(this.#names.of(name));
      this.#globals.set(name, global);
    }
    return global;
  }
}
