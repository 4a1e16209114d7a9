// How CaretDB's rates change with the number of nodes, the size of a value and the depth of a key: the native face, `relaxed`.
// Each function measures one point on a fresh store and answers operations a second.

import { wrongRecord } from '../run/check.mjs';

/** Operations of each kind at each point; fewer where they are large. */
const OPERATIONS = 200_000;

/** How many nodes one transaction loads. */
const LOAD = 100_000;

/** @param {number} count @param {(at: number) => void} act @returns {number} operations a second */
function rate(count, act) {
  const begun = performance.now();
  for (let at = 0; at < count; at++) act(at);
  return count / ((performance.now() - begun) / 1000);
}

/** Numbers below `most` that look random and are always the same. @param {number} most */
function randomNumbers(most) {
  let state = 88172645;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % most;
  };
}

/**
 * `^scaling(n)="hello world"` for n below `nodes`.
 *
 * @param {any} db
 * @param {number} nodes
 */
export function nodes(db, nodes) {
  const global = db.global('scaling');
  for (let first = 0; first < nodes; first += LOAD) {
    db.transaction(() => {
      for (let n = first; n < Math.min(first + LOAD, nodes); n++) global.set(n, 'hello world');
    });
  }
  // The log of the load belongs to no figure.
  db.syncNow();
  const random = randomNumbers(nodes);
  let key = '';
  return {
    'get, random': rate(OPERATIONS, () => {
      const n = random();
      if (global.get(n) !== 'hello world') throw wrongRecord(n, global.get(n));
    }),
    next: rate(OPERATIONS, () => {
      key = global.next(key) ?? '';
    }),
    'set of an old node, random': rate(OPERATIONS, () => global.set(random(), 'hello again')),
    'set of a new node, random': rate(OPERATIONS, () => global.set(random() + 0.5, 'hello world')),
    'set of a new node, at the end': rate(OPERATIONS, (at) => global.set(nodes + at, 'hello world')),
  };
}

/** Values of `size` bytes. @param {any} db @param {number} size */
export function valueSize(db, size) {
  const global = db.global('scaling');
  const value = Buffer.alloc(size, 'caretdb ');
  const count = Math.max(50, Math.min(OPERATIONS / 4, Math.floor(100e6 / size)));
  const set = rate(count, (n) => global.set(n, value));
  const get = rate(count, (n) => {
    const found = global.get(n);
    if (found.length !== size || found[0] !== value[0] || found[size - 1] !== value[size - 1]) {
      throw wrongRecord(n, found);
    }
  });
  return { set, get };
}

/** Keys of `depth` subscripts. @param {any} db @param {number} depth */
export function keyDepth(db, depth) {
  const global = db.global('scaling');
  const above = Array.from({ length: depth - 1 }, (_, level) => `level ${level}`);
  const count = OPERATIONS / 2;
  return {
    set: rate(count, (n) => global.set(...above, n, 'hello world')),
    get: rate(count, (n) => {
      const found = global.get(...above, n);
      if (found !== 'hello world') throw wrongRecord(n, found);
    }),
    next: rate(count, (n) => {
      if (global.next(...above, n) !== (n === count - 1 ? undefined : n + 1))
        throw wrongRecord(n, 'not next');
    }),
  };
}

/**
 * What one of several threads or processes does for some time, on a store that `share` filled.
 *
 * @type {Record<string, (db: any, member: number, seconds: number) => number>} how many operations it did
 */
export const shared = {
  get(db, member, seconds) {
    const global = db.global('scaling');
    const random = randomNumbers(SHARED);
    for (let skip = 0; skip < member * 1000; skip++) random();
    return until(seconds, () => {
      const n = random();
      if (global.get(n) !== 'hello world') throw wrongRecord(n, global.get(n));
    });
  },
  set(db, member, seconds) {
    const global = db.global('written', member);
    return until(seconds, (at) => global.set(at, 'hello world'));
  },
};

/** How many nodes the members read. */
const SHARED = 100_000;

/** @param {any} db */
export function share(db) {
  const global = db.global('scaling');
  db.transaction(() => {
    for (let n = 0; n < SHARED; n++) global.set(n, 'hello world');
  });
}

/** @param {number} seconds @param {(at: number) => void} act @returns {number} how often it was done */
function until(seconds, act) {
  const end = performance.now() + seconds * 1000;
  let at = 0;
  do {
    for (let stretch = 0; stretch < 64; stretch++) act(at++);
  } while (performance.now() < end);
  return at;
}
