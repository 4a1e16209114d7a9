// Random calls with random arguments, also inside nested transactions, against a model in memory. A failure prints the
// seed; `CARETDB_SEED=… node --test` runs the same calls again, `CARETDB_STEPS` sets how many.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mcursor, mglobal, server } from 'caretdb';
import { ENGINES, missing, newStore } from '../real/engines.mjs';
import { Model, SUBSCRIPTS } from './model.mjs';
import { callBack, openServer, withCode } from './store.mjs';

const seed = Number(process.env.CARETDB_SEED ?? Math.floor(Math.random() * 2 ** 32));
const STEPS = Number(process.env.CARETDB_STEPS ?? 4000);
const VALUES = ['', '0', '5', '-3', '12abc', 'abc', '007', 'x'.repeat(3000), 'ä€😀', 'a\0b'];

/**
 * Numbers from 0 to below 1 (mulberry32).
 *
 * @param {number} state
 */
function randomFrom(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Fuzz {
  model = new Model();

  /** @param {import('caretdb').server} db @param {import('caretdb').server} other @param {() => number} random */
  constructor(db, other, random) {
    this.db = db;
    this.other = other;
    this.random = random;
    /** @type {any} */
    this.global = new mglobal(db, 'Fuzz');
  }

  /** @template T @param {readonly T[]} list @returns {T} */
  pick(list) {
    return /** @type {T} */ (list[Math.floor(this.random() * list.length)]);
  }

  /** @param {number} [least] @returns {import('./model.mjs').Path} */
  path(least = 0) {
    const length = least + Math.floor(this.random() * 3.2);
    return Array.from({ length }, () => Math.floor(this.random() ** 1.5 * SUBSCRIPTS.length));
  }

  /** The subscripts of a path, each in one of its spellings. @param {import('./model.mjs').Path} path */
  give(path) {
    return path.map((index) => this.pick(/** @type {any} */ (SUBSCRIPTS[index]).given));
  }

  /** @param {string} method @param {any[]} parameters @param {string} expected */
  async call(method, parameters, expected) {
    // An mglobal, the connection, or a callback: all mean the same.
    const way = this.random();
    let answer;
    if (way < 0.6) answer = this.global[method](...parameters);
    else if (way < 0.9) answer = /** @type {any} */ (this.db)[method]('^Fuzz', ...parameters);
    else
      answer = (
        await callBack((callback) => /** @type {any} */ (this.db)[method]('Fuzz', ...parameters, callback))
      ).result;
    assert.equal(
      answer,
      expected,
      `${method}(${parameters.map((each) => JSON.stringify(each?.toString())).join()})`,
    );
  }

  /** @type {Record<string, () => void | Promise<void>>} */
  moves = {
    set: async () => {
      const path = this.path();
      const value = this.pick(VALUES);
      await this.call('set', [...this.give(path), value], '0');
      this.model.set(path, value);
    },
    get: async () => {
      const path = this.path();
      await this.call('get', this.give(path), this.model.get(path));
    },
    defined: async () => {
      const path = this.path();
      await this.call('defined', this.give(path), this.model.defined(path));
    },
    delete: async () => {
      // Rarely near the root, else there would never be much.
      const path = this.path(this.random() < 0.1 ? 0 : 2);
      await this.call('delete', this.give(path), '0');
      this.model.delete(path);
    },
    increment: async () => {
      const path = this.path();
      const by = Math.floor(this.random() * 20) - 10;
      await this.call(
        'increment',
        [...this.give(path), this.pick([by, String(by)])],
        this.model.increment(path, by),
      );
    },
    step: async () => {
      const path = this.path(1);
      const parent = path.slice(0, -1);
      const children = this.model.children(parent);
      const seed = path.at(-1) ?? 0;
      const next = children.find((index) => index > seed);
      const previous = children.findLast((index) => index < seed);
      const shown = (/** @type {number | undefined} */ index) =>
        index === undefined ? '' : (SUBSCRIPTS[index]?.shown ?? '');
      await this.call('next', this.give(path), shown(next));
      await this.call('previous', this.give(path), shown(previous));
      await this.call('next', [...this.give(parent), ''], shown(children[0]));
      await this.call('previous', [...this.give(parent), ''], shown(children.at(-1)));
    },
    children: () => {
      const parent = this.path();
      const [low, high] = [this.path(1)[0] ?? 0, this.path(1)[0] ?? 0];
      const expected = this.model.children(parent);
      const shown = (/** @type {number} */ index) => SUBSCRIPTS[index]?.shown;
      assert.deepEqual(this.global.getchildnodes(...this.give(parent)), expected.map(shown));
      const [start] = this.give([low]);
      const [end] = this.give([high]);
      assert.deepEqual(
        this.global.getchildnodes(...this.give(parent), { start, end, getdata: true }),
        expected
          .filter((index) => index >= low && index <= high)
          .map((index) => {
            const path = [...parent, index];
            const hasValue = this.model.defined(path).endsWith('1');
            return hasValue ? { key: shown(index), data: this.model.get(path) } : { key: shown(index) };
          }),
      );
    },
    merge: () => {
      const [to, from] = [this.path(), this.path()];
      // Nine of the longest subscripts still fit into a key.
      const leaves = this.model.leaves();
      const deepest = Math.max(0, ...leaves.map(({ path }) => path.length));
      if (leaves.length > 600 || to.length + deepest - from.length > 9) return;
      assert.equal(this.global.merge(...this.give(to), this.global, ...this.give(from)), '0');
      this.model.merge(to, from);
    },
    start: () => {
      if (this.model.level >= 4) return;
      assert.equal(this.db.tstart(), '0');
      this.model.start();
    },
    commit: () => {
      assert.equal(this.db.tcommit(), this.model.level > 0 ? '0' : '');
      this.model.commit();
    },
    rollback: () => {
      assert.equal(this.db.trollback(), this.model.level > 0 ? '0' : '');
      this.model.rollback();
    },
    beside: () => {
      const path = this.path();
      assert.equal(this.other.get('Fuzz', ...this.give(path)), this.model.committed().get(path));
      if (this.model.level > 0) {
        assert.throws(() => this.other.set('Fuzz', ...this.give(path), 'x'), withCode('ERR_TX'));
      } else {
        this.other.set('Fuzz', ...this.give(path), 'beside');
        this.model.set(path, 'beside');
      }
    },
    wrong: () => {
      assert.throws(() => this.global.set(...this.give(this.path()), null), withCode('ERR_ARG'));
      assert.throws(() => this.global.set('k'.repeat(1200), 'x'), withCode('ERR_KEY_TOO_LONG'));
      assert.throws(
        () => this.global.merge('k'.repeat(1000), 'k'.repeat(1000), this.global),
        withCode('ERR_KEY_TOO_LONG'),
      );
    },
    walk: () => {
      const expected = this.model.leaves().filter(({ path }) => path.length > 0);
      const shown = expected.map(({ path, value }) => ({
        key: path.map((index) => SUBSCRIPTS[index]?.shown),
        data: value,
      }));
      const cursor = new mcursor(this.db, { global: 'Fuzz', key: [''] }, { multilevel: true, getdata: true });
      const forwards = [];
      for (let leaf = cursor.next(); leaf !== null; leaf = cursor.next()) forwards.push(leaf);
      assert.deepEqual(forwards, shown);
      const back = new mcursor(this.db, { global: 'Fuzz', key: [''] }, { multilevel: true, getdata: true });
      const backwards = [];
      for (let leaf = back.previous(); leaf !== null; leaf = back.previous()) backwards.push(leaf);
      assert.deepEqual(backwards.reverse(), shown);
    },
  };

  /** How often each move is made. */
  static weights = {
    set: 30,
    get: 10,
    defined: 10,
    delete: 4,
    increment: 8,
    step: 10,
    children: 3,
    merge: 3,
    start: 4,
    commit: 3,
    rollback: 2,
    beside: 3,
    wrong: 1,
    walk: 1,
  };

  static bag = Object.entries(Fuzz.weights).flatMap(([name, weight]) => Array(weight).fill(name));

  async step() {
    const name = this.pick(Fuzz.bag);
    await this.moves[name]?.();
    assert.equal(this.db.tlevel(), String(this.model.level));
    return name;
  }
}

for (const engine of ENGINES) {
  describe(`random calls on ${engine}`, { skip: missing(engine) }, () => {
    // Over a line each call takes longer.
    const steps = engine === 'postgres' ? STEPS / 4 : STEPS;
    it(`answer as the model does (seed ${seed}, ${steps} steps)`, async () => {
      const { db, path } = openServer({ ...newStore(engine) });
      const other = new server();
      other.open({ path, engine });
      const fuzz = new Fuzz(db, other, randomFrom(seed));
      for (let step = 1; step <= steps; step++) {
        try {
          await fuzz.step();
        } catch (cause) {
          throw new Error(`seed ${seed}, step ${step} of ${steps} on ${engine}`, { cause });
        }
      }
      while (fuzz.model.level > 0) fuzz.moves.commit?.();
      fuzz.moves.walk?.();
      // What is there is there after opening again, too.
      db.close();
      other.close();
      db.open({ path, engine });
      fuzz.moves.walk?.();
      db.close();
    });
  });
}
