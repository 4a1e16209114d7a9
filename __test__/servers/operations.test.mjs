// The promises to whoever runs a server: each option can be said in three ways, what cannot be followed is refused with what to
// change, and the server says how it is.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { debianProgram } from '../real/debian.mjs';
import { ask, runProgram, SERVERS, startProgram, temporaryFolder } from './programs.mjs';

const openssl = debianProgram({ package: 'openssl', programs: ['openssl', '/usr/bin/openssl'] });

/** Random, and of no other use. */
const TOKEN = 'b7Vd2MxQz9LrT4sWk8HnJ3cY';

for (const { name, runtime, program, skip } of SERVERS) {
  describe(`${program}, its options`, { skip: skip !== false }, () => {
    const folder = temporaryFolder();
    after(() => folder.remove());
    const store = join(folder.path, 'store');

    /** @param {string} text */
    const configured = (text) => {
      const path = join(folder.path, 'config.json');
      writeFileSync(path, text);
      return path;
    };

    test('a flag counts before a variable, a variable before the file', async () => {
      const config = configured(JSON.stringify({ port: 0, data: 'store', pool: 1, log: 'text' }));
      /** @param {string[]} args @param {Record<string, string>} environment */
      const poolOf = async (args, environment) => {
        const server = await startProgram(runtime, [program, ...args], environment);
        await server.stop();
        assert.ok(server.output().includes(`store folder ${store}\n`), 'relative to the file');
        return Number(/Max worker pool size: (\d+)/.exec(server.output())?.[1]);
      };
      assert.equal(await poolOf(['--config', config], {}), 1);
      assert.equal(await poolOf([], { CARETDB_CONFIG: config, CARETDB_POOL: '3' }), 3);
      assert.equal(await poolOf(['--config', config, '--pool', '4'], { CARETDB_POOL: '3' }), 4);
      assert.equal(await poolOf(['true', '5', '--config', config], { CARETDB_POOL: '3' }), 5);
    });

    for (const [what, text, words] of /** @type {[string, string, RegExp][]} */ ([
      ['an unknown key', '{"prot": 1}', /'prot' in .*config\.json is no option; there are: port, host/],
      ['a wrong type', '{"port": "3000"}', /'port' in .*config\.json must be a whole number .* not '3000'/],
      ['a number out of range', '{"pool": 0}', /'pool' in .* must be a whole number from 1 to 1024, not 0/],
      ['a wrong word', '{"mode": "fibres"}', /'mode' in .* must be threads or processes, not 'fibres'/],
      ['a switch that is none', '{"edit": "yes"}', /'edit' in .* must be true or false, not 'yes'/],
      ['a list that is none', '{"allowHost": [1]}', /'allowHost' in .* must be a list of names/],
      ['no JSON', '{port: 1}', /config\.json is not valid JSON/],
      ['no object', '[1]', /must be a JSON object/],
      ['routes without a folder', '{"routes": []}', /needs 'handlersFolder'/],
      ['one key in two spellings', '{"tlsKey": "a", "tls-key": "b"}', /'tlsKey' is in .* twice/],
    ])) {
      test(`a file with ${what} is refused`, async () => {
        const { code, out, err } = await runProgram(runtime, [program, '--config', configured(text)]);
        assert.deepEqual([code, out], [1, '']);
        assert.match(err, words);
      });
    }

    test('files that are not there or cannot be read are named, and so is what named them', async () => {
      mkdirSync(join(folder.path, 'folder'));
      writeFileSync(join(folder.path, 'empty'), '\n');
      for (const [args, environment, words] of /** @type {[string[], Record<string, string>, RegExp][]} */ ([
        [['--config', 'no/such.json'], {}, /--config: there is no file .*no\/such\.json/],
        [[], { CARETDB_CONFIG: folder.path }, /CARETDB_CONFIG: .* is a folder/],
        [['--token-file', 'no-such'], {}, /--token-file: there is no file/],
        [['--token-file', join(folder.path, 'empty')], {}, /--token-file: .* must have one token/],
        [[], { CARETDB_TOKEN_FILE: 'no-such' }, /CARETDB_TOKEN_FILE: there is no file/],
        [['--token', 'a', '--token-file', 'b'], {}, /either --token or --token-file, not both/],
        [[], { CARETDB_PORT: 'many' }, /CARETDB_PORT must be a whole number/],
        [[], { CARETDB_EDIT: 'yes' }, /CARETDB_EDIT must be true or false/],
        [['--log', 'xml'], {}, /--log must be off or text or json/],
        [['--tls-cert', 'a.pem'], {}, /--tls-cert needs --tls-key/],
      ])) {
        const { code, err } = await runProgram(runtime, [program, ...args], environment);
        assert.equal(code, 1, args.join(' '));
        assert.match(err, words);
      }
    });
  });

  describe(`${name}, how it is`, { skip: skip !== false }, () => {
    const folder = temporaryFolder();
    after(() => folder.remove());

    test('it is ready when a worker answers and the store opens in it', async () => {
      const server = await startProgram(runtime, [program, '--port', '0', '--data', folder.path]);
      const ready = await ask(server.port, 'GET', '/health');
      assert.deepEqual([ready.status, ready.json], [200, { status: 'ok', workers: 'ok', store: 'ok' }]);
      assert.deepEqual((await ask(server.port, 'GET', '/health/live')).json, { status: 'ok' });
      await server.stop();
    });

    test('it is not ready while no worker answers, and alive all the same', async () => {
      const handlers = join(folder.path, 'handlers');
      mkdirSync(handlers);
      writeFileSync(join(handlers, 'spin.mjs'), 'export default () => { for (;;); };\n');
      const config = join(folder.path, 'config.json');
      const routes = [{ method: 'get', url: '/spin', handlerPath: 'spin.mjs' }];
      writeFileSync(config, JSON.stringify({ handlersFolder: 'handlers', routes, handlerTimeout: 6000 }));
      const server = await startProgram(runtime, [
        program,
        ...['--port', '0', '--data', join(folder.path, 'busy'), '--config', config, '--pool', '1'],
      ]);
      const spinning = ask(server.port, 'GET', '/spin');
      // Once a worker is busy, it spins.
      while (!/state="busy"\} 1/.test((await ask(server.port, 'GET', '/metrics')).text));
      const { status, json } = await ask(server.port, 'GET', '/health/ready');
      assert.deepEqual([status, json], [503, { status: 'failing', workers: 'no answer', store: 'unknown' }]);
      assert.equal((await ask(server.port, 'GET', '/health/live')).status, 200);
      assert.equal((await spinning).status, 504);
      await server.stop();
    });

    test('its metrics are what Prometheus reads, and add up', async () => {
      const server = await startProgram(runtime, [program, '--port', '0', '--data', folder.path]);
      for (let count = 0; count < 3; count += 1) await ask(server.port, 'GET', '/helloworld');
      await ask(server.port, 'GET', '/user/99');
      await ask(server.port, 'GET', '/nope?"quoted"\\');
      await ask(server.port, 'BREW', '/local').catch(() => {});
      await ask(server.port, 'GET', '/main.mjs');
      const { status, headers, text } = await ask(server.port, 'GET', '/metrics');
      assert.equal(status, 200);
      assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/);
      const sample = /^[a-z_]+(\{[a-z]+="([^"\\\n]|\\.)*"(,[a-z]+="([^"\\\n]|\\.)*")*\})? -?[\d.e+-]+$/;
      for (const line of text.trim().split('\n')) {
        assert.ok(line.startsWith('# HELP ') || line.startsWith('# TYPE ') || sample.test(line), line);
      }
      for (const [line, value] of [
        ['caretdb_http_requests_total{method="GET",route="/helloworld",status="200"}', 3],
        ['caretdb_http_requests_total{method="GET",route="/user/:id",status="400"}', 1],
        ['caretdb_http_requests_total{method="GET",route="(none)",status="404"}', 1],
        ['caretdb_http_requests_total{method="GET",route="(pages)",status="200"}', 1],
        ['caretdb_http_request_duration_seconds_count{method="GET",route="/helloworld"}', 3],
        ['caretdb_http_request_duration_seconds_bucket{method="GET",route="/helloworld",le="+Inf"}', 3],
        ['caretdb_pool_queue_length', 0],
        ['caretdb_pool_workers_max', 2],
        ['caretdb_store_up', 1],
      ]) {
        assert.ok(text.includes(`\n${line} ${value}\n`), `${line} ${value}`);
      }
      assert.match(text, /\ncaretdb_store_disk_bytes \d+\n/);
      await server.stop();
    });

    test('the log as JSON tells the start, the signal and the end', async () => {
      const server = await startProgram(runtime, [
        program,
        ...['--port', '0', '--data', folder.path, '--log', 'json'],
      ]);
      assert.equal(await server.stop(), 0);
      const lines = server.output().trim().split('\n');
      const messages = lines.map((line) => JSON.parse(line).msg);
      assert.deepEqual(messages.slice(-2), ['stopping: what is in flight is finished first', 'stopped']);
      assert.equal(JSON.parse(lines[1]).store, folder.path);
    });
  });

  describe(`${name} over https`, { skip: skip !== false ? true : openssl.skip }, () => {
    const folder = temporaryFolder();
    /** @param {string} file */
    const at = (file) => join(folder.path, file);
    before(() => {
      for (const who of ['one', 'two']) {
        execFileSync(
          String(openssl.path),
          [
            ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
            ...[
              '-keyout',
              at(`${who}.key`),
              '-out',
              at(`${who}.crt`),
              '-days',
              '2',
              '-subj',
              '/CN=localhost',
            ],
          ],
          { stdio: 'ignore' },
        );
      }
      writeFileSync(at('none.pem'), 'no certificate\n');
    });
    after(() => folder.remove());

    /** @param {number} port @param {string} method @param {string} path @param {Record<string, string>} headers @param {string} [body] */
    const askSecurely = async (port, method, path, headers, body) => {
      const asked = request({ host: '127.0.0.1', port, method, path, headers, rejectUnauthorized: false });
      asked.end(body);
      const [reply] = await once(asked, 'response');
      let text = '';
      for await (const chunk of reply.setEncoding('utf8')) text += chunk;
      return { status: reply.statusCode, headers: reply.headers, text };
    };

    test('it answers, asks browsers to stay with https, and its cookies are for https only', async () => {
      const server = await startProgram(
        runtime,
        [
          program,
          '--port',
          '0',
          '--data',
          at('store'),
          '--tls-cert',
          at('one.crt'),
          '--tls-key',
          at('one.key'),
        ],
        { CARETDB_TOKEN: TOKEN },
      );
      assert.match(server.output(), /listens on https:/);
      const authorization = `Bearer ${TOKEN}`;
      const local = await askSecurely(server.port, 'GET', '/local', { authorization });
      assert.equal(local.status, 200);
      assert.equal(local.headers['strict-transport-security'], 'max-age=31536000');
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const login = await askSecurely(server.port, 'POST', '/login', form, `token=${TOKEN}`);
      const field = String(login.headers['set-cookie']);
      assert.match(
        field,
        /^__Host-caretdb-session=[\w-]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/,
      );
      const cookie = field.split(';')[0];
      assert.equal((await askSecurely(server.port, 'GET', '/helloworld', { cookie })).status, 200);
      await assert.rejects(ask(server.port, 'GET', '/local'));
      assert.equal(await server.stop(), 0);
    });

    test('files that are no certificate and its key are refused, with what is wrong', async () => {
      for (const [cert, key, words] of /** @type {[string, string, RegExp][]} */ ([
        ['none.pem', 'one.key', /--tls-cert is not a certificate in PEM form/],
        ['one.crt', 'none.pem', /--tls-key is not an unencrypted key in PEM form/],
        ['one.crt', 'two.key', /--tls-key: the key does not belong to the certificate/],
        ['missing.crt', 'one.key', /--tls-cert: there is no file/],
      ])) {
        const { code, out, err } = await runProgram(runtime, [
          program,
          ...['--port', '0', '--data', at('store'), '--tls-cert', at(cert), '--tls-key', at(key)],
        ]);
        assert.deepEqual([code, out], [1, ''], cert);
        assert.match(err, words);
      }
    });
  });
}
