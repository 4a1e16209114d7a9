// A store in memory, by the plainest means, to compare random calls with. Its subscripts come from a fixed list in M's
// order, so that it need not know how M orders.

import { Buffer } from 'node:buffer';

/** How a program may give each subscript, and how it comes back; in M's order. */
export const SUBSCRIPTS = [
  { shown: '-2', given: [-2, '-2'] },
  { shown: '-.5', given: [-0.5, '-.5'] },
  { shown: '0', given: [0, -0, '0'] },
  { shown: '.5', given: [0.5, '.5', Buffer.from('.5')] },
  { shown: '1', given: [1, '1', 1n] },
  { shown: '2', given: [2, '2'] },
  { shown: '10', given: [10, '10'] },
  { shown: '-0', given: ['-0'] },
  { shown: '01', given: ['01'] },
  { shown: '1.0', given: ['1.0'] },
  { shown: 'A', given: ['A', Buffer.from('A')] },
  { shown: 'a', given: ['a'] },
  { shown: 'a\0', given: ['a\0'] },
  { shown: 'aa', given: ['aa'] },
  { shown: 'b'.repeat(100), given: ['b'.repeat(100)] },
  { shown: 'true', given: [true, 'true'] },
  { shown: 'ä', given: ['ä'] },
  { shown: '😀', given: ['😀'] },
];

/** @typedef {number[]} Path the indexes of the subscripts in {@link SUBSCRIPTS} */

/**
 * Compares two paths: a node before its children, siblings in their order.
 *
 * @param {Path} a
 * @param {Path} b
 */
function compare(a, b) {
  for (let level = 0; level < Math.min(a.length, b.length); level++) {
    if (a[level] !== b[level]) return a[level] - b[level];
  }
  return a.length - b.length;
}

/** @param {Path} path @param {Path} above */
const isWithin = (path, above) => above.every((index, level) => path[level] === index);

/** The number that text begins with, as M reads it, for the short whole numbers used here. @param {string} text */
const numberOf = (text) => Number(/^-?\d{1,9}/.exec(text)?.[0] ?? 0);

export class Model {
  /** @type {Map<string, { path: Path, value: string }>} */
  #nodes = new Map();
  /** @type {Map<string, { path: Path, value: string }>[]} */
  #levels = [];

  /** @param {Path} path */
  get(path) {
    return this.#nodes.get(path.join())?.value ?? '';
  }

  /** @param {Path} path @param {string} value */
  set(path, value) {
    this.#nodes.set(path.join(), { path, value });
  }

  /** @param {Path} path */
  delete(path) {
    for (const [key, node] of this.#nodes) if (isWithin(node.path, path)) this.#nodes.delete(key);
  }

  /** @param {Path} path */
  defined(path) {
    const value = this.#nodes.has(path.join());
    const below = [...this.#nodes.values()].some(
      (node) => node.path.length > path.length && isWithin(node.path, path),
    );
    return `${below ? 1 : ''}${value ? 1 : 0}`;
  }

  /** @param {Path} path @param {number} by */
  increment(path, by) {
    const sum = String(numberOf(this.get(path)) + by);
    this.set(path, sum);
    return sum;
  }

  /** @param {Path} to @param {Path} from */
  merge(to, from) {
    const source = [...this.#nodes.values()].filter((node) => isWithin(node.path, from));
    for (const { path, value } of source) this.set([...to, ...path.slice(from.length)], value);
  }

  /** @param {Path} parent @returns {number[]} the children, in order */
  children(parent) {
    const found = new Set();
    for (const { path } of this.#nodes.values()) {
      if (path.length > parent.length && isWithin(path, parent)) found.add(path[parent.length]);
    }
    return [...found].sort((a, b) => a - b);
  }

  /** @returns {{ path: Path, value: string }[]} all nodes with a value, in order */
  leaves() {
    return [...this.#nodes.values()].sort((a, b) => compare(a.path, b.path));
  }

  get level() {
    return this.#levels.length;
  }

  start() {
    this.#levels.push(new Map(this.#nodes));
  }

  commit() {
    this.#levels.pop();
  }

  rollback() {
    this.#nodes = this.#levels.pop() ?? this.#nodes;
  }

  /** What other connections see. @returns {Model} */
  committed() {
    const other = new Model();
    other.#nodes = new Map(this.#levels[0] ?? this.#nodes);
    return other;
  }
}
