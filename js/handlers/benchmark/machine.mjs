// What a run's figures depend on besides what was asked for: the machine, the runtime and how the store is kept.

import { arch, availableParallelism, cpus, platform, totalmem } from 'node:os';
import { VERSION } from '../../version.mjs';

/**
 * @typedef {object} Machine
 * @property {string} processor
 * @property {number} cores
 * @property {number} memory in bytes
 * @property {string} system such as `linux x64`
 * @property {string} runtime such as `Node.js 20.20.2`
 * @property {string} server which of the two servers
 * @property {string} caretdb this package's version
 * @property {string} engine of the store
 * @property {string} durability of the store, where the engine has that choice
 */

/**
 * @param {import('./counted.mjs').Connection} db
 * @param {string} [serverName]
 * @returns {Machine}
 */
export function machine(db, serverName = '') {
  const { bun, node } = process.versions;
  return {
    processor: cpus()[0]?.model.trim() ?? '',
    cores: availableParallelism(),
    memory: totalmem(),
    system: `${platform()} ${arch()}`,
    runtime: bun === undefined ? `Node.js ${node}` : `Bun ${bun}`,
    server: serverName,
    caretdb: VERSION,
    // It is told as `CaretDB 0.1.0 (lmdb) /the/folder`.
    engine: /\((\w+)\)/.exec(db.dbversion())?.[1] ?? '',
    durability: db.durability(),
  };
}
