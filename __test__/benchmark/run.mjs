// Runs the benchmark's handler in this process, on a store of its own, as the worker pool would call it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { handler as pastRuns } from '../../js/handlers/benchmark/past-runs.mjs';
import { handler } from '../../js/handlers/benchmark.mjs';
import * as mgdbx from '../../js/mg-dbx.mjs';

/** A store in a temporary folder, and what a handler is given to work on it. */
export class BenchmarkStore {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'caretdb-benchmark-'));
    /** @type {any} */
    this.db = new mgdbx.server();
    this.db.open({ type: 'CaretDB', path: join(this.folder, 'store'), durability: 'process' });
  }

  close() {
    this.db.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * @param {string} name
   * @param {...(string | number)} fixed
   * @returns {any}
   */
  global(name, ...fixed) {
    return new mgdbx.mglobal(this.db, name, ...fixed);
  }

  /**
   * @param {object} body of the request
   * @param {{ signal?: AbortSignal, progress?: (progress: any) => void, mgdbx?: object }} [context] in place of the usual
   * @returns {Promise<any>} the reply
   */
  run(body, context = {}) {
    const { mglobal, mcursor, server } = mgdbx;
    const given = {
      progress: context.progress ?? (() => {}),
      signal: context.signal ?? new AbortController().signal,
      mgdbx: { db: this.db, server, mglobal, mcursor, ...context.mgdbx },
    };
    return new Promise((resolve, reject) => {
      handler.call(/** @type {any} */ (given), { data: { body } }, resolve).catch(reject);
    });
  }

  /**
   * @param {'GET' | 'DELETE'} method
   * @param {string} [id] of one run
   * @returns {Promise<any>} the reply of the history's routes
   */
  history(method, id) {
    const context = /** @type {any} */ ({ mgdbx: { db: this.db, mglobal: mgdbx.mglobal } });
    return new Promise((resolve) => {
      pastRuns.call(context, { data: { method, params: id === undefined ? {} : { id } } }, resolve);
    });
  }

  /**
   * The mg-dbx classes, with some methods of every global replaced.
   *
   * @param {(real: any) => Record<string, (...given: any[]) => unknown>} replacements
   */
  replacing(replacements) {
    const { mglobal } = mgdbx;
    /** @type {any} */
    const changed = class {
      /** @param {...any} given */
      constructor(...given) {
        const [db, name, ...fixed] = given;
        const real = new mglobal(db, name, ...fixed);
        const original = new mglobal(db, name, ...fixed);
        // biome-ignore lint/correctness/noConstructorReturn: the caller must get a real global, with some methods of its own
        return Object.assign(real, replacements(original));
      }
    };
    return { mglobal: changed };
  }
}

/** Another connection on a benchmark's store, as another worker has it. */
export class SecondConnection {
  /** @param {BenchmarkStore} store */
  constructor(store) {
    /** @type {any} */
    this.db = new mgdbx.server();
    this.db.open({ type: 'CaretDB', path: join(store.folder, 'store'), durability: 'process' });
    /** @type {any} */
    this.marks = new mgdbx.mglobal(this.db, '%caretdb', 'benchmark');
  }

  close() {
    this.db.close();
  }
}

export const PERSON = `{name: 'Rob', address: {houseNo: 9, city: 'Redhill', county: 'Surrey'}, telephone: '0790123456'}`;
