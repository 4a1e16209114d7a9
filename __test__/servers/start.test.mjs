// The promise of `node nws.mjs` and `bun bws.js`: the same command line, one line that says where they listen, quiet
// otherwise, plain words when they cannot, and an orderly end.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ask, ROOT, runProgram, SERVERS, startProgram, temporaryFolder } from './programs.mjs';

/** Random, and of no other use. */
const TOKEN = 'h2Zc0sJq7vXn4TbLw9RdKf3M';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

for (const { name, runtime, program, skip } of SERVERS) {
  describe(program, { skip: skip !== false }, () => {
    /** @type {ReturnType<typeof temporaryFolder>} */
    let folder;
    before(() => {
      folder = temporaryFolder();
    });
    after(() => folder.remove());

    /** @param {string[]} args @param {Record<string, string>} [environment] */
    const started = (args = [], environment = {}) =>
      startProgram(runtime, [program, '--port', '0', '--data', folder.path, ...args], environment);

    test('it answers, prints one line only, and ends with 0 on Ctrl-C and on SIGTERM', async () => {
      for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
        const server = await started();
        const { status, json } = await ask(server.port, 'GET', '/local');
        assert.deepEqual([status, json], [200, { ok: true, hello: `from ${name}` }]);
        const hello = await ask(server.port, 'GET', '/helloworld');
        assert.deepEqual(hello.json, { ok: true, hello: `from ${name} Worker 0` });
        assert.equal(await server.stop(signal), 0);
        assert.equal(
          server.output(),
          `CaretDB ${version} listens on http://127.0.0.1:${server.port}; store folder ${folder.path}\n`,
        );
      }
    });

    test('in processes it does the same', async () => {
      const server = await started(['--mode', 'processes']);
      assert.equal((await ask(server.port, 'GET', '/helloworld')).status, 200);
      assert.equal(await server.stop('SIGINT'), 0);
    });

    test('the store folder is --data, else CARETDB_PATH, else ./caretdb-data', async () => {
      const path = join(folder.path, 'from-environment');
      const server = await startProgram(runtime, [program, '--port', '0'], { CARETDB_PATH: path });
      assert.ok(server.output().includes(`store folder ${path}\n`));
      await server.stop();
      const file = join(ROOT, program);
      const plain = await startProgram(runtime, [file, '--port', '0'], { CARETDB_PATH: '' }, folder.path);
      assert.ok(
        plain.output().endsWith(`store folder ${join(folder.path, 'caretdb-data')}\n`),
        plain.output(),
      );
      await plain.stop();
    });

    test('a connection that is kept alive does not keep it from ending', async () => {
      const server = await started();
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write('GET /local HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await new Promise((resolve) => socket.once('data', resolve));
      assert.equal(await server.stop(), 0);
      socket.destroy();
    });

    test('--help says how to call it', async () => {
      const { code, out, err } = await runProgram(runtime, [program, '--help']);
      assert.deepEqual([code, err], [0, '']);
      for (const word of [
        program,
        'logging',
        'poolSize',
        '--port',
        '--host',
        '--data',
        '--mode',
        '--token',
        '3000',
      ]) {
        assert.ok(out.includes(word), word);
      }
    });

    test('a port in use is one clear line and status 1', async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => other.once('listening', resolve));
      const { port } = /** @type {import('node:net').AddressInfo} */ (other.address());
      const { code, out, err } = await runProgram(runtime, [
        program,
        '--port',
        String(port),
        '--data',
        folder.path,
      ]);
      other.close();
      assert.deepEqual([code, out], [1, '']);
      assert.equal(err, `port ${port} on 127.0.0.1 is in use; choose another one with --port\n`);
    });

    test('a command line that cannot be followed is refused with what to change', async () => {
      for (const [args, words] of /** @type {[string[], RegExp][]} */ ([
        [['--port', 'x'], /--port must be a whole number/],
        [['--port', '70000'], /--port must be a whole number/],
        [['yes'], /logging must be true or false/],
        [['true', '0'], /poolSize must be a whole number/],
        [['true', '2', '3'], /'3' is one argument too many/],
        [['--mode', 'fibres'], /--mode must be threads or processes/],
        [['--nonsense'], /nonsense/],
        [['--host', '0.0.0.0'], /--token/],
        [
          ['--data', join(folder.path, 'one-process'), '--engine', 'sled', '--mode', 'processes'],
          /'sled' is for one process/,
        ],
        [['--data', folder.path, '--engine', 'paper'], /paper/],
        [['--data', fileURLToPath(import.meta.url)], /cannot make the store's folder/],
      ])) {
        const { code, out, err } = await runProgram(runtime, [program, ...args]);
        assert.deepEqual([code, out], [1, ''], args.join(' '));
        assert.match(err, words);
      }
    });

    test('another address than the loopback needs a token, from the environment too', async () => {
      const server = await started(['--host', '0.0.0.0'], { CARETDB_TOKEN: TOKEN });
      assert.match(server.output(), /requests need the token\n/);
      assert.equal((await ask(server.port, 'GET', '/local')).status, 401);
      const headers = { authorization: `Bearer ${TOKEN}` };
      assert.equal((await ask(server.port, 'GET', '/local', { headers })).status, 200);
      await server.stop();
    });

    test('with logging the console shows the pool at work, in order', async () => {
      const server = await started(['true', '3']);
      await ask(server.port, 'GET', '/helloworld?name=value', {
        headers: { authorization: 'Bearer secret-token', cookie: 'session=secret-session' },
      });
      await server.printed('Queue empty');
      await server.stop();
      const lines = server.output().split('\n');
      const rule = '='.repeat(64);
      assert.deepEqual(lines.slice(0, 4), [
        rule,
        `CaretDB ${version} running in process ${server.process.pid}`,
        'Max worker pool size: 3',
        rule,
      ]);
      const steps = lines.slice(5).filter((line) => line !== '');
      for (const line of steps) assert.match(line, /^\d{13}: /);
      const expected = [
        /^try processing queue: length 1$/,
        /^no available workers$/,
        /^starting new worker$/,
        /^new worker 0 started\.\.\.$/,
        /^response received from Worker: 0$/,
        /^\{"pid": \d+\}$/,
        /^try processing queue: length 1$/,
        /^worker 0 was available\. Sending message to it$/,
        /^Message received by worker 0: \{"type": "GET \/helloworld", "data": \{.*"query": \{"name": "value"\}/,
        /^Handler module imported into worker 0: file:.*helloworld\.mjs$/,
        /^response received from Worker: 0$/,
        new RegExp(`^\\{"ok": true, "hello": "from ${name} Worker 0"\\}$`),
        /^Queue empty$/,
      ];
      assert.equal(steps.length, expected.length, server.output());
      for (const [index, pattern] of expected.entries())
        assert.match(steps[index].replace(/^\d+: /, ''), pattern);
      assert.ok(!server.output().includes('secret'), 'tokens and cookies are not printed');
    });

    test('the pages are served with their types, and nothing outside their folder', async () => {
      const server = await started();
      const page = await ask(server.port, 'GET', '/');
      assert.equal(page.status, 200);
      assert.match(String(page.headers['content-type']), /^text\/html/);
      assert.match(String(page.headers['content-security-policy']), /script-src 'self'/);
      assert.ok(!String(page.headers['content-security-policy']).includes('unsafe-inline'));
      assert.equal(page.headers['x-content-type-options'], 'nosniff');
      const again = await ask(server.port, 'GET', '/', {
        headers: { 'if-none-match': String(page.headers.etag) },
      });
      assert.equal(again.status, 304);
      const script = await ask(server.port, 'GET', '/main.mjs');
      assert.match(String(script.headers['content-type']), /^(text|application)\/javascript/);
      const head = await ask(server.port, 'HEAD', '/');
      assert.deepEqual([head.status, head.text], [200, '']);
      for (const path of [
        '/../package.json',
        '/%2e%2e/package.json',
        '/..%2fpackage.json',
        '/style/../../package.json',
      ]) {
        assert.equal((await ask(server.port, 'GET', path)).status, 404, path);
      }
      assert.ok(existsSync(new URL('../../package.json', import.meta.url)));
      await server.stop();
    });

    test('paths and methods that no route has are 404, bad JSON is 400', async () => {
      const server = await started();
      const nope = await ask(server.port, 'GET', '/nope');
      assert.deepEqual([nope.status, nope.json], [404, { error: 'Not found: /nope' }]);
      const query = await ask(server.port, 'GET', '/nope/deeper?x=1');
      assert.deepEqual([query.status, query.json], [404, { error: 'Not found: /nope/deeper?x=1' }]);
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        assert.equal((await ask(server.port, method, '/local')).status, 404, method);
      }
      const malformed = await ask(server.port, 'GET', '/user/%zz');
      assert.deepEqual([malformed.status, malformed.json], [400, { error: 'Bad path: /user/%zz' }]);
      const headers = { 'content-type': 'application/json' };
      for (const path of ['/user', '/viewer/getChildNodes', '/benchmark']) {
        const bad = await ask(server.port, 'POST', path, { headers, body: '{bad' });
        assert.deepEqual([bad.status, bad.json], [400, { error: 'The body is not valid JSON' }], path);
      }
      for (const json of [
        {},
        null,
        [],
        'text',
        7,
        { path: 'a' },
        { path: 'a', parentId: 1, idCounter: 'x' },
      ]) {
        const invalid = await ask(server.port, 'POST', '/viewer/getChildNodes', { json });
        assert.deepEqual([invalid.status, invalid.json], [400, { error: 'Invalid request' }]);
      }
      const large = await ask(server.port, 'POST', '/user', { json: { text: 'x'.repeat(1024 * 1024) } });
      assert.deepEqual([large.status, large.json], [413, { error: 'The body is larger than 1048576 bytes' }]);
      await server.stop();
    });
  });
}
