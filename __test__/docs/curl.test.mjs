// The promise of the pages about the servers: every call of curl on them, in the order of the page, is answered by both servers with the
// status and the body that stand below it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { ROOT, SERVERS, startProgram, temporaryFolder } from '../servers/programs.mjs';
import { blocksOf, callsOf } from './page.mjs';

const PAGES = ['docs/http.md', 'docs/servers.md', 'docs/operations.md', 'docs/benchmark.md'];

const noCurl = process.env.CI !== 'true' && !hasCurl() && 'SKIPPED: there is no curl';

function hasCurl() {
  try {
    execFileSync('curl', ['--version']);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {string} command
 * @param {number} port of the server that it speaks to in place of 3000
 * @returns {[status: string, output: string]}
 */
function run(command, port) {
  const quiet = `curl() { command curl -sS -w '\\n%{http_code}' "$@"; }`;
  const here = command.replaceAll('localhost:3000', `localhost:${port}`);
  const output = execFileSync('sh', ['-c', `${quiet}\n${here}`], { cwd: ROOT, encoding: 'utf8' });
  return [output.slice(-3), output.slice(0, -4).trimEnd()];
}

/** @param {string} text with `…` for anything @returns {RegExp} of all of a body; header fields may stand before it */
function asPattern(text) {
  const parts = text.split('…').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`(^|\\r\\n\\r\\n)${parts.join('.+?')}$`);
}

const pages = PAGES.map((page) => ({
  page,
  calls: blocksOf(`${ROOT}${page}`)
    .filter(({ language, notRun }) => language === 'sh' && notRun === undefined)
    .flatMap(({ text }) => callsOf(text)),
})).filter(({ calls }) => calls.length > 0);

it('the page of documents over HTTP has calls', () => {
  assert.ok(pages.some(({ page, calls }) => page === 'docs/http.md' && calls.length > 20));
});

for (const { name, runtime, program, skip } of SERVERS) {
  for (const { page, calls } of pages) {
    describe(`${page}, ${name}`, { skip: skip || noCurl }, () => {
      const folder = temporaryFolder();
      /** @type {import('../servers/programs.mjs').Program} */
      let server;
      before(async () => {
        server = await startProgram(runtime, [program, '--port', '0', '--data', folder.path]);
      });
      after(async () => {
        await server.stop();
        folder.remove();
      });
      for (const { command, status, body } of calls) {
        it(command, () => {
          const [answeredStatus, output] = run(command, server.port);
          assert.equal(answeredStatus, status, output);
          assert.match(output, asPattern(body));
        });
      }
    });
  }
}
