// The promise of both servers: whatever a request or its handler does, it is answered in JSON with the right status, and
// the server goes on.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, SERVERS, startProgram } from './programs.mjs';
import { askRaw } from './raw.mjs';

const PROGRAM = '__test__/servers/fixtures/fault-server.mjs';

/** For tests in which no handler hangs: a busy machine may take its time. */
const PATIENT = JSON.stringify({ handlerTimeout: 60_000 });

for (const { name, runtime, skip } of SERVERS) {
  for (const mode of ['threads', 'processes']) {
    describe(`${name} with ${mode}`, { skip: skip !== false }, () => {
      /** @type {import('./programs.mjs').Program} */
      let server;
      before(async () => {
        server = await startProgram(runtime, [PROGRAM, mode]);
      });
      after(async () => {
        assert.equal(await server.stop(), 0);
      });

      /** @param {string} method @param {string} path @param {Parameters<typeof ask>[3]} [options] */
      const asked = (method, path, options) => ask(server.port, method, path, options);

      for (const [deed, status] of [
        ['throw', 500],
        ['reject', 500],
        ['late', 500],
        ['never', 504],
        ['spin', 504],
        ['exit', 500],
        ['cycle', 500],
        ['badName', 400],
      ]) {
        test(`a handler that does '${deed}' is ${status}`, async () => {
          const [failed, ...others] = await Promise.all([
            asked('GET', `/fault?do=${deed}`),
            ...Array.from({ length: 10 }, () => asked('GET', '/fault?do=ok')),
          ]);
          assert.equal(failed.status, status);
          assert.equal(typeof failed.json.error, 'string');
          assert.ok(!failed.text.includes('secret'));
          for (const { status: other } of others) assert.equal(other, 200);
        });
      }

      test('a run is followed by server-sent events, from before it starts to its end', async () => {
        const events = asked('GET', '/run/my-run/events');
        const reply = await asked('POST', '/run', {
          json: { run: 'my-run', do: 'progress', steps: 4, ms: 60 },
        });
        assert.deepEqual([reply.status, reply.json, reply.headers['x-run']], [200, { done: 4 }, 'my-run']);
        const { status, headers, text } = await events;
        assert.equal(status, 200);
        assert.match(String(headers['content-type']), /^text\/event-stream/);
        assert.match(text, /event: progress\ndata: \{"phase":"steps","done":1,"total":4\}\n\n/);
        assert.ok(text.endsWith('event: done\ndata: {"statusCode":200,"reply":{"done":4}}\n\n'), text);
        const late = await asked('GET', '/run/my-run/events');
        assert.match(late.text, /event: done/);
      });

      test('DELETE cancels a run', async () => {
        const reply = asked('POST', '/run', { json: { run: 'long', do: 'progress', steps: 10_000, ms: 10 } });
        while ((await asked('DELETE', '/run/long')).status !== 200);
        assert.equal((await reply).status, 409);
        assert.deepEqual((await asked('DELETE', '/run/long')).json, { error: "No run 'long' is under way" });
      });

      test('a DELETE that overtakes the request that starts its run cancels it all the same', async () => {
        // A page that is closed sends DELETE on a connection of its own. Where the body of the POST came later, nothing was
        // under way yet: the DELETE was 404, and the run went on to its end for nobody.
        const json = JSON.stringify({ run: 'overtaken', do: 'progress', steps: 10_000, ms: 10 });
        const headers = { 'content-type': 'application/json', 'content-length': `${json.length}` };
        const started = request({ port: server.port, method: 'POST', path: '/run', headers, agent: false });
        started.flushHeaders();
        const cancelled = asked('DELETE', '/run/overtaken');
        await sleep(100);
        started.end(json);
        const [reply] = await once(started, 'response');
        assert.equal(reply.resume().statusCode, 409);
        assert.deepEqual((await cancelled).json, { ok: true, run: 'overtaken', cancelled: true });
      });

      test('a run has a name of its own, and one name is one run at a time', async () => {
        const unnamed = await asked('POST', '/run', { json: { do: 'ok' } });
        assert.match(String(unnamed.headers['x-run']), /^[0-9a-f-]{36}$/);
        const first = asked('POST', '/run', { json: { run: 'one', do: 'progress', steps: 10_000, ms: 10 } });
        const events = asked('GET', '/run/one/events');
        while ((await asked('POST', '/run', { json: { run: 'one', do: 'ok' } })).status !== 409);
        while ((await asked('DELETE', '/run/one')).status !== 200);
        assert.equal((await first).status, 409);
        assert.equal((await events).status, 200);
        assert.equal((await asked('POST', '/run', { json: { run: 'a/b', do: 'ok' } })).status, 400);
      });
    });
  }

  describe(`${name}, requests`, { skip: skip !== false }, () => {
    /** @type {import('./programs.mjs').Program} */
    let server;
    before(async () => {
      server = await startProgram(runtime, [
        PROGRAM,
        'threads',
        JSON.stringify({ allowedHosts: ['db.example'] }),
      ]);
    });
    after(() => server.stop());

    /** @param {string} method @param {string} path @param {Parameters<typeof ask>[3]} [options] */
    const asked = (method, path, options) => ask(server.port, method, path, options);

    test('the message of a handler has all parts of the request', async () => {
      const { json } = await asked('GET', '/message/a%20b%2Fc?x=1&y=2&x=3&z=a+b', {
        headers: { cookie: 'one=1; two=a%20b', 'x-mine': 'mine' },
      });
      const { data, type } = json;
      assert.equal(type, 'GET /message/:id');
      assert.equal(data.method, 'GET');
      assert.equal(data.url, '/message/a%20b%2Fc?x=1&y=2&x=3&z=a+b');
      assert.equal(data.routerPath, '/message/:id');
      assert.equal(data.hostname, '127.0.0.1');
      assert.equal(data.protocol, 'http');
      assert.match(data.ip, /127\.0\.0\.1$/);
      assert.deepEqual(data.params, { id: 'a b/c' });
      assert.deepEqual(data.query, { x: ['1', '3'], y: '2', z: 'a b' });
      assert.deepEqual(data.cookies, { one: '1', two: 'a b' });
      assert.equal(data.headers['x-mine'], 'mine');
      assert.equal(data.body, undefined);
    });

    test('bodies are read by their type', async () => {
      /** @param {string | undefined} type @param {string | Uint8Array} body */
      const bodyOf = async (type, body) => {
        /** @type {Record<string, string>} */
        const headers = type === undefined ? {} : { 'content-type': type };
        const { status, json } = await asked('POST', '/message', { headers, body });
        return status === 200 ? json.data.body : status;
      };
      for (const value of [null, true, 0, '', [], {}, 'text', { a: [1, { b: null }] }]) {
        assert.deepEqual(await bodyOf('application/json', JSON.stringify(value)), value);
      }
      assert.deepEqual(await bodyOf('application/vnd.api+json; charset=utf-8', '{"a":"ä"}'), { a: 'ä' });
      assert.equal(await bodyOf('text/plain', '{not json'), '{not json');
      assert.deepEqual(await bodyOf('application/x-www-form-urlencoded', 'a=1&a=2&b=x+y'), {
        a: ['1', '2'],
        b: 'x y',
      });
      assert.equal(await bodyOf('application/json', ''), undefined);
      assert.equal(await bodyOf('application/json', '{bad'), 400);
      assert.equal(await bodyOf('application/json', Uint8Array.of(0x22, 0xff, 0x22)), 400);
      const bytes = await asked('POST', '/fault?do=bytes', {
        headers: { 'content-type': 'application/octet-stream' },
        body: Uint8Array.of(0, 255, 10),
      });
      assert.deepEqual(bytes.json, { isBytes: true, hex: '00ff0a' });
    });

    test('a key __proto__ in a body stays data, and pollutes nothing', async () => {
      const { status, text } = await asked('POST', '/fault', {
        headers: { 'content-type': 'application/json' },
        body: '{"do":"answer","answer":{"__proto__":{"polluted":true}}}',
      });
      assert.deepEqual([status, text], [200, '{"__proto__":{"polluted":true}}']);
      assert.equal((await asked('POST', '/message', { json: {} })).json.polluted, undefined);
    });

    test('a body above the limit is 413, with and without a length', async () => {
      const json = { text: 'x'.repeat(2000) };
      const known = await asked('POST', '/message', { json });
      assert.deepEqual([known.status, known.json], [413, { error: 'The body is larger than 1000 bytes' }]);
      const chunked = await asked('POST', '/message', { json, headers: { 'transfer-encoding': 'chunked' } });
      assert.equal(chunked.status, 413);
      assert.equal((await asked('POST', '/message', { json: { text: 'x'.repeat(900) } })).status, 200);
    });

    test('a handler of the main thread that throws is 500', async () => {
      const { status, text } = await asked('GET', '/main');
      assert.equal(status, 500);
      assert.ok(!text.includes('secret'));
    });

    test('Host must be a name of this server', async () => {
      /** @param {string} host */
      const statusFor = async (host) => (await asked('GET', '/fault?do=ok', { headers: { host } })).status;
      for (const host of [
        'localhost',
        `localhost:${server.port}`,
        '127.0.0.1:1',
        '[::1]:3000',
        'DB.example',
      ]) {
        assert.equal(await statusFor(host), 200, host);
      }
      for (const host of ['evil.example', '192.168.0.1', 'localhost.evil.example', 'db.example.evil']) {
        assert.equal(await statusFor(host), 403, host);
      }
    });

    test('what changes something must not come from a page of another site', async () => {
      /** @param {string} method @param {Record<string, string>} headers */
      const statusFor = async (method, headers) =>
        (await asked(method, '/fault?do=ok', { headers: { host: 'localhost:3000', ...headers } })).status;
      assert.equal(await statusFor('POST', {}), 200);
      assert.equal(await statusFor('POST', { origin: 'http://localhost:3000' }), 200);
      assert.equal(await statusFor('POST', { 'sec-fetch-site': 'same-origin' }), 200);
      for (const method of ['POST', 'DELETE']) {
        assert.equal(await statusFor(method, { origin: 'http://evil.example' }), 403);
        assert.equal(await statusFor(method, { origin: 'http://localhost:4000' }), 403);
        assert.equal(await statusFor(method, { origin: 'null' }), 403);
        assert.equal(await statusFor(method, { 'sec-fetch-site': 'cross-site' }), 403);
      }
      assert.equal(await statusFor('GET', { origin: 'http://evil.example' }), 200);
    });

    test('nor is the field overlooked that says so, behind however many others', async () => {
      const { status } = await askRaw(
        server.port,
        `POST /fault?do=ok HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n${'A:\r\n'.repeat(2500)}` +
          'Origin: http://evil.example\r\n\r\n',
      );
      assert.ok(status === 403 || status === 431, `${status}`);
    });

    test('handlers set status and header fields; bytes are sent as they are', async () => {
      const answer = {
        made: 1,
        http_response: { statusCode: 201, headers: { location: '/x', 'set-cookie': ['a=1', 'b=2'] } },
      };
      const made = await asked('POST', '/fault', { json: { do: 'answer', answer } });
      assert.deepEqual([made.status, made.json, made.headers.location], [201, { made: 1 }, '/x']);
      assert.deepEqual(made.headers['set-cookie'], ['a=1', 'b=2']);
      const bytes = await asked('GET', '/fault?do=sendBytes');
      assert.equal(bytes.headers['content-type'], 'application/octet-stream');
      const nothing = await asked('GET', '/fault?do=nothing');
      assert.deepEqual([nothing.status, nothing.text], [204, '']);
    });

    test('HEAD is GET without a body', async () => {
      const { status, text, headers } = await asked('HEAD', '/fault?do=ok');
      assert.deepEqual([status, text], [200, '']);
      assert.match(String(headers['content-type']), /^application\/json/);
    });

    test('a route that the application added itself works beside', async () => {
      assert.deepEqual((await asked('GET', '/own')).json, { own: true });
    });
  });

  test(`${name} with a token answers only those who have it`, { skip: skip !== false }, async () => {
    const server = await startProgram(runtime, [PROGRAM, 'threads', JSON.stringify({ token: 'right' })]);
    /** @param {Record<string, string>} headers */
    const statusFor = async (headers) => (await ask(server.port, 'GET', '/fault?do=ok', { headers })).status;
    assert.equal(await statusFor({}), 401);
    assert.equal(await statusFor({ authorization: 'Bearer wrong' }), 401);
    assert.equal(await statusFor({ authorization: 'Basic right' }), 401);
    assert.equal(await statusFor({ authorization: 'Bearer right' }), 200);
    assert.equal(await statusFor({ authorization: 'Bearer right', host: '192.0.2.1:3000' }), 200);
    assert.equal(await statusFor({ authorization: 'Bearer right', host: 'evil.example' }), 403);
    await server.stop();
  });

  for (const mode of ['threads', 'processes']) {
    test(`${name} with ${mode}: workers that end under load cost the requests that ended them`, {
      skip: skip !== false,
    }, async () => {
      const server = await startProgram(runtime, [PROGRAM, mode, PATIENT]);
      const total = 600;
      let sent = 0;
      const client = async () => {
        while (sent < total) {
          sent += 1;
          const ends = sent % 60 === 30;
          const deed = ends ? 'exit' : 'ok';
          const { status } = await ask(server.port, 'GET', `/fault?do=${deed}`);
          assert.equal(status, ends ? 500 : 200);
        }
      };
      await Promise.all(Array.from({ length: 20 }, client));
      assert.equal(await server.stop(), 0);
    });
  }

  test(`${name}: a full queue is 503 with Retry-After, and what is in it is answered`, {
    skip: skip !== false,
  }, async () => {
    const server = await startProgram(runtime, [
      PROGRAM,
      'threads',
      JSON.stringify({ poolSize: 1, maxQueue: 5 }),
    ]);
    const replies = await Promise.all(
      Array.from({ length: 60 }, () => ask(server.port, 'GET', '/fault?do=sleep&ms=20')),
    );
    const refused = replies.filter(({ status }) => status === 503);
    assert.ok(refused.length > 0 && refused.length < 60, `${refused.length} refused`);
    for (const { headers, json } of refused) {
      assert.equal(headers['retry-after'], '1');
      assert.equal(json.error, 'Too many requests are waiting');
    }
    for (const { status } of replies) assert.ok(status === 200 || status === 503);
    assert.equal((await ask(server.port, 'GET', '/fault?do=ok')).status, 200);
    await server.stop();
  });

  test(`${name}: one that hogs its worker does not keep the others`, { skip: skip !== false }, async () => {
    const server = await startProgram(runtime, [PROGRAM, 'threads', PATIENT]);
    let hogDone = false;
    const hog = ask(server.port, 'POST', '/fault', { json: { do: 'block', ms: 1200 } }).then((reply) => {
      hogDone = true;
      return reply;
    });
    const others = await Promise.all(
      Array.from({ length: 40 }, () => ask(server.port, 'GET', '/fault?do=ok')),
    );
    assert.equal(hogDone, false, 'all others were answered before the hog');
    for (const { status } of others) assert.equal(status, 200);
    assert.equal((await hog).status, 200);
    await server.stop();
  });

  test(`${name}: processes killed under load cost their own request only`, {
    skip: skip !== false,
  }, async () => {
    const server = await startProgram(runtime, [
      PROGRAM,
      'processes',
      JSON.stringify({ logging: true, handlerTimeout: 60_000 }),
    ]);
    const total = 1500;
    let sent = 0;
    /** @type {Map<number, number>} */
    const counts = new Map();
    const client = async () => {
      while (sent < total) {
        sent += 1;
        const { status } = await ask(server.port, 'GET', '/fault?do=sleep&ms=1');
        counts.set(status, (counts.get(status) ?? 0) + 1);
      }
    };
    const pids = () => [...server.output().matchAll(/\{"pid": (\d+)\}/g)].map(([, pid]) => Number(pid));
    /** @param {() => boolean} isSo */
    const until = async (isSo) => {
      while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    let kills = 0;
    const clients = Promise.all(Array.from({ length: 20 }, client));
    for (let killAt = 100; killAt < total; killAt += 200) {
      await until(() => sent >= killAt);
      const known = pids();
      process.kill(/** @type {number} */ (known.at(-1)), 'SIGKILL');
      kills += 1;
      await until(() => pids().length > known.length || sent >= total);
    }
    await clients;
    const failed = counts.get(500) ?? 0;
    assert.equal((counts.get(200) ?? 0) + failed, total, JSON.stringify([...counts]));
    assert.ok(failed <= kills, `${failed} requests failed by ${kills} kills`);
    assert.equal(await server.stop(), 0);
  });

  for (const mode of ['threads', 'processes']) {
    test(`${name} with ${mode}: a signal lets what is in flight finish`, {
      skip: skip !== false,
    }, async () => {
      const server = await startProgram(runtime, [PROGRAM, mode, PATIENT]);
      await ask(server.port, 'GET', '/fault?do=ok');
      const replies = Promise.all(
        Array.from({ length: 6 }, () => ask(server.port, 'GET', '/fault?do=sleep&ms=150')),
      );
      const long = ask(server.port, 'POST', '/run', {
        json: { run: 'r', do: 'progress', steps: 1e6, ms: 5 },
      });
      const events = ask(server.port, 'GET', '/run/r/events');
      // Once its name is taken, the run is under way, and what was asked before it has arrived.
      while ((await ask(server.port, 'POST', '/run', { json: { run: 'r', do: 'ok' } })).status !== 409);
      const code = await server.stop();
      assert.equal(code, 0);
      for (const reply of await replies)
        assert.deepEqual([reply.status, reply.json], [200, { slept: '150' }]);
      assert.equal((await long).status, 409, 'a long run is told to end');
      assert.equal((await events).status, 200);
      await assert.rejects(ask(server.port, 'GET', '/fault?do=ok'), 'nobody listens any more');
    });
  }
}
