// The mg-dbx face: the classes of mg-dbx-napi. Their calls are native; here is what is made of several calls.

import { addon } from './addon.mjs';

/** @type {typeof import('../index.d.ts').server} */
export const server = addon.server;
/** @type {typeof import('../index.d.ts').mglobal} */
export const mglobal = addon.mglobal;
/** @type {typeof import('../index.d.ts').mcursor} */
export const mcursor = addon.mcursor;
/** @type {typeof import('../index.d.ts').mclass} */
export const mclass = addon.mclass;

/** How many nodes `getchildnodes` answers where `max` is not given. */
const DEFAULT_MAX = 100;

/**
 * @param {string} method
 * @param {string} message
 * @returns {TypeError & { code: string }}
 */
function wrongArgument(method, message) {
  return Object.assign(new TypeError(`${method}: ${message}`), { code: 'ERR_ARG' });
}

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
  if (global.lock(...subscripts, timeout) !== '1') {
    throw Object.assign(new Error(`${method}: the lock was not free within ${timeout} s`), {
      code: 'ERR_BUSY',
    });
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
  typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);

Object.defineProperties(server.prototype, {
  init: {
    configurable: true,
    /** @this {any} @returns {number} 1 once a store is open, else 0 */
    get() {
      return this.path() === '' ? 0 : 1;
    },
  },
});

Object.defineProperties(mglobal.prototype, {
  setchildnodes: {
    configurable: true,
    writable: true,
    /**
     * Stores child nodes: `setchildnodes([...partialKey,] nodes[, options])`.
     *
     * @this {any}
     * @param {...any} parameters
     * @returns {string} always `''`
     */
    value: function setchildnodes(...parameters) {
      const options = parameters.length > 1 && isOptions(parameters.at(-1)) ? parameters.pop() : {};
      const nodes = parameters.pop();
      if (!Array.isArray(nodes)) {
        throw wrongArgument('setchildnodes', 'the child nodes must be an array');
      }
      return underLock(this, 'setchildnodes', parameters, options, () => {
        nodes.forEach((node, index) => {
          if (options.numerickeys) {
            this.set(...parameters, index, node);
            return;
          }
          if (typeof node !== 'object' || node === null || node.key === undefined) {
            throw wrongArgument('setchildnodes', `node ${index} must be an object {key, data}`);
          }
          const key = Array.isArray(node.key) ? node.key : [node.key];
          this.set(...parameters, ...key, node.data ?? '');
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
      return underLock(this, 'getchildnodes', parameters, options, () =>
        options.numerickeys ? numbered(this, parameters, options) : children(this, parameters, options),
      );
    },
  },
});

/**
 * @param {any} global
 * @param {unknown[]} partialKey
 * @param {{ getdata?: boolean, max?: number, start?: unknown, end?: unknown }} options
 */
function children(global, partialKey, options) {
  const max = options.max ?? DEFAULT_MAX;
  const found = [];
  let key = '';
  if (options.start !== undefined && options.start !== '') {
    key = String(options.start);
    if (global.defined(...partialKey, options.start) === '0') key = global.next(...partialKey, options.start);
  } else {
    key = global.next(...partialKey, '');
  }
  const end = options.end === undefined || options.end === '' ? '' : lastKey(global, partialKey, options.end);
  for (; key !== '' && found.length < max; key = global.next(...partialKey, key)) {
    if (options.end !== undefined && options.end !== '' && end === '') break;
    found.push(options.getdata ? withData(global, partialKey, key) : key);
    if (key === end) break;
  }
  return found;
}

/**
 * The last key at or before `end`, so that reaching it can be seen by comparing texts.
 *
 * @param {any} global
 * @param {unknown[]} partialKey
 * @param {unknown} end
 * @returns {string}
 */
function lastKey(global, partialKey, end) {
  const after = global.next(...partialKey, end);
  return after === '' ? global.previous(...partialKey, '') : global.previous(...partialKey, after);
}

/**
 * @param {any} global
 * @param {unknown[]} partialKey
 * @param {string} key
 */
function withData(global, partialKey, key) {
  const hasValue = Number(global.defined(...partialKey, key)) % 10 === 1;
  return hasValue ? { key, data: global.get(...partialKey, key) } : { key };
}

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
    if (defined === '0') break;
    found.push(defined === '10' ? undefined : global.get(...partialKey, index));
  }
  return found;
}
