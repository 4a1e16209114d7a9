// The promise of the pool: a handler that throws, hangs, exits or dies costs its own request an error and nothing else, in
// threads and in processes; every other request is answered, and each is run once.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { WorkerPool } from '../../js/pool/pool.mjs';
import { fixture, keptLog } from './in-pool.mjs';

const HANDLERS = {
  faults: fixture('faults'),
  finished: fixture('with-finished'),
  asyncFinished: fixture('async-finished'),
  nothing: fixture('nothing'),
  missing: fixture('not-there'),
};

/** @param {import('../../js/pool/reply.mjs').Reply} reply */
const answerOf = (reply) => JSON.parse(String(reply.body));

for (const mode of /** @type {const} */ (['threads', 'processes'])) {
  describe(`the pool, in ${mode}`, () => {
    const log = keptLog();
    /** @type {WorkerPool} */
    let pool;
    before(() => {
      pool = new WorkerPool({ mode, poolSize: 2, handlers: HANDLERS, handlerTimeout: 1500, log });
    });
    after(() => pool.close());

    /** @param {object} data */
    const run = (data, options = {}) => pool.run({ type: 'faults', data }, options);

    test('a handler answers by finished(), at once or later, and only once', async () => {
      /** @param {string} wish */
      const how = async (wish) => answerOf(await pool.run({ type: 'finished', data: { do: wish } })).how;
      assert.equal(await how('now'), 'at once');
      assert.equal(await how('later'), 'later');
      assert.equal(await how('twice'), 'first');
      const empty = await pool.run({ type: 'finished', data: { do: 'empty' } });
      assert.equal(empty.statusCode, 204);
    });

    test('an async handler of that form may finish, return or reject', async () => {
      const replies = await Promise.all(
        ['finish', 'return', 'throw'].map((wish) => pool.run({ type: 'asyncFinished', data: { do: wish } })),
      );
      assert.deepEqual(answerOf(replies[0]), { how: 'finished' });
      assert.deepEqual(answerOf(replies[1]), { how: 'returned' });
      assert.equal(replies[2].statusCode, 500);
    });

    const faults = [
      { deed: 'throw', status: 500 },
      { deed: 'reject', status: 500 },
      { deed: 'late', status: 500 },
      { deed: 'lateRejection', status: 500 },
      { deed: 'never', status: 504 },
      { deed: 'spin', status: 504 },
      { deed: 'exit', status: 500 },
      { deed: 'cycle', status: 500 },
      { deed: 'badHeader', status: 500 },
      { deed: 'noSuchDeed', status: 500 },
      ...(mode === 'processes' ? [{ deed: 'crash', status: 500 }] : []),
    ];
    for (const { deed, status } of faults) {
      test(`${deed} costs its own request a ${status}, and the others nothing`, async () => {
        const [failed, ...others] = await Promise.all([
          run({ do: deed }),
          ...Array.from({ length: 50 }, () => run({ do: 'ok' })),
        ]);
        assert.equal(failed.statusCode, status);
        assert.equal(typeof answerOf(failed).error, 'string');
        assert.ok(!String(failed.body).includes('secret'), 'the caller does not learn of the inside');
        for (const reply of others) assert.equal(reply.statusCode, 200);
        assert.equal((await run({ do: 'ok' })).statusCode, 200);
      });
    }

    test('the log names what went wrong', async () => {
      await run({ do: 'throw' });
      assert.ok(log.errors.some((text) => text.includes('a secret of the inside')));
    });

    test('a module without a handler, and one that is not there, are errors of their requests', async () => {
      for (const type of ['nothing', 'missing', 'unconfigured']) {
        assert.equal((await pool.run({ type, data: {} })).statusCode, 500);
      }
    });

    test('an error of the database that the request brought about is 400, with its message', async () => {
      const reply = await run({ do: 'badName' });
      assert.equal(reply.statusCode, 400);
      assert.deepEqual(answerOf(reply), { error: "'1x' is no name of a global" });
    });

    test('values of any type come and go', async () => {
      for (const value of [
        null,
        0,
        '',
        'text',
        true,
        [],
        {},
        [null],
        { a: { b: [1, '2'] } },
        '\ud83d\ude00\0',
      ]) {
        const reply = await run({ do: 'answer', answer: value });
        assert.deepEqual([reply.statusCode, answerOf(reply)], [200, value]);
      }
      assert.equal((await run({ do: 'nothing' })).statusCode, 204);
    });

    test('a key __proto__ is data: it arrives, and pollutes nothing', async () => {
      const value = JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": 1}}');
      const reply = await run({ do: 'answer', answer: { value } });
      assert.equal(reply.body, JSON.stringify({ value }));
      assert.equal(/** @type {any} */ ({}).polluted, undefined);
    });

    test('bytes come and go as bytes', async () => {
      const there = await run({ do: 'bytes', body: Buffer.from('00ff80', 'hex') });
      assert.deepEqual(answerOf(there), { isBytes: true, hex: '00ff80' });
      const back = await run({ do: 'sendBytes' });
      assert.deepEqual([.../** @type {Uint8Array} */ (back.body)], [0, 255, 128]);
    });

    test('large messages, bytes and small ones keep their order and their own replies', async () => {
      const large = 'ä'.repeat(200_000);
      const replies = await Promise.all(
        Array.from({ length: 60 }, (_, index) => {
          if (index % 3 === 0) return run({ do: 'echo', value: `${index}${large}` });
          if (index % 3 === 1) return run({ do: 'bytes', body: Buffer.alloc(20_000, index) });
          return run({ do: 'echo', value: index });
        }),
      );
      for (const [index, reply] of replies.entries()) {
        const answer = answerOf(reply);
        if (index % 3 === 0) assert.ok(answer.value === `${index}${large}`);
        else if (index % 3 === 1) assert.ok(answer.hex === Buffer.alloc(20_000, index).toString('hex'));
        else assert.equal(answer.value, index);
      }
    });

    test('what was answered before its worker died stays answered', async () => {
      for (let round = 0; round < 5; round += 1) {
        const jobs = Array.from({ length: 40 }, (_, index) => run({ do: index % 20 === 10 ? 'exit' : 'ok' }));
        const statuses = (await Promise.all(jobs)).map(({ statusCode }) => statusCode);
        assert.deepEqual(
          statuses,
          statuses.map((_, index) => (index % 20 === 10 ? 500 : 200)),
        );
      }
    });

    test('error, errorCode and http_response shape the reply', async () => {
      /** @param {object} answer */
      const reply = async (answer) => {
        const { statusCode, headers, body } = await run({ do: 'answer', answer });
        return [statusCode, headers, JSON.parse(String(body))];
      };
      assert.deepEqual(await reply({ error: 'no' }), [400, undefined, { error: 'no' }]);
      assert.deepEqual(await reply({ error: 'no', errorCode: 409, more: 1 }), [
        409,
        undefined,
        { error: 'no', more: 1 },
      ]);
      assert.deepEqual(await reply({ error: 'no', errorCode: 'x' }), [400, undefined, { error: 'no' }]);
      assert.deepEqual(await reply({ error: 'no', errorCode: 200 }), [400, undefined, { error: 'no' }]);
      assert.deepEqual(
        await reply({
          a: 1,
          http_response: { statusCode: 201, headers: { Location: '/a/1', 'Content-Length': '7' } },
        }),
        [201, { location: '/a/1' }, { a: 1 }],
      );
    });

    test('a run reports its progress, and ends when it is cancelled', async () => {
      /** @type {any[]} */
      const progress = [];
      const whole = await run(
        { do: 'progress', steps: 5, ms: 20 },
        { onProgress: (/** @type {any} */ p) => progress.push(p) },
      );
      assert.deepEqual(answerOf(whole), { done: 5 });
      assert.deepEqual(progress[0], { phase: 'steps', done: 1, total: 5 });
      assert.deepEqual(progress.at(-1), { phase: 'steps', done: 5, total: 5 });

      const controller = new AbortController();
      const reply = await run(
        { do: 'progress', steps: 1000, ms: 10 },
        { timeout: Infinity, signal: controller.signal, onProgress: () => controller.abort() },
      );
      assert.equal(reply.statusCode, 409);
      assert.ok(answerOf(reply).done < 1000);
    });

    test('a run without a time limit outlives handlerTimeout, and leaves a worker to the others', async () => {
      const [long, ...others] = await Promise.all([
        run({ do: 'sleep', ms: 1900 }, { timeout: Infinity }),
        ...Array.from({ length: 20 }, () => run({ do: 'ok' })),
      ]);
      assert.deepEqual(answerOf(long), { slept: 1900 });
      for (const reply of others) assert.equal(reply.statusCode, 200);
    });

    test('a run that was cancelled before it started never starts', async () => {
      const controller = new AbortController();
      controller.abort();
      assert.equal((await run({ do: 'ok' }, { signal: controller.signal })).statusCode, 409);
    });

    test('requests behind a busy one move to another worker, and each runs exactly once', async () => {
      // What is taken back from a worker at the very moment at which it goes on must not run in both.
      const folder = mkdtempSync(join(tmpdir(), 'caretdb-once-'));
      const file = join(folder, 'ran');
      const jobs = Array.from({ length: 200 }, (_, name) => ({
        do: 'block',
        ms: name % 20 === 0 ? 70 : name % 4,
        file,
        name,
      }));
      const replies = await Promise.all(jobs.map((job) => run(job)));
      for (const reply of replies) assert.equal(reply.statusCode, 200);
      const ran = readFileSync(file, 'utf8').trim().split('\n').map(Number);
      assert.deepEqual(
        ran.toSorted((a, b) => a - b),
        jobs.map(({ name }) => name),
      );
      rmSync(folder, { recursive: true });
    });

    test('one that hogs its worker does not keep the others', async () => {
      let hogDone = false;
      const hog = run({ do: 'block', ms: 700 }).then((reply) => {
        hogDone = true;
        return reply;
      });
      const others = await Promise.all(Array.from({ length: 30 }, () => run({ do: 'ok' })));
      assert.equal(hogDone, false, 'all others were answered before the hog');
      for (const reply of others) assert.equal(reply.statusCode, 200);
      assert.equal((await hog).statusCode, 200);
    });
  });

  test(`closing a pool of ${mode} finishes what is in flight, refuses the rest and leaves nothing behind`, async () => {
    const pool = new WorkerPool({ mode, handlers: HANDLERS, log: keptLog() });
    const slow = pool.run({ type: 'faults', data: { do: 'sleep', ms: 100 } });
    await pool.run({ type: 'faults', data: { do: 'ok' } });
    const { folder } = pool;
    const closed = pool.close();
    assert.equal((await pool.run({ type: 'faults', data: { do: 'ok' } })).statusCode, 503);
    assert.deepEqual(answerOf(await slow), { slept: 100 });
    await closed;
    if (folder !== undefined) assert.throws(() => readdirSync(folder), { code: 'ENOENT' });
  });

  test(`a start-up module prepares the context of each worker of ${mode}`, async () => {
    const pool = new WorkerPool({
      mode,
      poolSize: 1,
      handlers: HANDLERS,
      onStartup: { module: fixture('startup'), arguments: { greeting: 'hello' } },
      log: keptLog(),
    });
    const reply = await pool.run({ type: 'finished', data: { do: 'startup' } });
    assert.deepEqual(answerOf(reply), { greeting: 'hello from worker 0' });
    await pool.close();
  });

  test(`workers of ${mode} that cannot start cost requests a 500, not the pool`, async () => {
    const log = keptLog();
    const pool = new WorkerPool({
      mode,
      handlers: HANDLERS,
      onStartup: { module: fixture('startup'), arguments: { fail: true } },
      log,
    });
    const replies = await Promise.all(
      [1, 2, 3].map(() => pool.run({ type: 'finished', data: { do: 'now' } })),
    );
    for (const reply of replies) assert.equal(reply.statusCode, 500);
    assert.ok(log.errors.some((text) => text.includes('this start-up module fails')));
    await pool.close();
  });
}

test('a full queue answers 503 with Retry-After', async () => {
  const pool = new WorkerPool({ poolSize: 1, handlers: HANDLERS, maxQueue: 3, log: keptLog() });
  const replies = await Promise.all(
    Array.from({ length: 30 }, () => pool.run({ type: 'faults', data: { do: 'ok' } })),
  );
  const refused = replies.filter(({ statusCode }) => statusCode === 503);
  assert.equal(refused.length, 27);
  assert.deepEqual(refused[0].headers, { 'retry-after': '1' });
  await pool.close();
});

test('a request that is cancelled while it waits behind another one never runs', async () => {
  const pool = new WorkerPool({ poolSize: 1, handlers: HANDLERS, log: keptLog() });
  await pool.run({ type: 'faults', data: { do: 'ok' } });
  for (const wait of [0, 10, 200]) {
    const controller = new AbortController();
    const busy = pool.run({ type: 'faults', data: { do: 'sleep', ms: 300 } });
    const behind = pool.run({ type: 'faults', data: { do: 'exit' } }, { signal: controller.signal });
    setTimeout(() => controller.abort(), wait);
    assert.equal((await behind).statusCode, 409);
    assert.deepEqual(answerOf(await busy), { slept: 300 });
  }
  await pool.close();
});

test('options that cannot be used are refused, with their names', () => {
  const handlers = HANDLERS;
  assert.throws(() => new WorkerPool({ handlers, poolSize: 0 }), /poolSize/);
  assert.throws(() => new WorkerPool({ handlers, mode: /** @type {any} */ ('fibres') }), /mode/);
});
