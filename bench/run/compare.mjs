// Runs a workload on every peer, the peers taking turns in each round, each time in a fresh process and a fresh folder.

import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder, removeFolder } from './folders.mjs';
import { progress, progressDone } from './progress.mjs';
import { runtime } from './runtimes.mjs';

/**
 * @typedef {object} Variant one way to use a peer
 * @property {string} name
 * @property {string} durability what a returned write survives
 * @property {import('./runtimes.mjs').RuntimeName[]} [runtimes] where it runs; default the Node.js at hand
 * @property {(folder: string) => any} open
 *
 * @typedef {object} Entrant a variant on a runtime
 * @property {string} name
 * @property {string} durability
 * @property {string} peer the file in peers/
 * @property {string} variant
 * @property {string} path of the runtime
 * @property {string} runtime its title
 *
 * @typedef {object} Wanted
 * @property {string[] | undefined} peers only those whose names contain one of these
 * @property {string[] | undefined} runtimes only these
 */

const child = join(dirname(fileURLToPath(import.meta.url)), 'child.mjs');

/** The files of the peers, in the order of tables: ours first. */
export const PEERS = readdirSync(new URL('../peers/', import.meta.url))
  .map((file) => file.replace('.mjs', ''))
  .sort((a, b) => Number(b === 'caretdb') - Number(a === 'caretdb') || (a < b ? -1 : 1));

/**
 * @param {'keyvalue' | 'documents' | 'attachments'} kind which of a peer's variants
 * @param {Wanted} wanted
 * @returns {Promise<{ entrants: Entrant[], skipped: string[] }>}
 */
export async function findEntrants(kind, wanted) {
  /** @type {Entrant[]} */
  const entrants = [];
  /** @type {string[]} */
  const skipped = [];
  for (const peer of PEERS) {
    const { [kind]: variants, probe } = await import(`../peers/${peer}.mjs`);
    for (const variant of /** @type {Variant[]} */ (variants ?? [])) {
      for (const name of variant.runtimes ?? ['node']) {
        const entrant = `${variant.name}${name === 'bun' ? ', Bun' : ''}`;
        if (wanted.peers !== undefined && !wanted.peers.some((text) => entrant.includes(text))) continue;
        if (wanted.runtimes !== undefined && !wanted.runtimes.includes(name)) continue;
        const where = runtime(/** @type {import('./runtimes.mjs').RuntimeName} */ (name));
        const missing = 'missing' in where ? where.missing : await whyMissing(probe, name);
        if (missing !== undefined) skipped.push(`${entrant}: ${missing}`);
        else if ('path' in where)
          entrants.push({
            name: entrant,
            durability: variant.durability,
            peer,
            variant: variant.name,
            path: where.path,
            runtime: where.title,
          });
      }
    }
  }
  for (const line of skipped) console.error(`SKIPPED ${line}`);
  return { entrants, skipped };
}

/**
 * @param {(() => unknown) | undefined} probe of a peer
 * @param {string} [runtimeName]
 * @returns {Promise<string | undefined>}
 */
export async function whyMissing(probe, runtimeName = 'node') {
  // What only Bun or only a newer Node.js has cannot be tried from here; its runtime was found.
  if (runtimeName !== 'node') return undefined;
  try {
    await probe?.();
    return undefined;
  } catch (error) {
    return /** @type {Error} */ (error).message.split('\n')[0].replace(/ Tried:$/, '');
  }
}

/**
 * @param {object} plan
 * @param {Entrant[]} plan.entrants
 * @param {'keyvalue' | 'documents'} plan.kind
 * @param {string} plan.workload the file in workloads/
 * @param {string[]} plan.parts of the workload, each on a fresh folder
 * @param {Record<string, unknown>[]} plan.turns what the workload is told, for each time that a process does it
 * @param {number} plan.rounds
 * @returns {Promise<{ samples: Taken[], failed: string[] }>}
 *
 * @typedef {import('./statistics.mjs').Sample & { turn: number }} Taken a sample, and which of `turns` it is of
 */
export async function compare({ entrants, kind, workload, parts, turns, rounds }) {
  /** @type {Taken[]} */
  const samples = [];
  /** @type {Map<string, string>} */
  const failed = new Map();
  for (let round = 0; round < rounds; round++) {
    for (const part of parts) {
      // Every round begins with another peer, so that none always finds the machine as the same one left it.
      for (let turn = 0; turn < entrants.length; turn++) {
        const entrant = entrants[(turn + round) % entrants.length];
        if (failed.has(entrant.name)) continue;
        progress(`round ${round + 1} of ${rounds}, ${part}: ${entrant.name}`);
        try {
          const steps = await runChild(entrant, { workload, part, kind, turns });
          samples.push(...steps.map((step) => ({ peer: entrant.name, ...step })));
        } catch (error) {
          // One peer that does not work here must not cost the figures of the others, and it is not passed over either.
          if (entrant.peer === 'caretdb') throw error;
          failed.set(entrant.name, /** @type {Error} */ (error).message);
          console.error(`FAILED ${entrant.name}: ${/** @type {Error} */ (error).message}`);
        }
      }
    }
  }
  progressDone();
  const good = samples.filter(({ peer }) => !failed.has(peer));
  return { samples: good, failed: [...failed].map(([name, why]) => `${name}: ${why}`) };
}

/**
 * @param {Entrant} entrant
 * @param {Record<string, unknown>} task
 * @returns {Promise<{ turn: number, step: string, rate: number, operations: number }[]>}
 */
function runChild(entrant, task) {
  const folder = makeFolder();
  const argument = JSON.stringify({ ...task, peer: entrant.peer, variant: entrant.variant, folder });
  return new Promise((resolve, reject) => {
    const running = spawn(entrant.path, [child, argument], { stdio: ['ignore', 'pipe', 'pipe'] });
    const stop = () => running.kill();
    process.once('exit', stop);
    let lines = '';
    let complaint = '';
    running.stdout.on('data', (text) => {
      lines += text;
    });
    running.stderr.on('data', (text) => {
      complaint += text;
    });
    running.on('error', reject);
    running.on('close', (code, signal) => {
      process.off('exit', stop);
      removeFolder(folder);
      if (code === 0)
        resolve(
          lines
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line)),
        );
      else reject(new Error(`ended with ${code ?? signal}: ${lastError(complaint)}`));
    });
  });
}

/** @param {string} text of standard error @returns {string} the line with the error, or the last one */
function lastError(text) {
  const lines = text.trim().split('\n');
  return lines.find((line) => /\berror\b/i.test(line)) ?? lines.at(-1) ?? '';
}
