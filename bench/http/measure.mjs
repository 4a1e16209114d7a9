// Loads both servers in turns: in each round each is started on a fresh store, filled, and asked for every scenario in order.

import { fork, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { makeFolder, removeFolder } from '../run/folders.mjs';
import { progress, progressDone } from '../run/progress.mjs';
import { runtime } from '../run/runtimes.mjs';
import { Connection } from './client.mjs';

/** Requests in flight. */
export const CONNECTIONS = 100;

/**
 * @typedef {object} Loaded one scenario of one round
 * @property {string} server
 * @property {string} scenario
 * @property {number} rate requests a second
 * @property {number} p50 milliseconds
 * @property {number} p95
 * @property {number} p99
 * @property {number} wire bytes sent and received for each request, heads too
 * @property {number} heap bytes by which the main thread's heap grew for each request, after a collection
 */

/** @returns {{ servers: { name: string, path: string, runtime: string }[], skipped: string[] }} */
export function findServers() {
  const servers = [];
  const skipped = [];
  for (const [name, at] of /** @type {const} */ ([
    ['Fastify', 'node'],
    ['Bun.serve', 'bun'],
  ])) {
    const found = runtime(at);
    if ('path' in found)
      servers.push({ name: `${name}, ${found.title}`, path: found.path, runtime: found.title });
    else skipped.push(`${name}: ${found.missing}`);
  }
  return { servers, skipped };
}

/**
 * @param {string} path of the runtime
 * @param {string} folder
 * @param {string} [durability] of its store
 */
export async function startServer(path, folder, durability = 'relaxed') {
  const child = fork(fileURLToPath(new URL('serve.mjs', import.meta.url)), [folder, durability], {
    execPath: path,
    execArgv: path === process.execPath ? ['--expose-gc'] : [],
    serialization: 'json',
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  /** @returns {Promise<any>} */
  const answer = () =>
    new Promise((resolve, reject) => {
      const ended = () => reject(new Error('the server ended'));
      child.once('exit', ended);
      child.once('message', (message) => {
        child.off('exit', ended);
        resolve(message);
      });
    });
  const { port } = await answer();
  return {
    port,
    async heap() {
      child.send('heap');
      return (await answer()).heap;
    },
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.send('stop');
      await ended;
      process.off('exit', kill);
    },
  };
}

/** @param {Record<string, unknown>} plan @returns {Promise<any>} */
export function load(plan) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [
      fileURLToPath(new URL('load.mjs', import.meta.url)),
      JSON.stringify(plan),
    ]);
    let answer = '';
    let complaint = '';
    child.stdout.on('data', (text) => {
      answer += text;
    });
    child.stderr.on('data', (text) => {
      complaint += text;
    });
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(answer));
      else reject(new Error(`${plan.scenario} failed: ${/Error: .*/.exec(complaint)?.[0] ?? complaint}`));
    });
  });
}

/**
 * @param {object} plan
 * @param {{ name: string, path: string }[]} plan.servers
 * @param {string} plan.module the file in workloads/ that has the scenarios, and `prepare` where they need something
 * @param {Record<string, unknown>} plan.settings for it
 * @param {number} plan.rounds
 * @param {number} plan.seconds of each scenario
 * @returns {Promise<Loaded[]>}
 */
export async function measureServers({ servers, module, settings, rounds, seconds }) {
  const { scenarios, prepare } = await import(`../workloads/${module}.mjs`);
  /** @type {Loaded[]} */
  const found = [];
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < servers.length; turn++) {
      const { name, path } = servers[(turn + round) % servers.length];
      const folder = makeFolder();
      const server = await startServer(path, folder);
      try {
        if (prepare !== undefined) {
          const connection = await Connection.open(server.port);
          await prepare(connection, settings);
          connection.close();
        }
        for (const scenario of Object.keys(scenarios)) {
          progress(`round ${round + 1} of ${rounds}: ${name}, ${scenario}`);
          const before = await server.heap();
          const plan = { module, scenario, port: server.port, connections: CONNECTIONS, seconds, settings };
          const { requests, ...loaded } = await load(plan);
          const heap = ((await server.heap()) - before) / requests;
          found.push({ server: name, scenario, ...loaded, heap });
        }
      } finally {
        await server.stop();
        removeFolder(folder);
      }
    }
  }
  progressDone();
  return found;
}

/**
 * The figures of a table that is no rate: one row for each server and scenario.
 *
 * @param {Loaded[]} found
 * @returns {import('../run/statistics.mjs').Sample[]}
 */
export function details(found) {
  return found.flatMap(({ server, scenario, p50, p95, p99, wire, heap }) => {
    const peer = `${server}: ${scenario}`;
    return Object.entries({
      'p50, ms': p50,
      'p95, ms': p95,
      'p99, ms': p99,
      'wire, bytes': wire,
      'heap growth, bytes': heap,
    }).map(([step, rate]) => ({ peer, step, rate }));
  });
}
