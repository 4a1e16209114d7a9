// The promises of docs/security.md, on both servers: who gets in, what is refused before anything is done with it, and what no
// reply and no line of the log has.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ask, ROOT, runProgram, SERVERS, startProgram, temporaryFolder } from './programs.mjs';
import { askRaw, startAndStall } from './raw.mjs';

/** Random, and of no other use. */
const TOKEN = 'n3Q8xWv5LkR2tYb7ZsJd0FhM';

const JSON_TYPE = { 'content-type': 'application/json' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** What is no request of HTTP, or one that two servers could read in two ways. */
const MALFORMED = {
  'two lengths': 'POST /user HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
  'a length and chunks':
    'POST /user HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'a chunk without a length':
    'POST /user HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n',
  'an unknown coding':
    'POST /user HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
  'a coding behind chunks':
    'POST /user HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n',
  'a length below zero': 'POST /user HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n',
  'a length with a sign': 'POST /user HTTP/1.1\r\nHost: localhost\r\nContent-Length: +2\r\n\r\n{}',
  'a space before a colon': 'GET /local HTTP/1.1\r\nHost : localhost\r\n\r\n',
  'a folded field': 'GET /local HTTP/1.1\r\nHost: localhost\r\nX-A: a\r\n b\r\n\r\n',
  'a NUL in a field': 'GET /local HTTP/1.1\r\nHost: localhost\r\nX-A: a\0b\r\n\r\n',
  'no host': 'GET /local HTTP/1.1\r\n\r\n',
  'no HTTP': 'hello\r\n\r\n',
};

for (const { name, runtime, program, skip } of SERVERS) {
  describe(`${name} that listens to others`, { skip: skip !== false }, () => {
    const folder = temporaryFolder();
    /** @type {import('./programs.mjs').Program} */
    let server;
    /** @type {Promise<import('./raw.mjs').RawAnswer>[]} */
    let stalled;
    before(async () => {
      writeFileSync(join(folder.path, 'token'), `${TOKEN}\n`);
      server = await startProgram(runtime, [
        program,
        ...['--port', '0', '--host', '0.0.0.0', '--data', join(folder.path, 'store'), '--log', 'json'],
        ...['--token-file', join(folder.path, 'token')],
      ]);
      stalled = [
        startAndStall(server.port, 'GET /local HTTP/1.1\r\nHost: local'),
        startAndStall(server.port, ''),
      ];
    });
    after(async () => {
      assert.equal(await server.stop(), 0);
      folder.remove();
    });

    /** @param {string} method @param {string} path @param {Parameters<typeof ask>[3]} [options] */
    const asked = (method, path, options = {}) =>
      ask(server.port, method, path, {
        ...options,
        headers: { authorization: `Bearer ${TOKEN}`, ...options.headers },
      });

    /** @param {string} token @param {string} [next] */
    const logIn = (token, next = '/') =>
      ask(server.port, 'POST', '/login', {
        headers: FORM,
        body: new URLSearchParams({ token, next }).toString(),
      });

    test('only the token opens it, and only in the header field or by a session', async () => {
      /** @param {Record<string, string>} headers @param {string} [path] */
      const status = async (headers, path = '/local') =>
        (await ask(server.port, 'GET', path, { headers })).status;
      assert.equal(await status({}), 401);
      assert.equal(await status({ authorization: `Bearer ${TOKEN}` }), 200);
      for (const wrong of [TOKEN.slice(1), `${TOKEN}x`, TOKEN.toLowerCase(), '', 'null']) {
        assert.equal(await status({ authorization: `Bearer ${wrong}` }), 401, wrong);
      }
      assert.equal(await status({ authorization: TOKEN }), 401);
      assert.equal(await status({ cookie: `caretdb-session=${TOKEN}` }), 401);
      assert.equal(await status({}, `/local?token=${TOKEN}`), 401);
      for (const path of [
        '/metrics',
        '/',
        '/main.mjs',
        '/nope',
        '/viewer/globaldirectory',
        '/login/../local',
      ]) {
        assert.equal(await status({}, path), 401, path);
      }
    });

    test('a probe needs no token, and learns no more than a word', async () => {
      for (const path of ['/health', '/health/live', '/health/ready']) {
        const { status, json } = await ask(server.port, 'GET', path);
        assert.equal(status, 200, path);
        for (const value of Object.values(json)) assert.equal(value, 'ok');
      }
    });

    test('a browser is sent to a login page without scripts, and gets a session that is not the token', async () => {
      const page = await ask(server.port, 'GET', '/?a=1', { headers: { accept: 'text/html' } });
      assert.deepEqual([page.status, page.headers.location], [303, '/login?next=%2F%3Fa%3D1']);
      const form = await ask(server.port, 'GET', '/login?next=%2F%3Fa%3D1');
      assert.equal(form.status, 200);
      assert.match(form.text, /name="next" value="\/\?a=1"/);
      assert.ok(!/<script|<style| style=| on\w+=/.test(form.text));
      const style = await ask(server.port, 'GET', '/login/login.css');
      assert.match(String(style.headers['content-type']), /^text\/css/);

      const reply = await logIn(TOKEN, '/?a=1');
      assert.deepEqual([reply.status, reply.headers.location], [303, '/?a=1']);
      const field = String(reply.headers['set-cookie']);
      assert.match(field, /^caretdb-session=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
      assert.ok(!field.includes(TOKEN));
      const headers = { cookie: field.split(';')[0] };
      assert.equal((await ask(server.port, 'GET', '/local', { headers })).status, 200);
      const crossSite = { ...headers, origin: 'http://evil.example' };
      assert.equal((await ask(server.port, 'POST', '/user', { headers: crossSite, json: {} })).status, 403);

      const session = async () => (await ask(server.port, 'GET', '/login/session', { headers })).json;
      assert.deepEqual(await session(), { session: true });
      assert.deepEqual((await asked('GET', '/login/session')).json, { session: false });

      const out = await ask(server.port, 'POST', '/logout', { headers });
      assert.equal(out.status, 303);
      assert.match(String(out.headers['set-cookie']), /^caretdb-session=; .*Max-Age=0;/);
      assert.equal((await ask(server.port, 'GET', '/local', { headers })).status, 401);
      // Whose session is over already is led to the login all the same.
      assert.equal((await ask(server.port, 'POST', '/logout', { headers })).headers.location, '/login');
      assert.equal((await ask(server.port, 'POST', '/logout', { headers: crossSite })).status, 403);
    });

    test('after a login nobody is sent to another site', async () => {
      for (const next of [
        'https://evil.example',
        '//evil.example',
        '/\\evil.example',
        '/\t/evil',
        'evil',
        '',
      ]) {
        assert.equal((await logIn(TOKEN, next)).headers.location, '/', next);
      }
      const page = await ask(server.port, 'GET', `/login?next=${encodeURIComponent('/"><script>')}`);
      assert.ok(!page.text.includes('<script>'));
    });

    test('an address that guesses has to wait; those who have the token or a session go on', async () => {
      let last = await logIn(TOKEN);
      assert.equal(last.status, 303);
      const headers = { cookie: String(last.headers['set-cookie']).split(';')[0] };
      for (let attempt = 0; attempt < 5; attempt += 1) {
        last = await logIn(`wrong-${attempt}`);
        assert.equal(last.status, 401);
      }
      for (const token of ['wrong', TOKEN]) {
        last = await logIn(token);
        assert.equal(last.status, 429);
        assert.match(String(last.headers['retry-after']), /^[1-9]\d?$/);
      }
      const json = await ask(server.port, 'POST', '/login', { json: { token: 'wrong' } });
      assert.equal(json.status, 429);
      assert.match(json.json.error, /Too many wrong tokens/);
      assert.equal((await asked('GET', '/local')).status, 200);
      assert.equal((await ask(server.port, 'GET', '/local', { headers })).status, 200);
    });

    test('every reply says what a browser may do with it', async () => {
      for (const [method, path] of [
        ['GET', '/'],
        ['GET', '/main.mjs'],
        ['GET', '/local'],
        ['GET', '/helloworld'],
        ['GET', '/nope'],
        ['GET', '/user/%zz'],
        ['POST', '/user'],
        ['DELETE', '/benchmark/none'],
        ['GET', '/login'],
      ]) {
        const { headers } = await asked(method, path);
        const policy = String(headers['content-security-policy']);
        assert.match(policy, /default-src 'none'.*frame-ancestors 'none'/, path);
        assert.ok(!policy.includes('unsafe'), path);
        assert.equal(headers['x-content-type-options'], 'nosniff', path);
        assert.equal(headers['x-frame-options'], 'DENY', path);
        assert.equal(headers['referrer-policy'], 'same-origin', path);
        assert.equal(headers['cross-origin-opener-policy'], 'same-origin', path);
        assert.equal(headers['cross-origin-resource-policy'], 'same-origin', path);
        assert.equal(headers['strict-transport-security'], undefined, 'only over https');
        assert.equal(headers['access-control-allow-origin'], undefined, path);
      }
      const refused = await ask(server.port, 'GET', '/local');
      assert.match(String(refused.headers['content-security-policy']), /default-src 'none'/);
    });

    test('a body that would have to be unpacked is 415, however it is packed', async () => {
      const bomb = gzipSync(Buffer.alloc(10_000_000, ' '));
      for (const coding of ['gzip', 'deflate', 'br', 'GZIP', 'identity, gzip', 'x']) {
        const { status } = await asked('POST', '/user', {
          headers: { ...JSON_TYPE, 'content-encoding': coding },
          body: bomb,
        });
        assert.equal(status, 415, coding);
      }
      const plain = { ...JSON_TYPE, 'content-encoding': 'identity' };
      assert.equal((await asked('POST', '/user', { headers: plain, body: '{"a":"b"}' })).status, 200);
    });

    test('keys of prototypes are data: stored, read back, and nothing else', async () => {
      const body = '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}';
      const { status, json } = await asked('POST', '/user', { headers: JSON_TYPE, body });
      assert.equal(status, 200);
      const back = await asked('GET', `/user/${json.id}`);
      assert.deepEqual(JSON.parse(back.text).document, JSON.parse(body));
      assert.equal((await asked('GET', '/helloworld?__proto__[polluted]=yes&constructor=x')).status, 200);
      const other = await asked('POST', '/user', { json: { name: 'other' } });
      assert.deepEqual((await asked('GET', `/user/${other.json.id}`)).json, { document: { name: 'other' } });
    });

    test('a person who cannot be stored uses up no id', async () => {
      const first = await asked('POST', '/user', { json: { name: 'first' } });
      const large = await asked('POST', '/user', { json: { ['k'.repeat(2000)]: 1 } });
      assert.equal(large.status, 400);
      assert.equal((await asked('POST', '/user', { json: [] })).status, 400);
      const second = await asked('POST', '/user', { json: { name: 'second' } });
      assert.equal(Number(second.json.id), Number(first.json.id) + 1);
    });

    for (const [what, bytes] of Object.entries(MALFORMED)) {
      test(`${what}: 400, and the connection is closed`, async () => {
        const { status, closed, text } = await askRaw(server.port, bytes);
        assert.deepEqual([status, closed], [400, true], text);
      });
    }

    test('two hosts are none that this server answers for', async () => {
      for (const hosts of ['localhost\r\nHost: evil.example', 'evil.example\r\nHost: localhost']) {
        const { status } = await askRaw(
          server.port,
          `GET /local HTTP/1.1\r\nAuthorization: Bearer ${TOKEN}\r\nHost: ${hosts}\r\n\r\n`,
        );
        assert.equal(status, 403);
      }
    });

    test('header fields beyond the limit are 431', async () => {
      for (const fields of [`X-A: ${'a'.repeat(40_000)}\r\n`, 'X-A: aaaaaaaaaa\r\n'.repeat(3000)]) {
        const { status, closed } = await askRaw(
          server.port,
          `GET /local HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`,
        );
        assert.deepEqual([status, closed], [431, true]);
      }
    });

    test('no header field is overlooked, however many there are', async () => {
      // Node.js drops those behind the 2,000th, and an Origin there was not looked at.
      const { status } = await askRaw(
        server.port,
        `POST /user HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 0\r\n` +
          `${'A:\r\n'.repeat(2500)}Origin: http://evil.example\r\n\r\n`,
      );
      assert.ok(status === 403 || status === 431, `${status}`);
    });

    test('a body beyond the limit is refused before it is sent', async () => {
      const { status } = await askRaw(
        server.port,
        `POST /user HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n` +
          'Content-Type: application/json\r\nContent-Length: 2000000000\r\n\r\n',
      );
      assert.equal(status, 413);
    });

    test('no path leads out of the folder of pages', async () => {
      assert.ok(existsSync(join(ROOT, 'package.json')));
      for (const path of [
        '/../package.json',
        '/../../package.json',
        '/%2e%2e/%2e%2e/package.json',
        '/..%2f..%2fpackage.json',
        '/style/..%2f..%2f..%2fpackage.json',
        '/..\\..\\package.json',
        '/%2e%2e%5c%2e%2e%5cpackage.json',
        '/style/%00/../../package.json',
        '//etc/passwd',
        '/.git/config',
      ]) {
        const { status, text } = await askRaw(
          server.port,
          `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
        );
        assert.ok(status === 404 || status === 400, `${path}: ${status}`);
        assert.ok(!text.includes('"name": "caretdb"') && !text.includes('root:'), path);
      }
    });

    test('who begins a request and goes silent is hung up on', async () => {
      for (const { status } of await Promise.all(stalled)) assert.ok(status === 0 || status === 408);
    });

    test('the log has a line for each request and no secret', async () => {
      await asked('GET', '/helloworld?token=secret-in-query&x=1', {
        headers: { cookie: 'session=secret-cookie', 'x-api-key': 'secret-key' },
      });
      await ask(server.port, 'GET', '/local', { headers: { authorization: 'Bearer secret-attempt' } });
      const marker = await asked('GET', '/helloworld-marker');
      assert.equal(marker.status, 404);
      await server.printed('/helloworld-marker');
      const lines = server
        .output()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      assert.ok(lines.some(({ msg }) => / listens on /.test(msg)));
      const line = lines.find(({ route, status }) => route === '/helloworld' && status === 200);
      assert.deepEqual(
        [line.method, line.path, line.msg, typeof line.ms],
        ['GET', '/helloworld', 'request', 'number'],
      );
      assert.ok(!server.output().includes(TOKEN));
      assert.ok(!server.output().includes('secret'), 'neither in paths, nor in fields');
    });
  });

  describe(`${program}: what it refuses to start with`, { skip: skip !== false }, () => {
    const folder = temporaryFolder();
    after(() => folder.remove());

    /** @param {string[]} args @param {Record<string, string>} [environment] */
    const refusal = async (args, environment = {}) => {
      const { code, out, err } = await runProgram(
        runtime,
        [program, '--data', join(folder.path, 'store'), ...args],
        environment,
      );
      assert.deepEqual([code, out], [1, ''], err);
      return err;
    };

    test('who named no address is heard by this machine only', async () => {
      const server = await startProgram(runtime, [
        program,
        ...['--port', '0', '--data', join(folder.path, 'store')],
      ]);
      const others = Object.values(networkInterfaces())
        .flatMap((addresses) => addresses ?? [])
        .filter(({ internal, family }) => !internal && family === 'IPv4')
        .map(({ address }) => address);
      // On Linux all of 127.0.0.0/8 is this machine: a second name of it, where it has no other.
      if (process.platform === 'linux') others.push('127.0.0.2');
      for (const host of others) {
        const socket = connect(server.port, host);
        const [error] = await once(socket, 'error');
        assert.equal(error.code, 'ECONNREFUSED', host);
      }
      assert.equal((await ask(server.port, 'GET', '/local')).status, 200);
      await server.stop();
    });

    test('an address for others without a token, or with one that can be guessed', async () => {
      for (const host of ['0.0.0.0', '::', '192.0.2.1']) {
        assert.match(await refusal(['--host', host]), /token.*randomBytes/);
      }
      for (const token of ['secret', 'password12345', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa']) {
        const err = await refusal(['--host', '0.0.0.0'], { CARETDB_TOKEN: token });
        assert.match(err, /can be guessed.*randomBytes/);
        assert.ok(!err.includes(token));
      }
    });

    test('handlers outside of the folder of handlers, by whichever way', async () => {
      const handlers = join(folder.path, 'handlers');
      mkdirSync(handlers);
      const outside = join(folder.path, 'outside.mjs');
      writeFileSync(outside, 'export default () => ({ outside: true });\n');
      writeFileSync(join(handlers, 'inside.mjs'), 'export default () => ({ inside: true });\n');
      symlinkSync(outside, join(handlers, 'link.mjs'));
      const config = join(folder.path, 'routes.json');
      /** @param {string} handlerPath */
      const configure = (handlerPath) =>
        writeFileSync(
          config,
          JSON.stringify({
            handlersFolder: 'handlers',
            routes: [{ method: 'get', url: '/own', handlerPath }],
          }),
        );
      for (const handlerPath of ['../outside.mjs', outside, 'link.mjs', `file://${outside}`]) {
        configure(handlerPath);
        assert.match(await refusal(['--config', config]), /outside of the folder of handlers/, handlerPath);
      }
      configure('inside.mjs');
      const server = await startProgram(runtime, [
        program,
        ...['--port', '0', '--data', join(folder.path, 'store'), '--config', config],
      ]);
      assert.deepEqual((await ask(server.port, 'GET', '/own')).json, { inside: true });
      await server.stop();
    });
  });
}
