// The promise of one server twice: what a stranger may send that is neither quite right nor quite wrong is answered the same by both.
// Each test has a request that the two once answered differently, or that one of them answered wrongly.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { onBothServers } from '../documents-http/both.mjs';

const LINES = { accept: 'application/x-ndjson' };

/**
 * Reads a reply, and stops reading it for a while.
 * @param {number} port
 * @param {string} path
 * @param {number} pause milliseconds
 * @returns {Promise<number>} how many bytes came
 */
function readWithPause(port, path, pause) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let size = 0;
    socket.on('error', reject);
    socket.on('close', () => resolve(size));
    socket.on('data', (piece) => {
      if (size === 0) {
        socket.pause();
        setTimeout(() => socket.resume(), pause);
      }
      size += piece.length;
    });
    socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
  });
}

/**
 * Sends a body without saying how long it is.
 * @param {number} port
 * @param {string} method
 * @param {string} path
 * @param {number} size bytes
 * @returns {Promise<number | undefined>} the status of the reply
 */
async function statusOfPieces(port, method, path, size) {
  const headers = { 'content-type': 'application/json' };
  const asked = request({ host: '127.0.0.1', port, method, path, headers, agent: false });
  const replied = once(asked, 'response');
  for (let sent = 0; sent < size; sent += 1 << 18) asked.write(Buffer.alloc(1 << 18, ' '));
  asked.end();
  const [reply] = await replied;
  reply.resume();
  return reply.statusCode;
}

onBothServers('alike', (site) => {
  test('a caller whose body is refused hears so, however much it still sends', async () => {
    const size = 8 * 1024 * 1024;
    const body = ' '.repeat(size);
    const headers = { 'content-type': 'application/json' };
    for (let round = 0; round < 5; round++) {
      for (const [status, method, path] of /** @type {[number, string, string][]} */ ([
        [413, 'POST', '/user'],
        [413, 'PUT', '/documents/alike/large'],
        [404, 'POST', '/nowhere'],
        [404, 'PUT', '/documents/alike/none/attachments/a/b'],
      ])) {
        assert.equal((await site.ask(method, path, { headers, body })).status, status, path);
        assert.equal(await statusOfPieces(site.port, method, path, size), status, `${path}, in pieces`);
      }
    }
  });

  test('lines are sent to those who want them, and not to those who would rather have JSON', async () => {
    await site.ask('PUT', '/documents/wants/1', { json: { a: 1 } });
    for (const [accept, type] of [
      ['application/x-ndjson', 'application/x-ndjson'],
      ['text/html, application/NDJSON;q=0.5', 'application/x-ndjson'],
      ['application/json, application/x-ndjson', 'application/x-ndjson'],
      ['application/json;q=0.5, application/x-ndjson; q=0.6', 'application/x-ndjson'],
      ['application/json, application/x-ndjson;q=0', 'application/json'],
      ['application/x-ndjson;q=0', 'application/json'],
      ['application/x-ndjson;q=0.5, */*;q=0.8', 'application/json'],
      ['application/x-ndjson;q=none', 'application/json'],
      ['*/*', 'application/json'],
    ]) {
      const { status, headers } = await site.ask('GET', '/documents/wants', { headers: { accept } });
      assert.deepEqual([status, headers['content-type']], [200, `${type}; charset=utf-8`], accept);
    }
  });

  test('what is expected beyond 100-continue is refused, and nothing is stored', async () => {
    const expecting = (/** @type {string} */ expect) =>
      site.ask('PUT', '/documents/expects/1', { json: {}, headers: { expect } });
    assert.equal((await expecting('a-miracle')).status, 417);
    assert.equal((await site.ask('GET', '/documents/expects/1')).status, 404);
    assert.equal((await expecting('100-Continue')).status, 201);
  });

  test('a content type that is none is refused with 415, wherever a body may come', async () => {
    for (const type of ['x', '', 'text/', '/plain', 'a /b', 'application/json, application/json']) {
      for (const [method, path] of [
        ['POST', '/user'],
        ['PUT', '/documents/alike/1/attachments/a'],
        ['POST', '/nowhere'],
      ]) {
        const { status, json } = await site.ask(method, path, {
          headers: { 'content-type': type },
          body: '{"firstName":"Rob"}',
        });
        assert.equal(status, 415, `${method} ${path} '${type}'`);
        assert.match(json.error, /content-type must be a media type/);
      }
    }
    const odd = { 'content-type': 'text/plain; charset' };
    const put = await site.ask('PUT', '/documents/alike/1/attachments/a', { headers: odd, body: 'x' });
    assert.equal(put.status, 201);
  });

  test('segments of dots are followed before anything looks at the path', async () => {
    const own = await site.ask('PUT', '/documents/alike/..', { json: {} });
    assert.deepEqual([own.status, own.json.error], [404, 'Not found: /documents/']);
    const list = await site.ask('GET', '/documents/alike/%2E%2e/empty');
    assert.deepEqual(list.json, { documents: [], next: null });
    assert.equal((await site.ask('GET', '/nowhere/../local?a=/../b')).json.ok, true);
    assert.equal((await site.ask('GET', '/../../../etc/passwd')).json.error, 'Not found: /etc/passwd');
    assert.equal((await site.ask('PUT', '/documents/alike/...', { json: {} })).status, 201);
    assert.equal((await site.ask('PUT', '/documents/alike/b?next=/../c', { json: {} })).json.id, 'b');
  });

  test('a part of a path that is too long for any route is 404', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { status } = await site.ask(method, `/documents/alike/${'x'.repeat(2100)}`);
      assert.equal(status, 404, method);
    }
  });

  test('a body for a path that there is not is nobody’s', async () => {
    for (const body of ['{', '{"__proto__":1}', 'x'.repeat(1000)]) {
      const headers = { 'content-type': 'application/json' };
      assert.equal((await site.ask('POST', '/nowhere', { headers, body })).status, 404, body);
    }
  });

  test('head says no length where get does not know it before it is sent', async () => {
    // Three documents of which two are a page; a page that is all there is has a length.
    for (const id of [1, 2, 3])
      await site.ask('PUT', `/documents/pages/${id}`, { json: { text: 'x'.repeat(200_000) } });
    for (const [path, headers, length] of /** @type {const} */ ([
      ['/documents/pages', LINES, undefined],
      ['/search', {}, '2'],
    ])) {
      for (const method of ['HEAD', 'GET']) {
        const reply = await site.ask(method, path, { headers });
        assert.deepEqual([reply.status, reply.headers['content-length']], [200, length], `${method} ${path}`);
        assert.equal(reply.text === '', method === 'HEAD');
      }
    }
  });

  test('a page that the caller has is not sent again, whichever way it says so', async () => {
    const { headers } = await site.ask('GET', '/index.html');
    const etag = String(headers.etag);
    for (const fresh of /** @type {Record<string, string>[]} */ ([
      { 'if-none-match': etag },
      { 'if-none-match': `"other", ${etag}` },
      { 'if-none-match': '*' },
      { 'if-modified-since': String(headers['last-modified']) },
    ])) {
      const { status } = await site.ask('GET', '/index.html', { headers: fresh });
      assert.equal(status, 304, JSON.stringify(fresh));
    }
    for (const stale of /** @type {Record<string, string>[]} */ ([
      { 'if-none-match': '"other"' },
      { 'if-none-match': '"other"', 'if-modified-since': String(headers['last-modified']) },
      { 'if-modified-since': 'Mon, 30 Nov 1970 00:00:00 GMT' },
      { 'if-modified-since': 'yesterday' },
    ])) {
      const { status } = await site.ask('GET', '/index.html', { headers: stale });
      assert.equal(status, 200, JSON.stringify(stale));
    }
  });

  test('the form of the login is no page of a server without a token', async () => {
    for (const path of ['/login', '/login/', '/login/index.html', '/login/login.css'])
      assert.equal((await site.ask('GET', path)).status, 404, path);
  });

  test('a stretch is asked for in either case', async () => {
    for (const size of [10, 200_000]) {
      const path = `/documents/alike/1/attachments/of-${size}`;
      await site.ask('PUT', path, { body: Buffer.alloc(size, 'abcdefghij') });
      const { status, headers, text } = await site.ask('GET', path, { headers: { range: 'Bytes=1-3' } });
      assert.deepEqual([status, text, headers['content-range']], [206, 'bcd', `bytes 1-3/${size}`]);
      assert.equal(headers['accept-ranges'], 'bytes');
    }
  });

  test('a reader may pause in the midst of an attachment for longer than a connection may be silent', async () => {
    const path = '/documents/alike/1/attachments/film';
    await site.ask('PUT', path, { body: Buffer.alloc(30_000_000) });
    assert.ok((await readWithPause(site.port, path, 13_000)) > 30_000_000);
  });
});
