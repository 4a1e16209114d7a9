// The mg-dbx face: the classes of mg-dbx-napi. Their calls are native; here is what is made of several calls.

import { addon } from './addon.mjs';
import { asOne } from './as-one.mjs';
import { failure } from './failure.mjs';
import { SHAPES } from './iterate.mjs';
import { backup } from './native/long-work.mjs';

/** @type {typeof import('../index.d.ts').server} */
export const server = addon.server;
/** @type {WeakMap<object, any>} the connection of each mglobal: what is made of several calls may need a transaction of it */
const connections = new WeakMap();

class ConnectedGlobal extends addon.mglobal {
  /** @param {any[]} parameters the connection first */
  constructor(...parameters) {
    super(...parameters);
    connections.set(this, parameters[0]);
  }
}
Object.defineProperty(ConnectedGlobal, 'name', { value: 'mglobal' });

/** @type {typeof import('../index.d.ts').mglobal} */
export const mglobal = /** @type {any} */ (ConnectedGlobal);
/** @type {typeof import('../index.d.ts').mcursor} */
export const mcursor = addon.mcursor;
/** @type {typeof import('../index.d.ts').mclass} */
export const mclass = addon.mclass;

/** How many nodes `getchildnodes` answers where `max` is not given. */
const DEFAULT_MAX = 100;

/**
 * Runs `work` under the lock that the options ask for.
 *
 * @template T
 * @param {any} global
 * @param {string} method
 * @param {unknown[]} subscripts
 * @param {{ lock?: boolean, locktimeout?: number }} options
 * @param {() => T} work
 * @returns {T}
 */
function underLock(global, method, subscripts, options, work) {
  if (!options.lock) return work();
  const timeout = options.locktimeout ?? -1;
  const locked = global.lock(...subscripts, timeout);
  // Without an open store nothing can be locked, and the work finds nothing.
  if (locked === '') return work();
  if (locked !== '1') {
    throw failure('ERR_BUSY', `${method}: the lock was not free within ${timeout} s`);
  }
  try {
    return work();
  } finally {
    global.unlock(...subscripts);
  }
}

/**
 * Splits the partial key from the last arguments.
 *
 * @param {unknown} value
 * @returns {value is Record<string, any>}
 */
const isOptions = (value) =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !ArrayBuffer.isView(value) &&
  !(value instanceof ArrayBuffer);

Object.defineProperties(server.prototype, {
  init: {
    configurable: true,
    /** @this {any} @returns {number} 1 once a store is open, else 0 */
    get() {
      return this.path() === '' ? 0 : 1;
    },
  },
  backup: {
    configurable: true,
    writable: true,
    /** @this {any} @param {string} path @param {any} [options] */
    value(path, options) {
      return backup(this, path, options);
    },
  },
});

Object.defineProperties(mglobal.prototype, {
  setchildnodes: {
    configurable: true,
    writable: true,
    /**
     * Stores child nodes, all or none: `setchildnodes([...partialKey,] nodes[, options])`.
     *
     * @this {any}
     * @param {...any} parameters
     * @returns {string} always `''`
     */
    value: function setchildnodes(...parameters) {
      const options = parameters.length > 1 && isOptions(parameters.at(-1)) ? parameters.pop() : {};
      const nodes = parameters.pop();
      if (!Array.isArray(nodes)) {
        throw failure('ERR_ARG', 'setchildnodes: the child nodes must be an array');
      }
      // Read before anything is written, so that a wrong one leaves all as it was. Holes are skipped.
      const rows = [...nodes.entries()]
        .filter(([index]) => index in nodes)
        .map(([index, node]) => (options.numerickeys ? [index, node] : childRow(index, node)));
      // As the last argument a function would be a callback, called after the end.
      if (rows.some((row) => typeof row.at(-1) === 'function'))
        throw failure('ERR_ARG', 'setchildnodes: a function cannot be stored');
      const connection = connections.get(this);
      // Without an open store nothing is stored and there is nothing to undo, as with `set`.
      if (connection.path() === '') return '';
      return underLock(this, 'setchildnodes', parameters, options, () => {
        asOne(connection, () => {
          for (const row of rows) this.set(...parameters, ...row);
        });
        return '';
      });
    },
  },
  getchildnodes: {
    configurable: true,
    writable: true,
    /**
     * Answers child nodes: `getchildnodes([...partialKey,] [options])`.
     *
     * @this {any}
     * @param {...any} parameters
     * @returns {any[]} keys, `{key}` or `{key, data}`, or the values where `numerickeys` is set
     */
    value: function getchildnodes(...parameters) {
      const options = isOptions(parameters.at(-1)) ? parameters.pop() : {};
      const { max } = options;
      if (max !== undefined && !(typeof max === 'number' && max >= 0)) {
        throw failure('ERR_ARG', 'getchildnodes: max must be a number of nodes');
      }
      return underLock(this, 'getchildnodes', parameters, options, () =>
        options.numerickeys ? numbered(this, parameters, options) : children(this, parameters, options),
      );
    },
  },
});

/**
 * @param {number} index
 * @param {any} node
 * @returns {unknown[]} the key's elements and the data
 */
function childRow(index, node) {
  if (typeof node !== 'object' || node === null || node.key === undefined) {
    throw failure('ERR_ARG', `setchildnodes: node ${index} must be an object {key, data}`);
  }
  const key = Array.isArray(node.key) ? node.key : [node.key];
  if (key.length === 0) throw failure('ERR_ARG', `setchildnodes: node ${index} has an empty key`);
  return [...key, node.data === undefined ? '' : node.data];
}

/**
 * @param {any} global
 * @param {unknown[]} partialKey
 * @param {{ getdata?: boolean, max?: number, start?: unknown, end?: unknown }} options
 */
function children(global, partialKey, options) {
  const shape = options.getdata ? SHAPES.entries : SHAPES.keys;
  const page = global.scan(
    partialKey,
    shape.number,
    options.max ?? DEFAULT_MAX,
    false,
    boundary(options.start),
    1,
    boundary(options.end),
    1,
    false,
    undefined,
  );
  if (!options.getdata) return page;
  const found = [];
  for (let at = 0; at < page.length; at += 2) {
    found.push(page[at + 1] === undefined ? { key: page[at] } : { key: page[at], data: page[at + 1] });
  }
  return found;
}

/** @param {unknown} key a first or last key; none and the empty string mean all */
const boundary = (key) => (key === '' || key === null ? undefined : key);

/**
 * @param {any} global
 * @param {unknown[]} partialKey
 * @param {{ max?: number, end?: unknown }} options
 */
function numbered(global, partialKey, options) {
  const found = [];
  const max = options.max ?? DEFAULT_MAX;
  const end = options.end === undefined ? Number.POSITIVE_INFINITY : Number(options.end);
  for (let index = 0; found.length < max && index <= end; index++) {
    const defined = global.defined(...partialKey, index);
    if (defined === '0' || defined === '') break;
    found.push(defined === '10' ? undefined : global.get(...partialKey, index));
  }
  return found;
}
