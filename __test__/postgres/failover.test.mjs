// A primary with a synchronous standby is killed and the standby promoted: no acknowledged write is lost in the middle of a
// counted workload, and who opens the store meanwhile waits for the host that takes writes.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { open } from 'caretdb';
import { withCode } from '../mg-dbx/store.mjs';
import { skip, startServer, startStandby } from '../real/postgres.mjs';

/** @typedef {import('../real/postgres.mjs').Server} Server */

const WORKERS = 3;
/** How many steps each worker does before the primary is killed, and after it. */
const STEPS = 30;
const COUNTER = fileURLToPath(new URL('fixtures/counter.mjs', import.meta.url));
const OPENER = fileURLToPath(new URL('fixtures/opener.mjs', import.meta.url));

/** @returns {Promise<{ primary: Server, standby: Server, url: string }>} two servers, and the store on both */
async function startPair() {
  const primary = await startServer({ fsync: 'on' });
  after(() => primary.stop());
  const standby = await startStandby(primary);
  after(() => standby.stop());
  const url = `postgres://caretdb@${primary.host},${standby.host}/postgres?table=counted`;
  return { primary, standby, url };
}

/**
 * @param {string} module
 * @param {string[]} args
 * @returns {{ said: any, child: import('node:child_process').ChildProcess, ended: Promise<void>,
 *   until: (condition: (said: any) => boolean) => Promise<void> }} a process, and the last that it has said
 */
function started(module, ...args) {
  const child = fork(module, args);
  after(() => child.kill('SIGKILL'));
  /** @type {any} */
  const said = {};
  let heard = () => {};
  child.on('message', (message) => {
    Object.assign(said, message);
    heard();
  });
  /** @type {Promise<void>} */
  const ended = new Promise((resolve, reject) => {
    child.once('exit', (status, signal) => {
      if (status === 0) resolve();
      else reject(new Error(`${module} ${args[1] ?? ''} ended with ${status ?? signal}`));
    });
  });
  const until = async (/** @type {(said: any) => boolean} */ condition) => {
    while (!condition(said)) {
      const next = new Promise((resolve) => {
        heard = () => resolve(undefined);
      });
      await Promise.race([next, ended.then(() => assert.ok(condition(said), `${module} ended too early`))]);
    }
  };
  return { said, child, ended, until };
}

test('a killed primary loses no acknowledged write', { skip, timeout: 300_000 }, async () => {
  const { primary, standby, url } = await startPair();
  const workers = Array.from({ length: WORKERS }, (_, number) => started(COUNTER, url, `worker ${number}`));
  await Promise.all(workers.map(({ until }) => until(({ steps }) => steps >= STEPS)));
  primary.kill();
  for (const { child } of workers) child.send({ left: STEPS });
  standby.promote();
  await Promise.all(workers.map(({ until }) => until(({ done }) => done)));
  await Promise.all(workers.map(({ ended }) => ended));
  const db = open({ engine: 'postgres', url, timeout: 240 });
  after(() => db.close());
  const count = db.global('count');
  const sum = (/** @type {string} */ what) => workers.reduce((all, { said }) => all + said[what], 0);
  assert.equal(sum('unknown'), 0, 'every outcome was found out, since the standby came in time');
  assert.equal(sum('acknowledged'), sum('steps'));
  assert.equal(count.get('all'), sum('steps'), 'each step counts once');
  assert.deepEqual([count.get('a'), count.get('b')], [sum('transactions'), sum('transactions')]);
});

test('who opens a store while its hosts fail over waits for the one that takes writes', {
  skip,
  timeout: 300_000,
}, async () => {
  const { primary, standby, url } = await startPair();
  const before = open({ engine: 'postgres', url, timeout: 240 });
  before.global('Person').set(1, 'Rob');
  before.close();
  primary.kill();
  // One host is away and the other takes no writes: nobody is told yet.
  assert.throws(
    () => open({ engine: 'postgres', url, timeout: 0.2 }),
    withCode('ERR_IO', /cannot reach postgres:/),
  );
  const openers = ['lock', 'transaction', 'document', 'new'].map((what) => started(OPENER, url, what));
  await Promise.all(openers.map(({ until }) => until(({ begins }) => begins)));
  assert.deepEqual(
    openers.map(({ said }) => said.done),
    openers.map(() => undefined),
    'none can be done before there is a primary',
  );
  standby.promote();
  await Promise.all(openers.map(({ ended }) => ended));
  assert.deepEqual(
    openers.map(({ said }) => said.done),
    openers.map(() => 'Rob'),
  );
});

test('a server that starts again is waited for, one that refuses is not', {
  skip,
  timeout: 300_000,
}, async () => {
  const server = await startServer();
  after(() => server.stop());
  const url = `${server.url}?table=again`;
  open({ engine: 'postgres', url }).close();
  await server.halt();
  const opener = started(OPENER, url, 'document');
  await opener.until(({ begins }) => begins);
  await server.startAgain();
  await opener.ended;
  assert.equal(opener.said.done, undefined, 'nobody has written a name');
  assert.throws(
    () => open({ engine: 'postgres', url: url.replace('/postgres?', '/nowhere?'), timeout: 600 }),
    withCode('ERR_IO', /cannot use .*nowhere/),
    'a database that is not there does not come by waiting',
  );
});
