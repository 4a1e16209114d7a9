// Starts server programs for the tests, nws.mjs on Node.js and bws.js on Bun, and speaks HTTP to them.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findBun } from '../real/bun.mjs';
import { isSample } from '../runner/sample.mjs';

/** The repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const onBun = process.versions.bun !== undefined;
const bun = findBun();

/** This Node.js, or the one on the path where the test itself runs on Bun. */
export const NODE = onBun ? 'node' : process.execPath;

/** Both servers. `skip` says why one cannot run here. */
export const BOTH = [
  { name: 'Fastify', runtime: NODE, program: 'nws.mjs', skip: /** @type {string | false} */ (false) },
  { name: 'Bun.serve', runtime: bun.path ?? 'bun', program: 'bws.js', skip: bun.skip },
];

/**
 * The servers that a suite runs against: each of them on the first runtime of a test run, on the others their own. What drives a
 * server changes nothing about it.
 */
export const SERVERS = isSample ? BOTH.filter(({ program }) => (program === 'bws.js') === onBun) : BOTH;

/**
 * @typedef {object} Program a server program that runs
 * @property {number} port
 * @property {import('node:child_process').ChildProcess} process
 * @property {() => string} output what it has printed so far, on both of its outputs
 * @property {(text: string) => Promise<void>} printed waits until it has printed something
 * @property {(signal?: NodeJS.Signals) => Promise<number | null>} stop answers its exit status
 */

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

// A test that fails does not get to its stop(): no program may outlive the tests, or keep them from ending.
after(() => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts a program and waits until it says where it listens.
 * @param {string} runtime
 * @param {string[]} args program and arguments; paths are relative to the repository
 * @param {Record<string, string>} [environment]
 * @param {string} [cwd] the folder to start it in, in place of the repository
 * @returns {Promise<Program>}
 */
export async function startProgram(runtime, args, environment = {}, cwd = ROOT) {
  const child = spawn(runtime, args, {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let output = '';
  /** @type {(() => void)[]} */
  const waiters = [];
  const tell = () => {
    for (const waiter of waiters.splice(0)) waiter();
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
      tell();
    });
  }
  const ended = once(child, 'close').then(([code]) => code);
  let over = false;
  void ended.then(() => {
    over = true;
    running.delete(child);
    tell();
  });
  /** @param {string | RegExp} text */
  const printed = async (text) => {
    while (output.match(text) === null) {
      if (over) throw new Error(`${args.join(' ')} ended without printing ${text}:\n${output}`);
      await new Promise((resolve) => waiters.push(() => resolve(undefined)));
    }
  };
  await printed(/ listens on .*\n/);
  return {
    port: Number(/ listens on \S+:(\d+)/.exec(output)?.[1]),
    process: child,
    output: () => output,
    printed,
    stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}

/**
 * Runs a program to its end.
 * @param {string} runtime
 * @param {string[]} args
 * @param {Record<string, string>} [environment]
 * @returns {Promise<{code: number, out: string, err: string}>}
 */
export async function runProgram(runtime, args, environment = {}) {
  const child = spawn(runtime, args, {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, out, err };
}

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {import('node:http').IncomingHttpHeaders} headers
 * @property {string} text
 * @property {any} json the parsed body, where it is JSON
 */

/**
 * One request. Header fields are sent as given, Host and Origin too, which fetch would not do.
 * @param {number} port
 * @param {string} method
 * @param {string} path
 * @param {{headers?: Record<string, string>, body?: string | Uint8Array, json?: unknown}} [options]
 * @returns {Promise<Answer>}
 */
export async function ask(port, method, path, { headers = {}, body, json } = {}) {
  const bytes = json === undefined ? body : JSON.stringify(json);
  const fields = json === undefined ? headers : { 'content-type': 'application/json', ...headers };
  const asked = request({ host: '127.0.0.1', port, method, path, headers: fields, agent: false });
  asked.end(bytes);
  const [reply] = await once(asked, 'response');
  let text = '';
  for await (const chunk of reply.setEncoding('utf8')) text += chunk;
  const isJson = String(reply.headers['content-type']).startsWith('application/json');
  return {
    status: reply.statusCode,
    headers: reply.headers,
    text,
    json: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
}

/** A new folder, and how to remove it. */
export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'caretdb-servers-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
