// What a listener knows of a store: every change it was told of, done to a model that began empty.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** @typedef {import('caretdb').Change} Change */

export class Replica {
  /** Values by `global(subscripts)`. @type {Map<string, any>} */
  nodes = new Map();
  lost = 0;
  told = 0;
  /** What is told of a transaction before its last change is no state of the store. */
  whole = true;

  /** @param {Change} change */
  apply = ({ kind, global, subscripts, value, transaction, last }) => {
    assert.ok(kind === 'lost' || transaction > 0);
    this.told += 1;
    this.whole = last;
    const at = [global, ...subscripts];
    if (kind === 'lost') this.lost += 1;
    else if (kind === 'set') this.nodes.set(JSON.stringify(at), value);
    else if (kind === 'deleteValue') this.nodes.delete(JSON.stringify(at));
    else {
      const below = `${JSON.stringify(at).slice(0, -1)},`;
      for (const key of this.nodes.keys()) {
        if (key === JSON.stringify(at) || key.startsWith(below)) this.nodes.delete(key);
      }
    }
  };

  /** @returns {[string, any][]} */
  entries() {
    return [...this.nodes].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/**
 * @param {import('caretdb').Database} db
 * @returns {[string, any][]} what the store has, as a replica spells it
 */
export function contents(db) {
  return db.snapshot(() => {
    const replica = new Replica();
    for (const name of db.globals()) {
      const global = db.global(name);
      if (global.has()) replica.nodes.set(JSON.stringify([name]), global.get());
      for (const [subscripts, value] of global.leaves()) {
        replica.nodes.set(JSON.stringify([name, ...subscripts]), value);
      }
    }
    return replica.entries();
  });
}

/**
 * Waits until something is so, while the event loop goes on.
 *
 * @param {string} what
 * @param {() => boolean} isSo
 */
export async function until(what, isSo) {
  const begun = Date.now();
  while (!isSo()) {
    if (Date.now() - begun > 60_000) throw new Error(`waited in vain for ${what}`);
    await sleep(2);
  }
}
