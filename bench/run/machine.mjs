// What a figure was measured on: processor, kernel, file system, runtimes and the versions of the peers.

import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, release, tmpdir, totalmem, type } from 'node:os';
import { resolve } from 'node:path';

/** What this package needs besides the peers. */
const TOOLS = new Set(['autocannon', 'wabt']);

/** The folder that the databases are made in: `BENCH_DIR`, else the system's temporary folder. */
export const workFolder = () => resolve(process.env.BENCH_DIR ?? tmpdir());

/**
 * @typedef {object} Machine
 * @property {string} processor
 * @property {number} cores
 * @property {number} memory GiB
 * @property {string} kernel
 * @property {string} fileSystem of the folder that the databases are in
 * @property {string[]} versions of the runtimes and peers
 */

/**
 * @param {string[]} runtimes their titles
 * @returns {Machine}
 */
export function describeMachine(runtimes) {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown processor',
    cores: availableParallelism(),
    memory: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release()}`,
    fileSystem: fileSystemOf(workFolder()),
    versions: [...runtimes, ...peerVersions()],
  };
}

/** @param {Machine} machine @returns {string} one sentence */
export function spellMachine({ processor, cores, memory, kernel, fileSystem, versions }) {
  return `${processor}, ${cores} cores, ${memory} GiB; ${kernel}; ${fileSystem}; ${versions.join(', ')}.`;
}

/** @param {string} folder @returns {string} the type of the file system that is mounted nearest above it */
function fileSystemOf(folder) {
  try {
    const mounts = readFileSync('/proc/mounts', 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
      .filter(([, point]) => point === '/' || folder === point || folder.startsWith(`${point}/`))
      .sort((a, b) => a[1].length - b[1].length);
    return mounts.at(-1)?.[2] ?? 'unknown file system';
  } catch {
    // only Linux says it there
    return 'unknown file system';
  }
}

/** @returns {string[]} as `lmdb 3.5.6`, of those that this package names */
function peerVersions() {
  const { dependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return Object.entries(dependencies)
    .filter(([name]) => !TOOLS.has(name))
    .map(([name, version]) => `${name} ${version}`);
}
