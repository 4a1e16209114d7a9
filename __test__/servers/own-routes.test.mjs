// The promise of the routes in a configuration file: one that cannot be served is refused before the server listens, by its place.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { UsageError } from '../../js/http/options.mjs';
import { ownRoutes } from '../../js/http/own-routes.mjs';
import { showcaseRoutes } from '../../js/http/routes.mjs';
import { temporaryFolder } from './programs.mjs';

const folder = temporaryFolder();
after(() => folder.remove());
const handlersFolder = join(folder.path, 'handlers');
mkdirSync(handlersFolder);
writeFileSync(join(handlersFolder, 'a.mjs'), 'export default () => ({});\n');

const GOOD = { method: 'get', url: '/a', handlerPath: 'a.mjs' };

/** @param {any} routes */
const read = (routes) => ownRoutes({ routes, handlersFolder }, showcaseRoutes('Fastify'));

test('good routes are taken', () => {
  const schema = { query: { type: 'object' } };
  const routes = read([GOOD, { ...GOOD, method: 'POST', url: '/a/:id', schema, events: true }]);
  assert.deepEqual(
    routes.map(({ method, url }) => [method, url]),
    [
      ['get', '/a'],
      ['POST', '/a/:id'],
    ],
  );
  assert.deepEqual(read(undefined), []);
});

for (const [routes, words] of /** @type {[any, RegExp][]} */ ([
  ['x', /'routes' must be an array/],
  [[GOOD, null], /^routes\[1\] must be an object/],
  [[{ ...GOOD, hanlder: 'a.mjs' }], /^routes\[0\]: 'hanlder' is no part of a route; there are: method, url/],
  [[{ ...GOOD, stream: 'x' }], /'stream' is no part/],
  [[{ ...GOOD, method: 'fetch' }], /^routes\[0\]\.method must be one of get, post/],
  [[{ ...GOOD, method: undefined }], /\.method must be/],
  [[{ ...GOOD, url: 'a' }], /^routes\[0\]\.url must be a path/],
  [[{ ...GOOD, url: 5 }], /\.url must be a path/],
  [[{ ...GOOD, url: '/local' }], /^routes\[0\]\.url: .*already declared for route '\/local'/],
  [[{ ...GOOD, url: '/user/:name' }], /^routes\[0\]\.url: .*already declared/],
  [[GOOD, GOOD], /^routes\[1\]\.url: .*already declared/],
  [[{ ...GOOD, url: '/a/*/b' }], /^routes\[0\]\.url: /],
  [[{ ...GOOD, handlerPath: '' }], /\.handlerPath must be the path of a module/],
  [[{ ...GOOD, handlerPath: 'no.mjs' }], /^routes\[0\]\.handlerPath: there is no file/],
  [[{ ...GOOD, handlerPath: '..' }], /outside of the folder of handlers/],
  [[{ ...GOOD, schema: { query: { type: 'nonsense' } } }], /^routes\[0\]\.schema: /],
  [[{ ...GOOD, schema: 'x' }], /^routes\[0\]\.schema: .*the parts params, query, body/],
  [[{ ...GOOD, schema: { body: 5 } }], /^routes\[0\]\.schema: /],
  [[{ ...GOOD, schema: { boody: {} } }], /^routes\[0\]\.schema: /],
  [[{ ...GOOD, events: 'yes' }], /\.events must be true or false/],
])) {
  test(`${JSON.stringify(routes)} is refused`, () => {
    assert.throws(
      () => read(routes),
      (/** @type {any} */ error) => error instanceof UsageError && words.test(error.message),
    );
  });
}
