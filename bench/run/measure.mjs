// Measuring: rounds in which the peers take turns, medians and spread, and the machine they ran on.

import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';

/**
 * @typedef {object} Sample
 * @property {string} peer
 * @property {string} step
 * @property {number} rate operations a second
 *
 * @typedef {object} Step what is timed
 * @property {string} name
 * @property {number} operations how many operations one run of it makes
 * @property {(subject: any) => void | Promise<void>} run it throws where a result is wrong
 *
 * @typedef {object} Peer
 * @property {string} name
 * @property {string} durability what a returned write survives
 * @property {(folder: string) => any} open
 * @property {(subject: any) => void | Promise<void>} close
 */

/**
 * Runs every step on every peer, `rounds` times, peer after peer within each round, each time on a fresh folder.
 *
 * @param {Peer[]} peers
 * @param {(peer: Peer) => Step[]} stepsOf the steps a peer can do, in order; later ones use what earlier ones wrote
 * @param {number} rounds
 * @returns {Promise<Sample[]>}
 */
export async function measure(peers, stepsOf, rounds) {
  /** @type {Sample[]} */
  const samples = [];
  for (let round = 0; round < rounds; round++) {
    // Every round begins with another peer, so that none always finds the machine as the same one left it.
    for (let turn = 0; turn < peers.length; turn++) {
      const peer = peers[(turn + round) % peers.length];
      process.stderr.write(`round ${round + 1} of ${rounds}: ${peer.name}            \r`);
      samples.push(...(await measurePeer(peer, stepsOf(peer))));
    }
  }
  process.stderr.write(' '.repeat(60).concat('\r'));
  return samples;
}

/**
 * @param {Peer} peer
 * @param {Step[]} steps
 * @returns {Promise<Sample[]>}
 */
async function measurePeer(peer, steps) {
  const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'caretdb-bench-'));
  const subject = await peer.open(folder);
  const samples = [];
  try {
    for (const step of steps) {
      const begun = process.hrtime.bigint();
      await step.run(subject);
      const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
      samples.push({ peer: peer.name, step: step.name, rate: step.operations / seconds });
    }
  } finally {
    await peer.close(subject);
    rmSync(folder, { recursive: true, force: true });
  }
  return samples;
}

/** @param {number[]} numbers */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * @param {Sample[]} samples
 * @returns {{ peer: string, step: string, median: number, least: number, most: number, samples: number }[]}
 */
export function summarise(samples) {
  /** @type {Map<string, Sample[]>} */
  const groups = new Map();
  for (const sample of samples) {
    const key = JSON.stringify([sample.peer, sample.step]);
    groups.set(key, [...(groups.get(key) ?? []), sample]);
  }
  return [...groups.values()].map((group) => {
    const rates = group.map((sample) => sample.rate);
    return {
      peer: group[0].peer,
      step: group[0].step,
      median: median(rates),
      least: Math.min(...rates),
      most: Math.max(...rates),
      samples: rates.length,
    };
  });
}

/** @returns {string} the machine and the runtime, for the head of a table */
export function describeMachine() {
  const runtime =
    process.versions.bun === undefined ? `Node.js ${process.versions.node}` : `Bun ${process.versions.bun}`;
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${availableParallelism()} threads, ${memory} GiB; ${runtime}`;
}
