// The promise of the API page: /api leads to it on both servers, with what it is made of; it has every route of the OpenAPI document in a
// group; and a schema is said in words.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupsOf } from '../../js/www/pages/api/groups.mjs';
import { schemaText } from '../../js/www/pages/api/schema-text.mjs';
import { onBothServers } from './both.mjs';

onBothServers('the API page', (site) => {
  test('is where /api leads, and the menu', async () => {
    const { status, headers } = await site.ask('GET', '/api');
    assert.deepEqual([status, headers.location], [303, '/#/api']);
    const page = await site.ask('GET', '/');
    assert.match(page.text, /href="\/style\/api\.css"/);
    assert.match((await site.ask('GET', '/main.mjs')).text, /path: 'api', title: 'API', inMenu: true/);
    for (const part of [
      '/style/api.css',
      '/pages/api.mjs',
      '/pages/api/groups.mjs',
      '/pages/api/schema-text.mjs',
    ])
      assert.equal((await site.ask('GET', part)).status, 200, part);
  });

  test('has every route of the document, and words for every schema', async () => {
    const { json } = await site.ask('GET', '/openapi.json');
    const routes = groupsOf(json).flatMap((group) => group.routes);
    const operations = Object.values(json.paths).flatMap((one) => Object.values(one));
    assert.equal(routes.length, operations.length);
    assert.ok(groupsOf(json).some(({ name }) => name === 'Documents'));
    for (const { parameters, requestBody } of operations) {
      const bodies = Object.values(requestBody?.content ?? {});
      for (const { schema } of [...parameters, ...bodies])
        assert.match(schemaText(schema), /^(?!.*(undefined|\[object))\S/, JSON.stringify(schema));
    }
  });
});

test('a schema is said in words', () => {
  const point = {
    type: 'object',
    required: ['x'],
    properties: { x: { type: 'number', minimum: 0 }, y: true },
  };
  for (const [schema, text] of /** @type {[any, string][]} */ ([
    [undefined, 'anything'],
    [{}, 'anything'],
    [{ type: ['string', 'number'] }, 'string or number'],
    [{ enum: ['a', 1] }, '"a" or 1'],
    [{ $ref: '#/components/schemas/Error' }, 'Error'],
    [{ type: 'array', minItems: 1, items: { type: 'integer' } }, 'array of integer, 1 or more items'],
    [point, 'object\n  x (required): number, 0 or more\n  y: anything'],
    [{ anyOf: [{ type: 'null' }, { const: 7 }] }, 'null or 7'],
    [
      { type: 'object', properties: { p: point } },
      'object\n  p: object\n    x (required): number, 0 or more\n    y: anything',
    ],
  ]))
    assert.equal(schemaText(schema), text);
});
