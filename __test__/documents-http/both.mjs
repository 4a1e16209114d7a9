// Runs a suite against both servers, each with a store of its own.

import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { missing, newUrl } from '../real/engines.mjs';
import { ask, SERVERS, startProgram, temporaryFolder } from '../servers/programs.mjs';

export { ask };

/**
 * @typedef {import('../servers/programs.mjs').Answer} Answer
 *
 * @typedef {object} Site a server of one of the two kinds
 * @property {string} folder its store, where that is in a folder
 * @property {number} port
 * @property {(method: string, path: string, options?: Parameters<typeof ask>[3]) => Promise<Answer>} ask
 * @property {() => string} output what the server has printed
 */

/**
 * @param {string} what
 * @param {(site: Site) => void} suite defines the tests; what it gets is filled in before they run
 * @param {string[]} [args] of the server
 * @param {import('../real/engines.mjs').Engine} [engine] of the store
 */
export function onBothServers(what, suite, args = [], engine = 'lmdb') {
  for (const { name, runtime, program, skip } of SERVERS) {
    describe(`${what}, ${name}`, { skip: skip || missing(engine) }, () => {
      /** @type {import('../servers/programs.mjs').Program} */
      let server;
      const folder = temporaryFolder();
      /** @type {Site} */
      const site = {
        folder: folder.path,
        port: 0,
        ask: (method, path, options) => ask(site.port, method, path, options),
        output: () => server.output(),
      };
      before(async () => {
        const data =
          engine === 'postgres' ? ['--data', newUrl()] : ['--data', folder.path, '--engine', engine];
        const line = [program, 'false', '2', '--port', '0', ...data, ...args];
        server = await startProgram(runtime, line);
        site.port = server.port;
      });
      after(async () => {
        assert.equal(await server.stop(), 0);
        folder.remove();
      });
      suite(site);
    });
  }
}

export const NDJSON = { 'content-type': 'application/x-ndjson' };

/** @param {string} text @returns {any[]} the values of NDJSON */
export function parseLines(text) {
  assert.ok(text === '' || text.endsWith('\n'), 'the last line ends');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}
