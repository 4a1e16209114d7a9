// The promise of an export: once its first line is sent it comes to its end, whatever else the server is asked meanwhile. What was
// sent cannot be taken back, so that a page that failed used to cut the connection (ECONNRESET): because the queue was full at that
// moment, the worker of the page was killed, or the server had been asked to end.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendLines, startLines } from '../../js/http/documents/lines.mjs';
import { errorReply } from '../../js/pool/reply.mjs';
import { ask, SERVERS, startProgram, temporaryFolder } from '../servers/programs.mjs';
import { NDJSON, parseLines } from './both.mjs';

const COUNT = 400;
/** Long enough for some forty pages, which no socket's memory holds. */
const TEXT = 'x'.repeat(32 * 1024);

/**
 * Starts an export.
 * @param {number} port
 * @returns {Promise<import('node:http').IncomingMessage>} its reply, nothing of it read
 */
async function startExport(port) {
  const asked = request({
    port,
    path: '/documents/people',
    headers: { accept: NDJSON['content-type'] },
    agent: false,
  });
  asked.end();
  const [reply] = await once(asked, 'response');
  assert.equal(reply.statusCode, 200);
  return reply;
}

/** @param {import('node:http').IncomingMessage} reply */
async function assertWhole(reply) {
  let text = '';
  for await (const piece of reply.setEncoding('utf8')) text += piece;
  const ids = parseLines(text).map(({ id }) => id);
  assert.deepEqual(
    ids,
    Array.from({ length: COUNT }, (_, id) => id),
  );
}

/** A pool that refuses every second request. @returns {import('../../js/http/streams.mjs').Ask} */
function busyPool() {
  let asked = 0;
  return async ({ query: { after = '0' } }) => {
    asked += 1;
    if (asked % 2 === 0) return errorReply(503, 'Too many requests are waiting', { 'retry-after': '1' });
    const next = Number(after) + 1;
    const headers = { 'content-type': NDJSON['content-type'], ...(next < 3 && { 'x-next': `${next}` }) };
    return { statusCode: 200, headers, body: `{"page":${after}}\n` };
  };
}

test('a page that is refused while an export is on its way is asked for again', async () => {
  const { statusCode, body } = sendLines(await startLines(busyPool(), { query: {} }, 0));
  assert.equal(statusCode, 200);
  let text = '';
  for await (const piece of /** @type {AsyncIterable<string>} */ (body)) text += piece;
  assert.equal(text, '{"page":0}\n{"page":1}\n{"page":2}\n');
});

for (const { name, runtime, program, skip } of SERVERS) {
  for (const engine of ['lmdb', 'sled']) {
    describe(`${name} on ${engine}, an export`, { skip: skip !== false }, () => {
      /**
       * @param {string[]} options
       * @param {(server: import('../servers/programs.mjs').Program) => Promise<void>} use
       */
      async function withPeople(options, use) {
        const folder = temporaryFolder();
        const args = [program, '--port', '0', '--data', folder.path, '--engine', engine, ...options];
        const server = await startProgram(runtime, args);
        try {
          const body = Array.from(
            { length: COUNT },
            (_, id) => `${JSON.stringify({ id, text: TEXT })}\n`,
          ).join('');
          const { status } = await ask(server.port, 'POST', '/documents/people', { headers: NDJSON, body });
          assert.equal(status, 201);
          await use(server);
        } finally {
          await server.stop('SIGKILL');
          folder.remove();
        }
      }

      test('comes to its end where the server is asked to end', () =>
        withPeople([], async (server) => {
          const reply = await startExport(server.port);
          const ended = server.stop();
          await sleep(300);
          await assertWhole(reply);
          assert.equal(await ended, 0);
        }));

      test('keeps no server from ending where nobody reads it any more', () =>
        withPeople([], async (server) => {
          (await startExport(server.port)).destroy();
          assert.equal(await server.stop(), 0);
        }));
    });
  }
}
