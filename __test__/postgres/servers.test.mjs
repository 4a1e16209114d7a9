// Two web servers on one store, behind a proxy that hands each request to the other one: nothing is lost, and whoever has
// an answer to a write finds it, whichever server is asked.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startProxy, skip as withoutNginx } from '../real/nginx.mjs';
import { newUrls, skip as withoutPostgres } from '../real/postgres.mjs';

const SERVER = fileURLToPath(new URL('../../nws.mjs', import.meta.url));
const CLIENTS = 4;
const EACH = 25;

/** @param {string} store @returns {Promise<string>} the host and port where it listens */
function startServer(store) {
  const child = spawn('node', [SERVER, '--port', '0', '--data', store], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  after(() => {
    child.kill('SIGKILL');
  });
  return new Promise((resolve, reject) => {
    let said = '';
    const listen = (/** @type {Buffer} */ text) => {
      said += text;
      const address = /listens on http:\/\/([^;\s]+)/.exec(said);
      if (address) {
        assert.doesNotMatch(said, /tops3cret/, 'the password is not told');
        resolve(address[1]);
      }
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.once('exit', () => reject(new Error(`the server ended: ${said}`)));
  });
}

test('two servers behind a proxy are one store', {
  skip: withoutPostgres || withoutNginx,
  timeout: 120_000,
}, async () => {
  const newUrl = await newUrls();
  const store = newUrl().replace('caretdb@', 'caretdb:tops3cret@');
  const servers = await Promise.all([startServer(store), startServer(store)]);
  const proxy = await startProxy(servers);
  after(() => proxy.stop());
  const ask = async (/** @type {string} */ path, /** @type {any} */ body) => {
    const options =
      body === undefined
        ? {}
        : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const reply = await fetch(`${proxy.url}${path}`, options);
    return { status: reply.status, .../** @type {any} */ (await reply.json()) };
  };
  const ids = new Set();
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      for (let step = 0; step < EACH; step++) {
        const user = { firstName: `client ${client}`, lastName: `step ${step}` };
        const made = await ask('/user', user);
        assert.equal(made.status, 200, JSON.stringify(made));
        assert.ok(!ids.has(made.id), `the id ${made.id} was given twice`);
        ids.add(made.id);
        // Asked twice, so that both servers answer.
        for (let turn = 0; turn < 2; turn++) {
          const found = await ask(`/user/${made.id}`, undefined);
          assert.deepEqual(found.document, user, `id ${made.id}`);
        }
      }
    }),
  );
  assert.equal(ids.size, CLIENTS * EACH);
  assert.deepEqual(
    [...ids].map(Number).sort((a, b) => a - b),
    Array.from({ length: ids.size }, (_, index) => index + 1),
  );
});
