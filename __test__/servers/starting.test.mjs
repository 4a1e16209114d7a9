// The promise: a worker that dies while it starts costs no request anything. Another one is started in its place, what waits goes
// on waiting; only when one after the other dies is what waits told that no worker can be had.
//
// The fault behind it: each such death was charged to the first request in the queue, which that worker had never seen. And a
// process that died before it had come as far as its task was missed for a minute, and its replacement with it.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { WorkerPool } from '../../js/pool/pool.mjs';
import { fixture, keptLog } from './in-pool.mjs';
import { NODE, runProgram } from './programs.mjs';

/** More workers than any test starts. */
const ALL = 1_000_000;

for (const mode of /** @type {const} */ (['threads', 'processes'])) {
  describe(`starting workers, in ${mode}`, () => {
    const log = keptLog();
    /** @type {string} */
    let folder;
    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'caretdb-starting-'));
    });
    after(() => rmSync(folder, { recursive: true }));

    /** @param {object} [unsteady] @param {number} [poolSize] */
    const start = (unsteady, poolSize = 2) =>
      new WorkerPool({
        mode,
        poolSize,
        handlers: { faults: fixture('faults') },
        log,
        ...(unsteady && { onStartup: { module: fixture('unsteady-start'), arguments: unsteady } }),
      });

    /** @param {WorkerPool} pool @param {number} count @param {string} [deed] */
    const statuses = async (pool, count, deed = 'ok') => {
      const runs = Array.from({ length: count }, () => pool.run({ type: 'faults', data: { do: deed } }));
      return (await Promise.all(runs)).map(({ statusCode }) => statusCode);
    };
    /** @param {number} count */
    const fine = (count) => new Array(count).fill(200);

    for (const deed of ['throw', 'exit', ...(mode === 'processes' ? ['kill'] : [])]) {
      test(`workers that ${deed} while they start are replaced, and all requests answered`, async () => {
        const pool = start({ file: join(folder, deed), times: 4, deed });
        assert.deepEqual(await statuses(pool, 30), fine(30));
        await pool.close();
      });
    }

    test('where one worker serves, those that cannot start beside it cost nothing', async () => {
      const pool = start({ file: join(folder, 'beside'), times: ALL, spared: 0, deed: 'exit' });
      for (let round = 0; round < 10; round += 1) assert.deepEqual(await statuses(pool, 40), fine(40));
      await pool.close();
    });

    test('where none can start, what waits is told so, the number of attempts is bounded, and it may heal', async () => {
      const file = join(folder, 'never');
      const pool = start({ file, times: 7, deed: 'throw' }, 1);
      const replies = await Promise.all(
        Array.from({ length: 20 }, () => pool.run({ type: 'faults', data: { do: 'ok' } })),
      );
      for (const { statusCode, body } of replies) {
        assert.equal(statusCode, 500);
        assert.deepEqual(JSON.parse(String(body)), {
          error: "No worker could start; the server's log says why",
        });
      }
      const attempts = readFileSync(file, 'utf8').trim().split('\n').length;
      assert.equal(attempts, 6);
      assert.ok(log.errors.some((text) => text.includes('not yet')));
      // From here on each request is worth one more attempt, until one succeeds.
      let asked = 0;
      while ((await statuses(pool, 1))[0] !== 200) asked += 1;
      assert.equal(asked, 1);
      assert.deepEqual(await statuses(pool, 30), fine(30));
      await pool.close();
    });

    test('workers that end as soon as they are ready leave no request without an answer', async () => {
      const pool = start({ file: join(folder, 'soon'), times: ALL, deed: 'exitSoon' });
      for (const status of await statuses(pool, 40)) assert.ok(status === 200 || status === 500, `${status}`);
      await pool.close();
    });

    test('a pool that is closed while no worker can start answers what waits, and ends', async () => {
      const pool = start({ file: join(folder, 'closing'), times: ALL, deed: 'exit' });
      const waiting = statuses(pool, 3);
      await pool.close();
      assert.deepEqual(await waiting, [500, 500, 500]);
    });

    test('a worker that is still starting when the pool is closed ends as soon as it can', async () => {
      const pool = start(undefined, 4);
      const ended = [];
      const waiting = statuses(pool, 4);
      for (const seat of pool.seats) ended.push(seat.ended.then(() => seat.killed));
      assert.deepEqual(await waiting, fine(4));
      await pool.close();
      assert.deepEqual(await Promise.all(ended), new Array(4).fill(undefined));
    });

    if (mode === 'threads') return;

    test('a process that is killed before it has its task is replaced at once', async () => {
      const pool = start(undefined, 2);
      const waiting = statuses(pool, 10);
      for (const seat of pool.seats) {
        const [worker] = /** @type {any[]} */ (seat.tinypool.threads);
        process.kill(worker.process.pid, 'SIGKILL');
      }
      assert.deepEqual(await waiting, fine(10));
      await pool.close();
    });

    test('a system that has no room for a process costs no request, and does not end the server', {
      skip: process.platform === 'win32' && 'needs a shell that can limit file descriptors',
    }, async () => {
      const program = fileURLToPath(new URL('fixtures/no-descriptors.mjs', import.meta.url));
      // With too few for its ledger, and with too few for its pipes, which Node.js says later.
      for (const left of ['1', '6']) {
        const line = 'ulimit -n 100 && exec "$@"';
        const { code, out, err } = await runProgram('sh', ['-c', line, 'sh', NODE, program, left]);
        assert.deepEqual([code, out], [0, '200 true\n200 true\n'], err);
      }
    });

    test('workers can be started when the folder of temporary files was cleaned', async () => {
      const pool = start(undefined, 1);
      assert.deepEqual(await statuses(pool, 1), fine(1));
      rmSync(/** @type {string} */ (pool.folder), { recursive: true });
      assert.deepEqual(await statuses(pool, 1, 'exit'), [500]);
      assert.deepEqual(await statuses(pool, 5), fine(5));
      await pool.close();
    });
  });
}
