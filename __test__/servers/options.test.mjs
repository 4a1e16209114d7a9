// The promise of the options: what cannot be used is refused at the start, in words that say what to change.

import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Service, storeOptions } from '../../js/http/service.mjs';

const handlerPath = fileURLToPath(new URL('fixtures/faults.mjs', import.meta.url));
const mainHandler = () => ({ ok: true });

describe('routes', () => {
  for (const [routes, words] of /** @type {[any, RegExp][]} */ ([
    [undefined, /must be an array/],
    [[null], /\[0\]\.method must be one of get, post/],
    [[{ method: 'fetch', url: '/', handlerPath }], /\[0\]\.method/],
    [[{ method: 'get', url: 'a', handlerPath }], /\[0\]\.url must be a path/],
    [[{ method: 'get', url: '/a' }], /either handlerPath, a string, or mainHandler/],
    [[{ method: 'get', url: '/a', handlerPath, mainHandler }], /either handlerPath/],
    [[{ method: 'get', url: '/a', handlerPath: 'no/such.mjs' }], /there is no file .*no.such\.mjs/],
    [
      [
        { method: 'get', url: '/a', handlerPath },
        { method: 'GET', url: '/a', mainHandler },
      ],
      /\[1\]: GET \/a is there already/,
    ],
    [[{ method: 'post', url: '/a', handlerPath, schema: { body: { type: 'nonsense' } } }], /type/],
  ])) {
    test(`${JSON.stringify(routes)} is refused`, () => {
      assert.throws(() => new Service({ workerHandlersByRoute: routes }, 'Fastify'), words);
    });
  }
});

test('sled in processes is refused', () => {
  const options = { workerHandlersByRoute: [], store: { engine: 'sled' } };
  assert.throws(() => new Service({ ...options, mode: 'processes' }, 'Fastify'), /'sled' is for one process/);
});

describe('the store', () => {
  test('is where the options say', () => {
    assert.deepEqual(storeOptions({ store: { path: '/a', engine: 'lmdb' } }), { path: '/a', engine: 'lmdb' });
    assert.deepEqual(storeOptions({ mgdbx: { open: { type: 'CaretDB', path: '/b' } } }), { path: '/b' });
  });

  test('is not in the installation of another product', () => {
    const open = { type: 'YottaDB', path: '/usr/local/lib/yottadb/r202' };
    const expected = resolve(process.env.CARETDB_PATH || 'caretdb-data');
    assert.deepEqual(storeOptions({ mgdbx: { open } }), { path: expected });
  });
});
