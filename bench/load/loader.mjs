// Loads one route: with wrk, which takes little of the processor from the server, or else with autocannon from npm.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * @typedef {object} Loaded
 * @property {number} rate requests a second
 * @property {number} errors connections that failed, timeouts, and replies that are not 2xx
 * @property {number} p50 milliseconds
 * @property {number} p95 (autocannon: 97.5 %)
 * @property {number} p99
 *
 * @typedef {object} Load
 * @property {number} port
 * @property {string} path
 * @property {number} connections
 * @property {number} seconds
 */

/** @param {Load} load @returns {Promise<Loaded>} */
async function byWrk({ port, path, connections, seconds }) {
  const script = fileURLToPath(new URL('report.lua', import.meta.url));
  const duration = `${Math.max(1, Math.round(seconds))}s`;
  const { stdout } = await run('wrk', [
    ...['-t1', `-c${connections}`, `-d${duration}`, '-s', script, `http://127.0.0.1:${port}${path}`],
  ]);
  return JSON.parse(/REPORT (.*)/.exec(stdout)?.[1] ?? '');
}

/** @param {Load} load @returns {Promise<Loaded>} */
async function byAutocannon({ port, path, connections, seconds }) {
  const { default: autocannon } = await import('autocannon');
  const { requests, latency, errors, timeouts, non2xx } = await autocannon({
    url: `http://127.0.0.1:${port}${path}`,
    connections,
    duration: seconds,
  });
  const { p50, p97_5: p95, p99 } = latency;
  return { rate: requests.total / seconds, errors: errors + timeouts + non2xx, p50, p95, p99 };
}

/**
 * @param {Load} load
 * @returns {Promise<Loaded>}
 */
export async function loadWith(load) {
  try {
    return await byWrk(load);
  } catch (error) {
    if (/** @type {any} */ (error).code !== 'ENOENT') throw error;
    return byAutocannon(load);
  }
}
