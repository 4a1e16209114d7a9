// One large attachment through a server in a process of its own: up and down piece by piece, with the hashes compared, and how much memory
// the process took at most. For the test of that promise, and for the benchmark that makes it as large as you like.

import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PATH = '/documents/large/1/attachments/bytes';
const PIECE = 256 * 1024;

/**
 * @param {object} plan
 * @param {string} plan.path of the runtime
 * @param {string} plan.program 'nws.mjs' or 'bws.js'
 * @param {number} plan.size of the attachment, in bytes
 * @param {number} [plan.heap] MB that the heap of a thread may have: a limit of Node.js
 * @param {string} [plan.above] the folder in which the store's is made; default the system's for what is temporary
 * @returns {Promise<{ up: number, down: number, before: number, peak: number }>} seconds; and the most bytes of memory that the
 *   process had when it was warm, and at the end
 * @throws {Error} where other bytes came back
 */
export async function throughServer({ path, program, size, heap, above = tmpdir() }) {
  const folder = mkdtempSync(join(above, 'caretdb-large-'));
  const limit = heap === undefined ? [] : [`--max-old-space-size=${heap}`];
  const server = spawn(path, [...limit, program, 'false', '2', '--port', '0', '--data', folder], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const end = () => server.kill('SIGKILL');
  process.once('exit', end);
  const ended = once(server, 'close');
  try {
    const port = await portOf(server);
    // Both ways once, so that what only the first request needs is not counted as held.
    await upAndDown(port, 4 * PIECE);
    const before = mostMemory(Number(server.pid));
    const seconds = await upAndDown(port, size);
    return { ...seconds, before, peak: mostMemory(Number(server.pid)) };
  } finally {
    server.kill('SIGTERM');
    await ended;
    process.off('exit', end);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {import('node:child_process').ChildProcess} server @returns {Promise<number>} */
async function portOf({ stdout }) {
  let output = '';
  for await (const text of stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    output += text;
    const port = / listens on \S+:(\d+)/.exec(output)?.[1];
    if (port === undefined) continue;
    stdout?.resume();
    return Number(port);
  }
  throw new Error(`the server ended: ${output}`);
}

/** @param {number} pid @returns {number} the most bytes of memory that a process ever had, as Linux counts */
function mostMemory(pid) {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

/** @param {number} port @param {number} size @returns {Promise<{ up: number, down: number }>} seconds */
async function upAndDown(port, size) {
  const sent = createHash('sha256');
  const start = performance.now();
  await upload(port, size, sent);
  const between = performance.now();
  const received = await download(port, size);
  const end = performance.now();
  if (received !== sent.digest('hex')) throw new Error('other bytes came back than were sent');
  return { up: (between - start) / 1000, down: (end - between) / 1000 };
}

/** @param {number} port @param {number} size @param {import('node:crypto').Hash} hash takes the bytes in */
async function upload(port, size, hash) {
  const headers = { 'content-type': 'application/octet-stream', 'content-length': size };
  const asked = request({ host: '127.0.0.1', port, path: PATH, method: 'PUT', headers, agent: false });
  const replied = once(asked, 'response');
  await Promise.all([pipeline(Readable.from(bytesOf(size, hash)), asked), replied]);
  const [reply] = await replied;
  reply.resume();
  await once(reply, 'end');
  if (reply.statusCode >= 300) throw new Error(`PUT was answered with ${reply.statusCode}`);
}

/**
 * Bytes that no two pieces have alike.
 * @param {number} size
 * @param {import('node:crypto').Hash} hash
 */
function* bytesOf(size, hash) {
  const block = randomBytes(PIECE);
  for (let at = 0; at < size; at += PIECE) {
    const piece = Buffer.from(block.subarray(0, Math.min(PIECE, size - at)));
    if (piece.length >= 6) piece.writeUIntBE(at, 0, 6);
    hash.update(piece);
    yield piece;
  }
}

/** @param {number} port @param {number} size @returns {Promise<string>} the hash of what came */
async function download(port, size) {
  const asked = request({ host: '127.0.0.1', port, path: PATH, agent: false }).end();
  const [reply] = await once(asked, 'response');
  const hash = createHash('sha256');
  let length = 0;
  for await (const piece of reply) {
    hash.update(piece);
    length += piece.length;
  }
  if (reply.statusCode !== 200 || length !== size)
    throw new Error(`GET was answered with ${reply.statusCode} and ${length} of ${size} bytes`);
  return hash.digest('hex');
}
