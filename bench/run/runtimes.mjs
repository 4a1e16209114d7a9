// The runtimes that peers are measured on: the Node.js at hand, Bun, and a newer Node.js for what the one at hand has not.

import { currentRuntime, pinnedRuntime } from '../../__test__/runner/runtimes.mjs';

/**
 * @typedef {'node' | 'bun' | 'new-node'} RuntimeName
 * @typedef {{ title: string, path: string } | { title: string, missing: string }} Runtime
 */

/** @type {Map<RuntimeName, Runtime>} */
const found = new Map();

/**
 * @param {RuntimeName} name `'new-node'` is one that has node:sqlite
 * @returns {Runtime}
 */
export function runtime(name) {
  const known = found.get(name);
  if (known !== undefined) return known;
  const wanted = find(name);
  const result =
    wanted.path === undefined
      ? { title: wanted.title, missing: String(wanted.skip).split('\n')[0] }
      : { title: wanted.title, path: wanted.path };
  found.set(name, result);
  return result;
}

/** @param {RuntimeName} name */
function find(name) {
  if (name === 'bun') return pinnedRuntime('bun');
  const current = currentRuntime();
  if (current.kind === 'bun') throw new Error('start the benchmarks with Node.js: they run Bun themselves');
  if (name === 'node') return current;
  const [major, minor] = process.versions.node.split('.').map(Number);
  const hasSqlite = major > 22 || (major === 22 && minor >= 13);
  return hasSqlite ? current : pinnedRuntime('node');
}
