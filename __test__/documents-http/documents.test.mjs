// The promise of documents over HTTP: what is put is what comes back, a condition holds at the moment of the write, and a refused
// request leaves everything as it was.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NDJSON, onBothServers, parseLines } from './both.mjs';

const JSON_TYPE = { 'content-type': 'application/json' };
const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

onBothServers('one document', (site) => {
  test('put makes it with 201, replaces it with 200, and get gives exactly what was put', async () => {
    const made = await site.ask('PUT', '/documents/people/7', {
      json: { name: 'Rob', tags: [], none: null },
    });
    assert.equal(made.status, 201);
    assert.equal(made.headers.location, '/documents/people/7');
    const replaced = await site.ask('PUT', '/documents/people/7', {
      json: { name: 'Ann', at: { x: -1.5e-7 } },
    });
    assert.equal(replaced.status, 200);
    assert.notEqual(replaced.headers.etag, made.headers.etag);
    const got = await site.ask('GET', '/documents/people/7');
    assert.deepEqual(got.json, { name: 'Ann', at: { x: -1.5e-7 } });
    assert.equal(got.headers.etag, replaced.headers.etag);
    assert.match(String(got.headers['content-type']), /^application\/json/);
  });

  test('head says the same as get, without the body', async () => {
    await site.ask('PUT', '/documents/people/head', { json: { name: 'Rob' } });
    const got = await site.ask('GET', '/documents/people/head');
    const head = await site.ask('HEAD', '/documents/people/head');
    assert.equal(head.status, 200);
    assert.equal(head.text, '');
    for (const name of ['etag', 'content-type', 'content-length'])
      assert.equal(head.headers[name], got.headers[name], name);
    assert.equal((await site.ask('HEAD', '/documents/people/nobody')).status, 404);
  });

  test('what is not there is 404, and stays so', async () => {
    for (const method of ['GET', 'DELETE']) {
      const reply = await site.ask(method, '/documents/people/nobody');
      assert.equal(reply.status, 404);
      assert.match(reply.json.error, /nobody/);
    }
    assert.equal((await site.ask('PATCH', '/documents/people/nobody', { json: { a: 1 } })).status, 404);
    assert.equal((await site.ask('GET', '/documents/people/nobody')).status, 404);
  });

  test('a merge patch changes what it names', async () => {
    await site.ask('PUT', '/documents/people/patched', { json: { a: 1, b: { c: 2, d: 3 }, list: [1, 2] } });
    const reply = await site.ask('PATCH', '/documents/people/patched', {
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{"a":null,"b":{"c":9},"list":[3]}',
    });
    assert.equal(reply.status, 200);
    const got = await site.ask('GET', '/documents/people/patched');
    assert.deepEqual(got.json, { b: { c: 9, d: 3 }, list: [3] });
    assert.equal(got.headers.etag, reply.headers.etag);
    for (const body of ['5', '[1]', 'null', '{', ''])
      assert.equal(
        (await site.ask('PATCH', '/documents/people/patched', { headers: JSON_TYPE, body })).status,
        400,
      );
  });

  test('delete takes it away', async () => {
    await site.ask('PUT', '/documents/people/gone', { json: {} });
    const reply = await site.ask('DELETE', '/documents/people/gone');
    assert.deepEqual([reply.status, reply.text], [204, '']);
    assert.equal((await site.ask('GET', '/documents/people/gone')).status, 404);
  });

  test('the entity tag is that of the content', async () => {
    const first = await site.ask('PUT', '/documents/people/a', { headers: JSON_TYPE, body: '{"x":1,"y":2}' });
    const second = await site.ask('PUT', '/documents/people/b', {
      headers: JSON_TYPE,
      body: ' { "y" : 2, "x" : 1 } ',
    });
    assert.equal(first.headers.etag, second.headers.etag);
    assert.match(String(first.headers.etag), /^"[\w-]{27}"$/);
    const text = await site.ask('PUT', '/documents/people/b', { json: { x: '1', y: 2 } });
    assert.notEqual(text.headers.etag, first.headers.etag);
  });

  test('conditions are kept: 412 changes nothing, 304 sends nothing', async () => {
    const path = '/documents/people/conditional';
    const put = (/** @type {Record<string, string>} */ headers, /** @type {object} */ json) =>
      site.ask('PUT', path, { headers, json });
    assert.equal((await put({ 'if-match': '*' }, { n: 0 })).status, 412);
    assert.equal((await site.ask('GET', path)).status, 404);
    const made = await put({ 'if-none-match': '*' }, { n: 1 });
    assert.equal(made.status, 201);
    const tag = String(made.headers.etag);
    assert.equal((await put({ 'if-none-match': '*' }, { n: 2 })).status, 412);
    assert.equal((await put({ 'if-match': '"other"' }, { n: 2 })).status, 412);
    assert.equal((await put({ 'if-match': `W/${tag}` }, { n: 2 })).status, 412);
    assert.equal((await put({ 'if-match': tag.slice(1, -1) }, { n: 2 })).status, 412);
    assert.deepEqual((await site.ask('GET', path)).json, { n: 1 });

    const fresh = await site.ask('GET', path, { headers: { 'if-none-match': `"x", W/${tag}` } });
    assert.deepEqual([fresh.status, fresh.text, fresh.headers.etag], [304, '', tag]);
    assert.equal((await site.ask('HEAD', path, { headers: { 'if-none-match': '*' } })).status, 304);
    assert.equal((await site.ask('GET', path, { headers: { 'if-none-match': '"x"' } })).status, 200);

    assert.equal((await put({ 'if-match': `"x", ${tag}` }, { n: 2 })).status, 200);
    const stale = { 'if-match': tag };
    assert.equal((await site.ask('PATCH', path, { headers: stale, json: { n: 3 } })).status, 412);
    assert.equal((await site.ask('DELETE', path, { headers: stale })).status, 412);
    assert.equal(
      (await site.ask('DELETE', '/documents/people/none', { headers: { 'if-match': '*' } })).status,
      412,
    );
    assert.deepEqual((await site.ask('GET', path)).json, { n: 2 });
    assert.equal((await site.ask('DELETE', path, { headers: { 'if-match': '*' } })).status, 204);
  });

  test('of many writers with one tag exactly one wins, each time', async () => {
    const path = '/documents/people/contested';
    let tag = String((await site.ask('PUT', path, { json: { n: 0 } })).headers.etag);
    for (let round = 1; round <= 10; round += 1) {
      const replies = await Promise.all(
        Array.from({ length: 8 }, (_, writer) =>
          writer % 2 === 0
            ? site.ask('PUT', path, { headers: { 'if-match': tag }, json: { n: round, writer } })
            : site.ask('PATCH', path, { headers: { 'if-match': tag }, json: { n: round, writer } }),
        ),
      );
      const won = replies.filter(({ status }) => status === 200);
      assert.equal(won.length, 1);
      assert.deepEqual(replies.map(({ status }) => status).sort(), [200, ...Array(7).fill(412)]);
      tag = String(won[0].headers.etag);
      assert.equal((await site.ask('GET', path)).headers.etag, tag);
    }
  });

  test('of many who make it with if-none-match exactly one does', async () => {
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, writer) =>
        site.ask('PUT', '/documents/people/new', { headers: { 'if-none-match': '*' }, json: { writer } }),
      ),
    );
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, ...Array(11).fill(412)]);
  });

  test('ids may be anything that a path can carry', async () => {
    for (const id of [
      'a b',
      'ü/😀',
      '..x',
      '%',
      '%2e',
      'a.b[0]',
      '__proto__',
      'constructor',
      '007',
      '7',
      '"',
      '_x',
      'x'.repeat(300),
    ]) {
      const path = `/documents/ids/${encodeURIComponent(id)}`;
      const made = await site.ask('PUT', path, { json: { id } });
      assert.equal(made.status, 201, id);
      assert.equal(made.headers.location, path);
      assert.deepEqual((await site.ask('GET', path)).json, { id });
      assert.deepEqual(made.json, { ok: true, id });
    }
    const { json } = await site.ask('GET', '/documents/ids?limit=1000');
    assert.equal(json.documents.length, 13);
  });

  test('ids and collections that cannot be are refused', async () => {
    for (const path of [
      '/documents/ids/%00',
      '/documents/ids/a%0Ab',
      '/documents/ids/_indexes',
      `/documents/ids/${'x'.repeat(1005)}`,
      '/documents/%25caretdb/1',
      '/documents/%25Z/1',
      '/documents/%5Eids/1',
      '/documents/1x/1',
      '/documents/a%20b/1',
      '/documents/a%2Fb/1',
      '/documents/x./1',
      `/documents/${'x'.repeat(256)}/1`,
    ]) {
      const reply = await site.ask('PUT', path, { json: { a: 1 } });
      assert.ok([400, 404, 405].includes(reply.status), `${path}: ${reply.status} ${reply.text}`);
      assert.equal(typeof reply.json.error, 'string');
    }
    for (const path of ['/documents/ids/%2e%2e', '/documents/ids/%2e', '/documents/ids/%E0%A4%A'])
      assert.ok([400, 404].includes((await site.ask('PUT', path, { json: { a: 1 } })).status), path);
  });

  test('a body that is no document is refused, and nothing changes', async () => {
    const path = '/documents/people/kept';
    await site.ask('PUT', path, { json: { kept: true } });
    for (const body of [
      '',
      ' ',
      '{',
      '5',
      '"text"',
      'null',
      '[]',
      '{"a":"\\ud800"}',
      '{"a":1}x',
      '\u0000{}',
      `{"a":${'['.repeat(2000)}${']'.repeat(2000)}}`,
    ]) {
      const reply = await site.ask('PUT', path, { headers: JSON_TYPE, body });
      assert.equal(reply.status, 400, body.slice(0, 20));
    }
    assert.equal(
      (await site.ask('PUT', path, { headers: JSON_TYPE, body: new Uint8Array([0x22, 0xff, 0x22]) })).status,
      400,
    );
    assert.equal(
      (await site.ask('PUT', path, { headers: { 'content-type': 'text/plain' }, body: '{}' })).status,
      415,
    );
    assert.equal((await site.ask('PUT', path, { body: '{}' })).status, 415);
    assert.equal(
      (await site.ask('PUT', path, { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: '{}' }))
        .status,
      415,
    );
    const large = `{"a":"${'x'.repeat(2 * 1024 * 1024)}"}`;
    assert.equal((await site.ask('PUT', path, { headers: JSON_TYPE, body: large })).status, 413);
    assert.equal((await site.ask('PUT', path, { json: { ['k'.repeat(1100)]: 1 } })).status, 400);
    assert.deepEqual((await site.ask('GET', path)).json, { kept: true });
    assert.doesNotMatch(site.output(), /Error/);
  });

  test('hostile keys are data', async () => {
    const body =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"":{"":1},"[0]":[{}]}';
    await site.ask('PUT', '/documents/people/hostile', { headers: JSON_TYPE, body });
    const { text } = await site.ask('GET', '/documents/people/hostile');
    assert.deepEqual(JSON.parse(text), JSON.parse(body));
    await site.ask('PATCH', '/documents/people/hostile', {
      headers: JSON_TYPE,
      body: '{"__proto__":{"polluted":2}}',
    });
    const patched = await site.ask('GET', '/documents/people/hostile');
    const own = Object.getOwnPropertyDescriptor(JSON.parse(patched.text), '__proto__');
    assert.deepEqual(own?.value, { polluted: 2 });
    assert.equal(/** @type {any} */ ({}).polluted, undefined);
  });
});

onBothServers('many documents', (site) => {
  /** @param {string} path @param {string | Uint8Array} body @param {Record<string, string>} [headers] */
  const post = (path, body, headers = JSON_TYPE) => site.ask('POST', path, { headers, body });
  /** @param {string} collection */
  const stored = async (collection) =>
    parseLines(
      (await site.ask('GET', `/documents/${collection}`, { headers: { accept: 'application/x-ndjson' } }))
        .text,
    );

  test('one is made under its id, or under one that sorts by time', async () => {
    const given = await post('/documents/one', '{"id":7,"name":"Rob"}');
    assert.deepEqual([given.status, given.headers.location], [201, '/documents/one/7']);
    assert.deepEqual(given.json, { ok: true, id: '7', ids: ['7'] });
    assert.deepEqual((await site.ask('GET', '/documents/one/7')).json, { id: 7, name: 'Rob' });
    const made = await post('/documents/one', ' {"name":"Ann"}');
    assert.match(made.json.id, UUID_7);
    assert.equal(made.headers.location, `/documents/one/${made.json.id}`);
    assert.deepEqual((await site.ask('GET', String(made.headers.location))).json, {
      id: made.json.id,
      name: 'Ann',
    });
    const empty = await post('/documents/one', '{}');
    assert.ok(empty.json.id > made.json.id);
  });

  test('an array is one write', async () => {
    const reply = await post('/documents/array', '[{"id":"a"},{"n":1},{"id":"c"}]');
    assert.equal(reply.status, 201);
    assert.deepEqual([reply.json.ids[0], reply.json.ids[2]], ['a', 'c']);
    assert.match(reply.json.ids[1], UUID_7);
    for (const [body, status, words] of /** @type {[string, number, RegExp][]} */ ([
      ['[{"id":"d"},7]', 400, /document 1/],
      ['[{"id":"d"},{"id":""}]', 400, /document 1/],
      ['[{"id":"d"},{"id":1.5}]', 400, /document 1/],
      ['[{"id":"d"},{"id":"a"}]', 409, /document 1: .*"a"/],
      ['[{"id":"d"},{"id":"d"}]', 409, /document 1: .*"d"/],
      ['[]', 400, /no documents/],
    ])) {
      const refused = await post('/documents/array', body);
      assert.equal(refused.status, status, body);
      assert.match(refused.json.error, words);
    }
    assert.equal((await stored('array')).length, 3);
  });

  test('lines may end in CRLF, be blank, start with a byte order mark, and lack the last end', async () => {
    const reply = await post(
      '/documents/lines',
      '\ufeff{"id":"1"}\r\n\r\n  \n{"id":"2"}\n\n{"id":"3","text":"a\\nb"}',
      NDJSON,
    );
    assert.deepEqual([reply.status, reply.json.ids], [201, ['1', '2', '3']]);
    assert.deepEqual(await stored('lines'), [{ id: '1' }, { id: '2' }, { id: '3', text: 'a\nb' }]);
    const other = await post('/documents/lines', '{"id":"4"}\n', {
      'content-type': 'application/ndjson; charset=utf-8',
    });
    assert.equal(other.status, 201);
    assert.equal((await post('/documents/lines', '\n \r\n', NDJSON)).status, 400);
    assert.equal((await post('/documents/lines', '', NDJSON)).status, 400);
  });

  test('a bad line is named, and nothing of the batch is stored', async () => {
    await post('/documents/bad', '{"id":"there"}');
    for (const [body, status, line] of /** @type {[string | Uint8Array, number, number][]} */ ([
      ['{"id":"1"}\n{"id":"2"}\n{bad}\n', 400, 3],
      ['\r\n{"id":"1"}\r\n\r\n[1]\r\n', 400, 4],
      ['{"id":"1"}\n{"id":"1"}\n', 409, 2],
      ['{"id":"1"}\n{"id":"there"}', 409, 2],
      ['{"id":"1"}\n{"id":"x\\u0000"}', 400, 2],
      [`{"id":"1"}\n{"id":"${'x'.repeat(1100)}"}`, 400, 2],
      [`{"id":"1"}\n{"id":"2","a":"${'x'.repeat(1100000)}"}`, 413, 2],
      [
        Buffer.concat([Buffer.from('{"id":"1"}\n{"id":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}\n')]),
        400,
        2,
      ],
    ])) {
      const reply = await post('/documents/bad', body, NDJSON);
      assert.equal(reply.status, status, reply.text);
      assert.match(reply.json.error, new RegExp(`^line ${line}: `));
      assert.deepEqual(await stored('bad'), [{ id: 'there' }]);
    }
  });

  test('a batch that is too long for a message is still all or nothing', async () => {
    const line = (/** @type {number} */ n) => `{"id":${n},"text":"${'x'.repeat(1000)}"}\n`;
    const good = Array.from({ length: 5000 }, (_, n) => line(n)).join('');
    const refused = await post('/documents/long', `${good}{"id":}\n`, NDJSON);
    assert.equal(refused.status, 400);
    assert.match(refused.json.error, /^line 5001: /);
    assert.deepEqual(await stored('long'), []);
    const reply = await post('/documents/long', good, NDJSON);
    assert.equal(reply.status, 201);
    assert.equal(reply.json.ids.length, 5000);
    const all = await stored('long');
    assert.equal(all.length, 5000);
    assert.deepEqual(
      all.map(({ id }) => id),
      Array.from({ length: 5000 }, (_, n) => n),
    );
  });

  test('what a collection gives as lines, another takes', async () => {
    const { text } = await site.ask('GET', '/documents/long', { headers: { accept: 'application/ndjson' } });
    assert.equal((await post('/documents/copied', text, NDJSON)).status, 201);
    const copy = await site.ask('GET', '/documents/copied', { headers: { accept: 'application/ndjson' } });
    assert.equal(copy.text, text);
  });

  test('other types of body are refused', async () => {
    for (const type of ['text/plain', 'text/csv', 'application/xml'])
      assert.equal((await post('/documents/typed', '{}', { 'content-type': type })).status, 415);
  });
});
