// The disk that the databases are on: its raw write rate, and the flush of a file.

import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { workFolder } from './machine.mjs';

const PIECE = Buffer.alloc(1e6, 'caretdb ');

/** One file, written in pieces and flushed once at the end. @param {number} megabytes @returns {number} MB a second */
export function rawWriteRate(megabytes) {
  const file = join(workFolder(), `caretdb-bench-raw-${process.pid}`);
  const descriptor = openSync(file, 'w');
  try {
    const begun = performance.now();
    for (let at = 0; at < megabytes; at++) writeSync(descriptor, PIECE);
    fdatasyncSync(descriptor);
    return megabytes / ((performance.now() - begun) / 1000);
  } finally {
    closeSync(descriptor);
    rmSync(file);
  }
}

/** Waits until what was written to a file, by whomever, is on the disk. @param {string} file */
export function flushFile(file) {
  const descriptor = openSync(file, 'r+');
  try {
    fdatasyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
