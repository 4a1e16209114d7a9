// `caretdb export` and `caretdb import`.

import { closeSync, mkdtempSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportNodes } from '../exchange/export.mjs';
import { fault } from '../exchange/faults.mjs';
import { importNodes } from '../exchange/import.mjs';
import { parseReference } from './nodes.mjs';
import { count, Progress, writeAll } from './output.mjs';

const STANDARD_INPUT = 0;

/** Something was left out because it could not be taken. */
const INCOMPLETE = 3;

const FORMAT_OPTION = {
  type: /** @type {const} */ ('string'),
  short: 'f',
  help: 'zwr, go, jsonl or glsdb',
};
const CHARSET_OPTION = {
  type: /** @type {const} */ ('string'),
  help: 'utf-8 (default of zwr), m (M mode, texts are UTF-8; default of go) or latin1 (M mode, a byte is a character)',
};

/** @type {import('./commands.mjs').Command} */
export const exportCommand = {
  takes: '[<node>…] [--output <file>]',
  summary: 'writes nodes to a file or the standard output',
  teaches: `Without a node all globals are written, as of one moment, while others may go on writing.
jsonl keeps every type; zwr and go are what YottaDB and GT.M load (mupip load) and hold text only,
and so does glsdb, the backup text that programs on glsdb write and restore.
The format follows the file's ending: .zwr, .go, .jsonl or .glsdb; otherwise it is jsonl.

Examples
  caretdb export --output all.jsonl
  caretdb export '^Person' --output person.zwr
  caretdb export '^Person(1)' --format zwr
  caretdb export --format zwr --charset m --rename > all.zwr    for M in M mode`,
  options: {
    output: { type: 'string', short: 'o', help: 'the file to write; it is there when it is complete' },
    format: FORMAT_OPTION,
    charset: CHARSET_OPTION,
    rename: { type: 'boolean', help: 'give globals whose names M does not allow another name' },
  },
  positionals: [0, Number.POSITIVE_INFINITY],
  run({ db, out, err }, nodes, { output, format, charset, rename, json }) {
    const file = output === '-' ? undefined : output;
    const places = nodes.length === 0 ? undefined : nodes.map(parseReference);
    const store = db('read');
    const progress = new Progress();
    const expected = places === undefined ? store.stats().entries : undefined;
    const options = {
      format: format ?? formatByEnding(file) ?? 'jsonl',
      charset,
      rename,
      places,
      onProgress: (/** @type {number} */ done) => progress.show('export', done, expected),
    };
    let result;
    try {
      result =
        file === undefined
          ? exportNodes(store, (piece) => out.bytes(piece), options)
          : toFile(file, (write) => exportNodes(store, write, options));
    } finally {
      progress.end();
    }
    // The standard output may be the export itself.
    const report = file === undefined ? err : out;
    if (json) report.json({ nodes: result.nodes, renamed: Object.fromEntries(result.renamed) });
    else {
      for (const [from, to] of result.renamed) err.line(`^${from} is ^${to} there`);
      if (file !== undefined) report.line(`${count(result.nodes)} nodes in ${file}`);
    }
  },
};

/** @param {string} [file] */
function formatByEnding(file) {
  const ending = /\.(zwr|go|gex|jsonl|ndjson|glsdb)$/i.exec(file ?? '')?.[1].toLowerCase();
  return ending === 'gex' ? 'go' : ending;
}

/**
 * Makes a file that is either complete or not there.
 *
 * @template T
 * @param {string} path
 * @param {(write: (piece: Uint8Array) => void) => T} work
 * @returns {T}
 */
function toFile(path, work) {
  const partial = `${path}.${process.pid}.partial`;
  let file;
  try {
    file = openSync(partial, 'wx');
    const open = file;
    const result = work((piece) => writeAll(open, piece));
    closeSync(file);
    file = undefined;
    renameSync(partial, path);
    return result;
  } catch (error) {
    if (file !== undefined) closeSync(file);
    rmSync(partial, { force: true });
    throw systemFault(error, `cannot write ${path}`);
  }
}

/** @param {any} error @param {string} what */
function systemFault(error, what) {
  if (error?.syscall === undefined) return error;
  return fault(error.code === 'ENOSPC' ? 'ERR_DISK_FULL' : 'ERR_IO', `${what}: ${error.message}`);
}

/** @type {import('./commands.mjs').Command} */
export const importCommand = {
  takes: '<file>',
  summary: 'reads nodes from a file, or from - the standard input',
  teaches: `The nodes are laid over what is stored. The file is read through first; if a line of it is wrong, nothing is
imported and the lines are named. A file of up to 64 MiB is one transaction, a larger one several.
It may be what mupip extract wrote (zwr or go), a backup of a program on glsdb, or what caretdb export wrote; the format is recognised.

Examples
  caretdb import person.zwr
  caretdb import old.zwr --charset latin1    from M in M mode
  caretdb import all.jsonl --dry-run         only looks for mistakes
  caretdb import all.jsonl --keep-going      leaves out the lines that are wrong`,
  options: {
    format: FORMAT_OPTION,
    charset: CHARSET_OPTION,
    'keep-going': {
      type: 'boolean',
      help: 'leave out what is wrong and import the rest; the exit status is 3 then',
    },
    rename: { type: 'boolean', help: 'give globals whose names are not allowed another name' },
    'dry-run': { type: 'boolean', help: 'look for mistakes and write nothing' },
  },
  positionals: [1, 1],
  run(context, [path], options) {
    return path === '-'
      ? fromInput((copy) => importFile(context, copy, options))
      : importFile(context, path, options);
  },
};

/**
 * @param {import('./commands.mjs').Context} context
 * @param {string} path
 * @param {Record<string, any>} options
 */
function importFile({ db, out, err }, path, options) {
  const progress = new Progress();
  const dryRun = options['dry-run'];
  let result;
  try {
    result = importNodes(db(dryRun ? 'read' : 'write'), path, {
      format: options.format,
      charset: options.charset,
      keepGoing: options['keep-going'],
      rename: options.rename,
      dryRun,
      onProgress: (phase, done, total) => progress.show(phase, done, total),
    });
  } finally {
    progress.end();
  }
  const { nodes, faults, shown, renamed } = result;
  if (options.json) out.json({ nodes, faults, shown, renamed: Object.fromEntries(renamed) });
  else {
    for (const { line, message } of shown) err.line(`${path}:${line}: ${message}`);
    if (faults > shown.length) err.line(`and ${count(faults - shown.length)} more`);
    for (const [from, to] of renamed) err.line(`${JSON.stringify(from)} is ^${to} here`);
    const left = faults > 0 ? `, ${count(faults)} lines left out` : '';
    out.line(`${count(nodes)} nodes ${dryRun ? 'could be imported' : 'imported'}${left}`);
  }
  return faults > 0 ? INCOMPLETE : 0;
}

/**
 * Keeps the standard input in a file, because an import reads twice.
 *
 * @template T
 * @param {(path: string) => T} work
 * @returns {T}
 */
function fromInput(work) {
  const folder = mkdtempSync(join(tmpdir(), 'caretdb-import-'));
  const path = join(folder, 'input');
  try {
    const file = openSync(path, 'w');
    const chunk = Buffer.allocUnsafe(1 << 20);
    for (let length = readInput(chunk); length > 0; length = readInput(chunk)) {
      writeSync(file, chunk, 0, length);
    }
    closeSync(file);
    return work(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** @param {Buffer} chunk @returns {number} 0 at the end */
function readInput(chunk) {
  for (;;) {
    try {
      return readSync(STANDARD_INPUT, chunk, 0, chunk.length, null);
    } catch (error) {
      const { code } = /** @type {any} */ (error);
      if (code === 'EOF') return 0;
      if (code !== 'EAGAIN') throw error;
      // Whoever writes has nothing yet, and somebody made the input non-blocking.
      Atomics.wait(PAUSE, 0, 0, 10);
    }
  }
}
