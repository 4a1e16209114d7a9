// The promise of the options of nws.mjs and bws.js: docs/operations.md lists each, each can be said as a flag, as a variable and in the
// file with one meaning, and a value that cannot be followed is refused in the words of whoever said it.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { documentRoutes } from '../../js/fastify.mjs';
import { keyOf, OPTIONS, readOptions, UsageError, variableOf } from '../../js/http/options.mjs';
import { Service } from '../../js/http/service.mjs';
import { ask, ROOT, runProgram, SERVERS, startProgram, temporaryFolder } from './programs.mjs';

const folder = temporaryFolder();
after(() => folder.remove());

let configs = 0;

/** @param {object} content of a new file */
function configured(content) {
  configs += 1;
  const path = join(folder.path, `config-${configs}.json`);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

/** One value that each kind of option takes, and some that it refuses. @type {Record<string, {good: any, bad: any[]}>} */
const KINDS = {
  number: { good: 4, bad: ['many', -1, 1.5, 1e300] },
  text: { good: 'word', bad: [] },
  path: { good: '/some/where', bad: [] },
  choice: { good: undefined, bad: ['nonsense'] },
  switch: { good: true, bad: ['perhaps'] },
  list: {
    good: ['db.example', '[::1]'],
    bad: [['https://db.example'], ['db.example:80'], ['::1'], ['two words'], ['bücher.example']],
  },
};

for (const { flag, kind, choices } of OPTIONS) {
  const [key, variable] = [keyOf(flag), variableOf(flag)];
  const good = kind === 'choice' ? choices?.[0] : KINDS[kind].good;

  test(`${flag} means the same as a flag, a variable and a key of the file`, () => {
    const flags =
      kind === 'switch'
        ? [`--${flag}`]
        : [good].flat().flatMap((/** @type {any} */ one) => [`--${flag}`, String(one)]);
    assert.deepEqual(readOptions(flags, {}).values, { [key]: good });
    assert.deepEqual(readOptions([], { [variable]: String(good) }).values, { [key]: good });
    assert.deepEqual(readOptions(['--config', configured({ [key]: good })], {}).values, { [key]: good });
    assert.deepEqual(readOptions(['--config', configured({ [flag]: good })], {}).values, { [key]: good });
  });

  test(`${flag} refuses what it cannot be, whoever says it`, () => {
    const refused = (/** @type {RegExp} */ words) => (/** @type {any} */ error) =>
      error instanceof UsageError && words.test(error.message);
    for (const bad of KINDS[kind].bad) {
      if (kind !== 'switch')
        assert.throws(() => readOptions([`--${flag}=${bad}`], {}), refused(new RegExp(`^--${flag} must`)));
      assert.throws(
        () => readOptions([], { [variable]: String(bad) }),
        refused(new RegExp(`^${variable} must`)),
      );
    }
    for (const bad of [...KINDS[kind].bad, '', null, {}, [''], [3]]) {
      const config = configured({ [key]: bad });
      assert.throws(() => readOptions(['--config', config], {}), refused(new RegExp(`^'${key}' in .* must`)));
    }
  });
}

test('docs/operations.md lists every option, with its variable and its key', () => {
  const page = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `--([a-z-]+)` +\| `(CARETDB_\w+)`[^|]*\| `?(\w*)/gm)].map((row) =>
    row.slice(1, 4),
  );
  const expected = OPTIONS.map(({ flag }) => [flag, variableOf(flag), keyOf(flag)]);
  assert.deepEqual(rows.toSorted(), [...expected, ['config', 'CARETDB_CONFIG', '']].toSorted());
});

describe('in a program', () => {
  for (const [options, words] of /** @type {[any, RegExp][]} */ ([
    [{ bodyLimit: '1mb' }, /bodyLimit must be a whole number/],
    [{ maxQueue: 0 }, /maxQueue must be a whole number/],
    [{ poolSize: -1 }, /poolSize must be a whole number/],
    [{ handlerTimeout: 'long' }, /handlerTimeout must be a number of milliseconds/],
    [{ mode: 'fibres' }, /mode must be/],
    [{ token: 'two words' }, /token must be one word/],
    [{ token: '' }, /token must be one word/],
  ])) {
    test(`${JSON.stringify(options)} is refused`, () => {
      assert.throws(() => new Service({ workerHandlersByRoute: [], ...options }, 'Fastify'), words);
    });
  }

  test('limits of documents that are no numbers are refused', () => {
    assert.throws(() => documentRoutes({ batchLimit: /** @type {any} */ ('64 MB') }), /batchLimit must be/);
    assert.throws(() => documentRoutes({ attachmentLimit: NaN }), /attachmentLimit must be/);
  });
});

for (const { runtime, program, skip } of SERVERS) {
  describe(program, { skip: skip !== false }, () => {
    test('keeps to the limits of batches and attachments that it is given', async () => {
      const store = join(folder.path, program);
      const limits = ['--batch-limit', '100', '--attachment-limit', '200'];
      const server = await startProgram(runtime, [program, '--port', '0', '--data', store, ...limits]);
      /** @param {string} method @param {string} path @param {string} type @param {number} size */
      const status = async (method, path, type, size) => {
        const body = type === 'text/plain' ? 'x'.repeat(size) : `{"a":"${'x'.repeat(size - 8)}"}`;
        return (await ask(server.port, method, path, { headers: { 'content-type': type }, body })).status;
      };
      assert.equal(await status('POST', '/documents/c', 'application/x-ndjson', 100), 201);
      assert.equal(await status('POST', '/documents/c', 'application/x-ndjson', 101), 413);
      assert.equal(await status('POST', '/insert', 'application/x-ndjson', 101), 413);
      assert.equal(await status('PUT', '/documents/c/1/attachments/a', 'text/plain', 200), 201);
      assert.equal(await status('PUT', '/documents/c/1/attachments/a', 'text/plain', 201), 413);
      await server.stop();
    });

    test('refuses a token that no header field can bring, wherever it stands', async () => {
      writeFileSync(join(folder.path, 'token'), 'two words\n');
      for (const [args, environment, words] of /** @type {[string[], Record<string, string>, RegExp][]} */ ([
        [['--config', configured({ token: 'two words' })], {}, /'token' in .* must be one word/],
        [['--token', 'schön'], {}, /--token must be one word/],
        [[], { CARETDB_TOKEN: ' ' }, /CARETDB_TOKEN must be one word/],
        [['--token-file', join(folder.path, 'token')], {}, /--token-file: .* must have one token/],
        [
          ['--config', configured({ handlersFolder: 'no-such' })],
          {},
          /'handlersFolder' in .*: there is no folder/,
        ],
        [[], { CARETDB_TLS_CERT: 'a.pem' }, /CARETDB_TLS_CERT needs --tls-key/],
      ])) {
        const { code, err } = await runProgram(runtime, [program, ...args], environment);
        assert.equal(code, 1, args.join(' '));
        assert.match(err, words);
      }
    });

    test('tells browsers to keep to https where a proxy speaks it', async () => {
      const store = join(folder.path, program);
      const server = await startProgram(runtime, [program, '--port', '0', '--data', store, '--secure']);
      const { headers } = await ask(server.port, 'GET', '/local');
      assert.match(String(headers['strict-transport-security']), /max-age/);
      await server.stop();
    });
  });
}
