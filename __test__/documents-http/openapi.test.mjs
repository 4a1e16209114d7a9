// The promise of the OpenAPI document: it names every route, and what it says of a parameter is what the server holds to.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothServers } from './both.mjs';

onBothServers('the OpenAPI document', (site) => {
  test('names the routes of every room, each once', async () => {
    const { status, json } = await site.ask('GET', '/openapi.json');
    assert.deepEqual([status, json.openapi], [200, '3.1.0']);
    for (const path of [
      '/documents/{collection}',
      '/documents/{collection}/{id}',
      '/documents/{collection}/_indexes',
      '/documents/{collection}/{id}/attachments/{name}',
      '/insert',
      '/search',
      '/user/{id}',
      '/benchmark',
      '/benchmark/{run}/events',
      '/viewer/getChildNodes',
      '/health',
      '/openapi.json',
    ])
      assert.ok(json.paths[path] !== undefined, path);
    const ids = Object.values(json.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual(Object.keys(json.paths['/documents/{collection}/{id}']), [
      'get',
      'put',
      'patch',
      'delete',
    ]);
  });

  test('says what the server holds to', async () => {
    const { paths } = (await site.ask('GET', '/openapi.json')).json;
    const [collection] = paths['/documents/{collection}'].get.parameters;
    assert.equal(collection.in, 'path');
    const pattern = new RegExp(collection.schema.pattern);
    for (const name of ['a', 'a.b', '1x', 'x.', 'people'])
      assert.equal((await site.ask('GET', `/documents/${name}`)).status === 200, pattern.test(name), name);
  });
});
