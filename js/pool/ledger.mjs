// Who runs what: the few numbers that the pool and one worker share, so that a request that waits in a worker's queue can
// be taken back and given to another worker without ever being run twice.
//
// Before it starts request n, the worker writes "started n" and then reads whether n was withdrawn; to withdraw, the pool
// writes "withdrawn from … to …" and then reads what was started. Whichever order the four steps fall in, at least one side
// sees the other: a request above the started number that the pool reads is surely not run by this worker, and one at or
// below it is answered or handed back by the worker.
//
// Threads share the numbers in memory. Processes share them in a small file that is never synced: reads and writes of one
// page of the system's page cache are what two processes have in common without an addon.

import { closeSync, openSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs';

const STARTED = 0;
const WITHDRAWN = 1;
const FROM = 2;
const TO = 3;
const CELLS = 4;

/**
 * Sequence numbers are 32-bit and wrap around; they are compared by distance.
 * @param {number} a
 * @param {number} b
 * @returns {boolean} whether `a` is `b` or came after it
 */
export function atOrAfter(a, b) {
  return ((a - b) | 0) >= 0;
}

/** The numbers in memory, for worker threads. */
class MemoryCells {
  /** @param {SharedArrayBuffer} buffer */
  constructor(buffer) {
    this.buffer = buffer;
    this.cells = new Int32Array(buffer);
  }

  /** @param {number} cell */
  read(cell) {
    return Atomics.load(this.cells, cell);
  }

  /** @param {number} cell @param {number} value */
  write(cell, value) {
    Atomics.store(this.cells, cell, value);
  }

  close() {}
}

/** The numbers in a file, for child processes. */
class FileCells {
  /** @param {string} path an existing file of CELLS numbers */
  constructor(path) {
    this.file = openSync(path, 'r+');
    this.bytes = Buffer.alloc(4);
  }

  /** @param {number} cell */
  read(cell) {
    readSync(this.file, this.bytes, 0, 4, cell * 4);
    return this.bytes.readInt32LE(0);
  }

  /** @param {number} cell @param {number} value */
  write(cell, value) {
    this.bytes.writeInt32LE(value, 0);
    writeSync(this.file, this.bytes, 0, 4, cell * 4);
  }

  close() {
    closeSync(this.file);
  }
}

/** The shared numbers of one worker, with the operations of both sides. */
export class Ledger {
  /** @param {MemoryCells | FileCells} cells @param {string} [path] the file to remove on close */
  constructor(cells, path) {
    this.cells = cells;
    this.path = path;
  }

  /**
   * The worker's step before a request.
   * @param {number} sequence the request's number
   * @returns {boolean} whether it may run; false: it was withdrawn and is to be handed back
   */
  start(sequence) {
    this.cells.write(STARTED, sequence);
    return !this.isWithdrawn(sequence);
  }

  /** @param {number} sequence */
  isWithdrawn(sequence) {
    if (this.cells.read(WITHDRAWN) === 0) return false;
    return atOrAfter(sequence, this.cells.read(FROM)) && atOrAfter(this.cells.read(TO), sequence);
  }

  /** The number of the request that the worker started last. */
  started() {
    return this.cells.read(STARTED);
  }

  /**
   * The pool's step: takes back the requests `from` to `to`.
   * @param {number} from
   * @param {number} to
   * @returns {number} the number started last: those above it are the pool's again, for certain
   */
  withdraw(from, to) {
    this.cells.write(FROM, from);
    this.cells.write(TO, to);
    this.cells.write(WITHDRAWN, 1);
    return this.cells.read(STARTED);
  }

  /** Ends a withdrawal, once the worker has handed everything back. */
  readmit() {
    this.cells.write(WITHDRAWN, 0);
  }

  close() {
    this.cells.close();
    if (this.path !== undefined) rmSync(this.path, { force: true });
  }
}

/**
 * Makes the pool's side of a ledger.
 * @param {string} [path] a file to make, for a process; nothing: shared memory, for a thread
 * @returns {{ledger: Ledger, handle: SharedArrayBuffer | string}} the handle goes to the worker
 */
export function createLedger(path) {
  if (path === undefined) {
    const buffer = new SharedArrayBuffer(CELLS * 4);
    return { ledger: new Ledger(new MemoryCells(buffer)), handle: buffer };
  }
  writeFileSync(path, Buffer.alloc(CELLS * 4), { mode: 0o600, flag: 'wx' });
  return { ledger: new Ledger(new FileCells(path), path), handle: path };
}

/**
 * Opens the worker's side.
 * @param {SharedArrayBuffer | string} handle from `createLedger`
 * @returns {Ledger}
 */
export function openLedger(handle) {
  return new Ledger(typeof handle === 'string' ? new FileCells(handle) : new MemoryCells(handle));
}
