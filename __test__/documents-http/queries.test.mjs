// The promise of lists and queries: each document that stays in place is shown once, whatever is written meanwhile; an index finds
// what has the value; and a list of any length streams.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { NDJSON, onBothServers, parseLines } from './both.mjs';

onBothServers('lists and queries', (site) => {
  /** @param {string} collection @param {object[]} documents */
  const fill = async (collection, documents) => {
    const body = documents.map((document) => JSON.stringify(document)).join('\n');
    const reply = await site.ask('POST', `/documents/${collection}`, { headers: NDJSON, body });
    assert.equal(reply.status, 201, reply.text);
  };
  /** @param {string} path */
  const idsOf = async (path) => {
    const { status, json, text } = await site.ask('GET', path);
    assert.equal(status, 200, text);
    return json.documents.map((/** @type {any} */ { id }) => id);
  };
  /** @param {string} collection @param {object} json */
  const index = async (collection, json) => {
    const reply = await site.ask('POST', `/documents/${collection}/_indexes`, { json });
    assert.equal(reply.status, 201, reply.text);
  };

  test('an empty collection is an empty list', async () => {
    assert.deepEqual((await site.ask('GET', '/documents/empty')).json, { documents: [], next: null });
    const lines = await site.ask('GET', '/documents/empty', { headers: { accept: 'application/x-ndjson' } });
    assert.deepEqual([lines.status, lines.text], [200, '']);
  });

  test('a document that does not say its id is shown with it', async () => {
    await site.ask('PUT', '/documents/anonymous/x', { json: { name: 'Rob' } });
    await site.ask('PUT', '/documents/anonymous/y', { json: {} });
    const { json } = await site.ask('GET', '/documents/anonymous');
    assert.deepEqual(json.documents, [{ id: 'x', name: 'Rob' }, { id: 'y' }]);
    assert.deepEqual((await site.ask('GET', '/documents/anonymous/x')).json, { name: 'Rob' });
  });

  test('pages lead from one to the next, while others write', async () => {
    await fill(
      'paged',
      Array.from({ length: 250 }, (_, n) => ({ id: n * 2, n })),
    );
    const seen = [];
    let path = '/documents/paged?limit=20';
    for (let page = 0; path !== ''; page += 1) {
      const { json, headers } = await site.ask('GET', path);
      assert.ok(json.documents.length <= 20);
      seen.push(...json.documents.map((/** @type {any} */ { id }) => id));
      // Before and behind the place where the reader is; deleted is what it has seen, and one that it has not.
      await site.ask('PUT', `/documents/paged/${page * 2 + 1}`, { json: { id: page * 2 + 1 } });
      await site.ask('DELETE', `/documents/paged/${seen.at(-1)}`);
      await site.ask('DELETE', '/documents/paged/498');
      if (json.next === null) break;
      path = `/documents/paged?limit=20&after=${json.next}`;
      assert.equal(headers.link, `<${path}>; rel="next"`);
    }
    const old = seen.filter((id) => id % 2 === 0);
    assert.deepEqual(
      old,
      Array.from({ length: 249 }, (_, n) => n * 2),
    );
    assert.equal(new Set(seen).size, seen.length);
  });

  test('a query needs an index, and says how to make one', async () => {
    await fill('people', [
      { id: 1, name: 'Ann', age: 36, address: { city: 'Redhill' }, zip: '01234', member: true },
      { id: 2, name: 'Bob', age: '36', address: { city: 'Leeds' }, zip: '12345', member: false },
      { id: 3, name: 'Cid', age: 7, address: { city: 'Redhill' }, zip: 12345, member: null },
      { id: 4, name: 'Dee', age: 100, address: { city: 'Reading' }, tags: ['x', 'y'] },
      { id: 5, name: 'Eve', age: 36, address: { city: 'Redhill' }, __proto__: 1 },
    ]);
    const refused = await site.ask('GET', '/documents/people?address.city=Redhill');
    assert.equal(refused.status, 400);
    const advice = /POST (\{.*\}) to (\S+) makes one/.exec(refused.json.error);
    assert.equal(
      (await site.ask('POST', String(advice?.[2]), { json: JSON.parse(String(advice?.[1])) })).status,
      201,
    );
    assert.deepEqual(await idsOf('/documents/people?address.city=Redhill'), [1, 3, 5]);
    assert.deepEqual(await idsOf('/documents/people?address.city=Nowhere'), []);
  });

  test('the text of a value stands for the string and for what else it spells', async () => {
    for (const path of ['age', 'zip', 'member', 'tags.0']) await index('people', { path });
    assert.deepEqual(await idsOf('/documents/people?age=36'), [1, 5, 2]);
    assert.deepEqual(await idsOf('/documents/people?age=%2236%22'), [2]);
    assert.deepEqual(await idsOf('/documents/people?zip=12345'), [3, 2]);
    assert.deepEqual(await idsOf('/documents/people?zip=01234'), [1]);
    assert.deepEqual(await idsOf('/documents/people?member=true'), [1]);
    assert.deepEqual(await idsOf('/documents/people?member=null'), [3]);
    assert.deepEqual(await idsOf('/documents/people?tags.0=x'), [4]);
    assert.deepEqual(await idsOf('/documents/people?tags.0='), []);
  });

  test('further fields are looked at in what the index finds', async () => {
    assert.deepEqual(await idsOf('/documents/people?address.city=Redhill&age=36'), [1, 5]);
    assert.deepEqual(await idsOf('/documents/people?name=Eve&address.city=Redhill'), [5]);
    assert.deepEqual(await idsOf('/documents/people?address.city=Redhill&age%5Blt%5D=36'), [3]);
    assert.deepEqual(await idsOf('/documents/people?address.city=Redhill&toString=x'), []);
    assert.deepEqual(
      await idsOf('/documents/people?address.city%5Bprefix%5D=Re&name%5Bgt%5D=Ann&name%5Blte%5D=Dee'),
      [4, 3],
    );
  });

  test('ranges keep to one type', async () => {
    const range = (/** @type {string} */ query) =>
      idsOf(`/documents/people?${query.replaceAll('[', '%5B').replaceAll(']', '%5D')}`);
    assert.deepEqual(await range('age[gte]=36'), [1, 5, 4]);
    assert.deepEqual(await range('age[gt]=36'), [4]);
    assert.deepEqual(await range('age[lt]=36'), [3]);
    assert.deepEqual(await range('age[lte]=36&age[gt]=7'), [1, 5]);
    assert.deepEqual(await range('age[gte]="3"'), [2]);
    assert.deepEqual(await range('address.city[prefix]=Re'), [4, 1, 3, 5]);
    assert.deepEqual(await range('address.city[gte]=Redhill'), [1, 3, 5]);
    assert.deepEqual(await range('address.city[lt]=Redhill'), [2, 4]);
    for (const query of [
      'age=1&age[gt]=0',
      'age[gt]=1&age[gte]=2',
      'age=1&age=2',
      'age[gt]=true',
      'limit=0',
      'limit=x',
      'limit=-1',
      'after=%21',
      'after=',
      'age=1&after=OTp4',
    ])
      assert.equal(
        (await site.ask('GET', `/documents/people?${query.replaceAll('[', '%5B').replaceAll(']', '%5D')}`))
          .status,
        400,
        query,
      );
  });

  test('an indexed list has pages too, across what the value stands for', async () => {
    await fill(
      'mixed',
      Array.from({ length: 40 }, (_, n) => ({ id: n, v: n % 2 === 0 ? 5 : '5', keep: n % 4 < 2 })),
    );
    await index('mixed', { name: 'by value', path: ['v'] });
    for (const query of ['v=5', 'by%20value=5', 'v=5&keep=true']) {
      const seen = [];
      let after = '';
      do {
        const { json } = await site.ask('GET', `/documents/mixed?${query}&limit=7${after}`);
        assert.ok(json.documents.length <= 7);
        seen.push(...json.documents.map((/** @type {any} */ { id }) => id));
        after = json.next === null ? '' : `&after=${json.next}`;
      } while (after !== '');
      assert.equal(new Set(seen).size, seen.length);
      assert.equal(seen.length, query.includes('keep') ? 20 : 40);
    }
    const lines = await site.ask('GET', '/documents/mixed?v=5&limit=9', {
      headers: { accept: 'application/x-ndjson' },
    });
    assert.equal(parseLines(lines.text).length, 9);
  });

  test('indexes are listed, made once, and dropped', async () => {
    const path = '/documents/indexed/_indexes';
    await fill('indexed', [
      { id: 1, a: 1 },
      { id: 2, a: 1 },
    ]);
    assert.deepEqual((await site.ask('GET', path)).json, { indexes: [] });
    const made = await site.ask('POST', path, { json: { path: ['a'] } });
    assert.deepEqual([made.status, made.headers.location], [201, `${path}/a`]);
    assert.equal((await site.ask('POST', path, { json: { path: 'a' } })).status, 200);
    assert.equal((await site.ask('POST', path, { json: { name: 'a', path: 'b' } })).status, 409);
    const doubled = await site.ask('POST', path, { json: { name: 'u', path: 'a', unique: true } });
    assert.equal(doubled.status, 409);
    assert.match(doubled.json.error, /same value/);
    for (const json of [
      {},
      { path: 7 },
      { path: '' },
      { path: [{}] },
      { path: [-1] },
      { path: 'x', more: 1 },
      [],
      null,
    ])
      assert.equal((await site.ask('POST', path, { json })).status, 400, JSON.stringify(json));
    assert.equal(
      (await site.ask('POST', path, { json: { name: 'id', path: ['id'], unique: true } })).status,
      201,
    );
    const two = [
      { name: 'a', path: ['a'], unique: false },
      { name: 'id', path: ['id'], unique: true },
    ];
    assert.deepEqual((await site.ask('GET', path)).json, { indexes: two });
    const clash = await site.ask('PUT', '/documents/indexed/other', { json: { id: 1 } });
    assert.equal(clash.status, 409);
    assert.equal((await site.ask('GET', '/documents/indexed/other')).status, 404);
    assert.equal((await site.ask('DELETE', `${path}/a`)).status, 204);
    assert.equal((await site.ask('DELETE', `${path}/a`)).status, 404);
    assert.equal((await site.ask('GET', '/documents/indexed?a=1')).status, 400);
  });

  test('a reader that stops reading stops the making, and one that leaves costs nothing', async () => {
    const text = 'x'.repeat(2000);
    for (let from = 0; from < 20_000; from += 5000)
      await fill(
        'large',
        Array.from({ length: 5000 }, (_, n) => ({ id: from + n, text })),
      );
    const asked = request({
      host: '127.0.0.1',
      port: site.port,
      path: '/documents/large',
      headers: { accept: 'application/x-ndjson' },
      agent: false,
    });
    asked.end();
    const reply = await new Promise((resolve) => asked.on('response', resolve));
    await new Promise((resolve) => reply.once('readable', resolve));
    reply.pause();
    assert.equal((await site.ask('GET', '/documents/large/1')).status, 200);
    asked.destroy();
    const all = await site.ask('GET', '/documents/large', { headers: { accept: 'application/x-ndjson' } });
    assert.equal(parseLines(all.text).length, 20_000);
    assert.doesNotMatch(site.output(), /Error/);
  });
});

onBothServers('the routes of WMPayload', (site) => {
  test('before anything is inserted a search finds nothing', async () => {
    const reply = await site.ask('GET', '/search?id=x');
    assert.deepEqual([reply.status, reply.json], [200, []]);
  });

  test('insert takes an array or lines, and several documents of one id', async () => {
    const array = await site.ask('POST', '/insert', {
      json: [{ id: 'u1', n: 0 }, { id: 'u1', n: 1 }, { id: 'u2', n: 2 }, { n: 3 }],
    });
    assert.deepEqual([array.status, array.text], [200, 'Documents inserted successfully']);
    const body = '{"id":"u1","n":4}\n{"id":5,"n":5}\n';
    const lines = await site.ask('POST', '/insert', {
      headers: { 'content-type': 'application/ndjson' },
      body,
    });
    assert.deepEqual([lines.status, lines.text], [200, 'Documents inserted successfully']);
  });

  test('a bad line is named, and nothing is stored', async () => {
    const body = '{"id":"u1","n":6}\nnot json\n';
    const reply = await site.ask('POST', '/insert', {
      headers: { 'content-type': 'application/ndjson' },
      body,
    });
    assert.equal(reply.status, 400);
    assert.match(reply.text, /^Failed to parse JSON: line 2/);
    for (const bad of ['{', '[7]', ''])
      assert.match((await site.ask('POST', '/insert', { body: bad })).text, /^Failed to parse JSON/);
    assert.equal((await site.ask('GET', '/search')).json.length, 6);
  });

  test('search answers what has the id, some of it, as an array or as lines', async () => {
    const numbers = async (/** @type {string} */ query) =>
      (await site.ask('GET', `/search${query}`)).json.map((/** @type {any} */ { n }) => n);
    assert.deepEqual(await numbers('?id=u1'), [0, 1, 4]);
    assert.deepEqual(await numbers('?id=u1&idx=1'), [1, 4]);
    assert.deepEqual(await numbers('?id=u1&idx=1&limit=1'), [1]);
    assert.deepEqual(await numbers('?id=u1&limit=0&idx=0'), [0, 1, 4]);
    assert.deepEqual(await numbers('?id=u1&idx=9'), []);
    assert.deepEqual(await numbers('?id=5'), [5]);
    assert.deepEqual(await numbers('?id=none'), []);
    assert.deepEqual(await numbers('?idx=4'), [4, 5]);
    const lines = await site.ask('GET', '/search?id=u1', { headers: { accept: 'application/ndjson' } });
    assert.deepEqual(parseLines(lines.text), [
      { id: 'u1', n: 0 },
      { id: 'u1', n: 1 },
      { id: 'u1', n: 4 },
    ]);
    for (const query of ['?idx=-1', '?limit=x', '?idx=1.5'])
      assert.equal((await site.ask('GET', `/search${query}`)).status, 400);
  });
});
