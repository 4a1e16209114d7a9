// The promise of attachments over HTTP: the bytes that were put come back, whole or in part; an upload that breaks off leaves the old
// ones; and what nobody refers to is removed.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { open } from '../../js/index.mjs';
import { ENGINES } from '../real/engines.mjs';
import { onBothServers } from './both.mjs';

/** @param {Uint8Array | string} bytes */
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Sizes on both sides of what decides where bytes go: nothing, one node, several, a file of several pieces. */
const SIZES = [0, 1, 9_500, 65_536, 65_537, 524_288, 524_289, 3_000_001];

for (const engine of ENGINES) {
  onBothServers(
    `attachments on ${engine}`,
    (site) => {
      /** @param {string} path @param {Uint8Array | string} body @param {Record<string, string>} [headers] */
      const put = (path, body, headers = { 'content-type': 'image/png' }) =>
        site.ask('PUT', path, { body, headers });
      /**
       * @param {string} path
       * @param {Record<string, string>} [headers]
       * @returns {Promise<{status: number, headers: import('node:http').IncomingHttpHeaders, bytes: Buffer}>}
       */
      const get = (path, headers = {}) =>
        new Promise((resolve, reject) => {
          const asked = request(
            { host: '127.0.0.1', port: site.port, path, headers, agent: false },
            async (reply) => {
              const pieces = [];
              for await (const piece of reply) pieces.push(piece);
              resolve({
                status: Number(reply.statusCode),
                headers: reply.headers,
                bytes: Buffer.concat(pieces),
              });
            },
          );
          asked.on('error', reject);
          asked.end();
        });

      test('bytes of any length come back, with type, length and entity tag', async () => {
        for (const size of SIZES) {
          const bytes = randomBytes(size);
          const path = `/documents/pictures/1/attachments/of-${size}`;
          const made = await put(path, bytes);
          assert.deepEqual([made.status, made.headers.location], [201, path], made.text);
          assert.deepEqual(
            [made.json.size, made.json.sha256, made.json.type],
            [size, sha256(bytes), 'image/png'],
          );
          const got = await get(path);
          assert.equal(got.status, 200);
          assert.ok(got.bytes.equals(bytes), String(size));
          assert.equal(got.headers['content-type'], 'image/png');
          assert.equal(got.headers.etag, made.headers.etag);
          assert.match(String(got.headers['content-security-policy']), /sandbox/);
          const head = await site.ask('HEAD', path);
          assert.deepEqual(
            [head.status, head.headers['content-length'], head.headers.etag],
            [200, String(size), made.headers.etag],
          );
        }
        assert.deepEqual((await site.ask('GET', '/documents/pictures/1')).json, {});
        const { json } = await site.ask('GET', '/documents/pictures/1/attachments');
        assert.deepEqual(
          json.attachments
            .map((/** @type {any} */ one) => one.size)
            .sort((/** @type {number} */ a, /** @type {number} */ b) => a - b),
          SIZES,
        );
      });

      test('a stretch is 206, one beyond the end 416, several are the whole', async () => {
        for (const size of [1000, 2_000_000]) {
          const bytes = randomBytes(size);
          const path = `/documents/ranges/1/attachments/${size}`;
          const { headers } = await put(path, bytes);
          for (const [range, start, end] of /** @type {[string, number, number][]} */ ([
            ['bytes=0-0', 0, 1],
            ['bytes=10-499', 10, 500],
            [`bytes=${size - 1}-`, size - 1, size],
            ['bytes=-5', size - 5, size],
            [`bytes=-${size * 2}`, 0, size],
            [`bytes=5-${size * 2}`, 5, size],
            ...(size > 600_000
              ? [
                  ['bytes=524287-524288', 524_287, 524_289],
                  ['bytes=100-1500000', 100, 1_500_001],
                ]
              : []),
          ])) {
            const got = await get(path, { range });
            assert.equal(got.status, 206, range);
            assert.ok(got.bytes.equals(bytes.subarray(start, end)), range);
            assert.equal(got.headers['content-range'], `bytes ${start}-${end - 1}/${size}`);
          }
          for (const range of [`bytes=${size}-`, 'bytes=-0', `bytes=${size * 5}-${size * 6}`]) {
            const got = await get(path, { range });
            assert.deepEqual([got.status, got.headers['content-range']], [416, `bytes */${size}`], range);
          }
          for (const range of ['bytes=0-1,5-6', 'bytes=5-1', 'bytes=-', 'lines=0-1', 'bytes=x-1'])
            assert.deepEqual(
              [(await get(path, { range })).status, (await get(path, { range })).bytes.length],
              [200, size],
              range,
            );
          assert.equal(
            (await get(path, { range: 'bytes=0-1', 'if-range': String(headers.etag) })).status,
            206,
          );
          assert.equal((await get(path, { range: 'bytes=0-1', 'if-range': '"other"' })).status, 200);
          assert.equal((await get(path, { 'if-none-match': String(headers.etag) })).status, 304);
        }
      });

      test('conditions hold, and of two writers with one tag one wins', async () => {
        const path = '/documents/pictures/2/attachments/a';
        const made = await put(path, 'one', { 'if-none-match': '*' });
        assert.equal(made.status, 201);
        assert.equal((await put(path, 'two', { 'if-none-match': '*' })).status, 412);
        assert.equal((await put(path, randomBytes(100_000), { 'if-match': '"x"' })).status, 412);
        assert.equal((await get(path)).bytes.toString(), 'one');
        for (const size of [10, 200_000]) {
          const { etag } = (await get(path)).headers;
          const replies = await Promise.all(
            Array.from({ length: 6 }, () => put(path, randomBytes(size), { 'if-match': String(etag) })),
          );
          assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 412, 412, 412, 412, 412]);
        }
        const typed = await put(path, 'x', { 'content-type': 'text/plain' });
        assert.notEqual(
          (await put(path, 'x', { 'content-type': 'text/html' })).headers.etag,
          typed.headers.etag,
        );
        assert.equal((await site.ask('DELETE', path, { headers: { 'if-match': '"x"' } })).status, 412);
        assert.equal((await site.ask('DELETE', path)).status, 204);
        assert.equal((await site.ask('DELETE', path)).status, 404);
        assert.equal((await get(path)).status, 404);
      });

      test('an upload that breaks off leaves the old bytes, and nothing else', async () => {
        const path = '/documents/pictures/3/attachments/a';
        await put(path, 'old');
        const uploads = join(site.folder, 'uploads');
        const filesThere = () => existsSync(uploads) && readdirSync(uploads).length > 0;
        /** @param {import('node:net').Socket} socket @param {boolean} isLarge */
        const breakOff = async (socket, isLarge) => {
          // Where there is a file to see, the server has begun to write it.
          for (let turn = 0; turn < 1200 && engine === 'lmdb' && isLarge && !filesThere(); turn += 1)
            await pause(50);
          await pause(100);
          socket.destroy();
        };
        for (const [head, sent] of /** @type {[string, Buffer][]} */ ([
          ['content-length: 1000', Buffer.alloc(10)],
          ['content-length: 5000000', Buffer.alloc(2_000_000)],
          [
            'transfer-encoding: chunked',
            Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x100000), Buffer.from('\r\n')]),
          ],
        ])) {
          await new Promise((resolve) => {
            const socket = connect(site.port, '127.0.0.1', () => {
              socket.write(`PUT ${path} HTTP/1.1\r\nhost: localhost\r\n${head}\r\n\r\n`);
              socket.write(sent, () => void breakOff(socket, sent.length > 65_536));
            });
            socket.on('error', () => {});
            socket.on('close', resolve);
          });
        }
        for (let turn = 0; turn < 1200 && filesThere(); turn += 1) await pause(50);
        if (existsSync(uploads)) assert.deepEqual(readdirSync(uploads), []);
        assert.equal((await get(path)).bytes.toString(), 'old');
      });

      test('a put to a missing document makes it; a deleted document takes its attachments along', async () => {
        const path = '/documents/pictures/new/attachments/a';
        assert.equal((await put(path, 'x')).status, 201);
        assert.equal((await site.ask('PUT', '/documents/pictures/new', { json: { name: 'x' } })).status, 200);
        assert.equal((await get(path)).status, 200);
        assert.deepEqual((await site.ask('GET', '/documents/pictures/new')).json, { name: 'x' });
        assert.equal((await site.ask('DELETE', '/documents/pictures/new')).status, 204);
        assert.equal((await get(path)).status, 404);
        assert.equal((await site.ask('GET', '/documents/pictures/new/attachments')).status, 404);
        await site.ask('PUT', '/documents/pictures/new', { json: {} });
        assert.deepEqual((await site.ask('GET', '/documents/pictures/new/attachments')).json, {
          attachments: [],
        });
      });

      test('names may be anything that a path can carry', async () => {
        for (const name of [
          'a b.png',
          'ü/😀',
          '..x',
          '%2e%2e',
          '__proto__',
          '7',
          '../../etc/passwd',
          '\\',
          'x'.repeat(400),
        ]) {
          const path = `/documents/pictures/names/attachments/${encodeURIComponent(name)}`;
          const made = await put(path, name);
          assert.deepEqual(
            [made.status, made.headers.location, made.json?.name],
            [201, path, name],
            made.text,
          );
          assert.equal((await get(path)).bytes.toString(), name);
        }
        for (const name of ['%00', 'a%0Ab', 'x'.repeat(1100)]) {
          const reply = await put(`/documents/pictures/names/attachments/${name}`, randomBytes(100_000));
          assert.equal(reply.status, 400, name);
        }
        for (const name of ['%2e%2e', '.', '..'])
          assert.ok((await put(`/documents/pictures/names/attachments/${name}`, 'x')).status >= 400);
        assert.equal((await put('/documents/%25caretdb/1/attachments/a', randomBytes(100_000))).status, 400);
      });

      test('JSON with base64 is taken too, one or several at once', async () => {
        const path = '/documents/pictures/json/attachments';
        const bytes = randomBytes(100_000);
        const one = { name: 'a', type: 'image/gif', data: bytes.toString('base64') };
        const made = await site.ask('POST', path, { json: one });
        assert.equal(made.status, 201, made.text);
        assert.equal(made.json.attachments[0].sha256, sha256(bytes));
        assert.equal((await site.ask('POST', path, { json: [one, { name: 'b', data: '' }] })).status, 201);
        assert.ok((await get(`${path}/a`)).bytes.equals(bytes));
        assert.equal((await get(`${path}/b`)).headers['content-type'], 'application/octet-stream');
        for (const json of [
          {},
          [],
          { name: 'c' },
          { name: 'c', data: '!' },
          { name: '', data: '' },
          [one, 7],
          null,
        ])
          assert.equal(
            (await site.ask('POST', path, { json })).status,
            400,
            JSON.stringify(json).slice(0, 50),
          );
        assert.equal((await site.ask('GET', path)).json.attachments.length, 2);
      });

      /** @param {string} path @param {FormData} form */
      const post = async (path, form) => {
        const encoded = new Response(form);
        // Bun tells the type only until the body is read.
        const type = String(encoded.headers.get('content-type'));
        const body = new Uint8Array(await encoded.arrayBuffer());
        return site.ask('POST', path, { body, headers: { 'content-type': type } });
      };
      /** @param {Uint8Array | string} bytes @param {string} [type] */
      const blob = (bytes, type = 'image/png') => new Blob([/** @type {any} */ (bytes)], { type });

      test('base64 that breaks off or goes on behind its end is refused', async () => {
        const path = '/documents/notes/broken/attachments';
        for (const data of ['a', 'aGk==', 'aG=k', 'aGk=aGk=', '=', 'aGk!']) {
          const { status } = await site.ask('POST', path, { json: { name: 'a', data } });
          assert.equal(status, 400, data);
        }
        for (const data of ['', 'aGk', 'aGk=', ' aG\nk= ', '-_-_']) {
          const { status } = await site.ask('POST', path, { json: { name: 'a', data } });
          assert.equal(status, 201, data);
        }
      });

      test('one form makes a document with its attachments, small and large', async () => {
        const bytes = randomBytes(200_000);
        const form = new FormData();
        form.append('document', '{"id":"album","title":"Summer"}');
        form.append('files', blob('small'), 'small.png');
        form.append('files', blob(bytes), 'große Datei.png');
        const made = await post('/documents/forms', form);
        assert.deepEqual(
          [made.status, made.json.id, made.headers.location],
          [201, 'album', '/documents/forms/album'],
          made.text,
        );
        assert.deepEqual((await site.ask('GET', '/documents/forms/album')).json, {
          id: 'album',
          title: 'Summer',
        });
        assert.equal((await get('/documents/forms/album/attachments/small.png')).bytes.toString(), 'small');
        const large = await get(
          `/documents/forms/album/attachments/${encodeURIComponent('große Datei.png')}`,
        );
        assert.ok(large.bytes.equals(bytes));
        assert.equal(large.headers['content-type'], 'image/png');
        const more = new FormData();
        more.append('files', blob('more'), 'more.png');
        assert.equal((await post('/documents/forms/album/attachments', more)).status, 201);
        assert.equal(
          (await site.ask('GET', '/documents/forms/album/attachments')).json.attachments.length,
          3,
        );
      });

      test('one form makes a thousand documents with theirs, or none', async () => {
        const form = new FormData();
        for (let n = 0; n < 1000; n += 1) {
          form.append('document', blob(`{"id":${n}}`, 'application/json'), 'document.json');
          form.append('picture', blob(`picture ${n} ${'x'.repeat(12_000)}`), 'picture.png');
        }
        const made = await post('/documents/thousand', form);
        assert.equal(made.status, 201, made.text);
        assert.equal(made.json.ids.length, 1000);
        for (const n of [0, 500, 999])
          assert.match(
            (await get(`/documents/thousand/${n}/attachments/picture.png`)).bytes.toString(),
            new RegExp(`^picture ${n} x`),
          );
        form.set('last', 'x');
        form.append('document', '{"id":5}');
        const refused = await post('/documents/thousand2', form);
        assert.equal(refused.status, 409, refused.text);
        assert.deepEqual((await site.ask('GET', '/documents/thousand2')).json.documents, []);
      });

      test('a form that cannot be is refused, and leaves nothing', async () => {
        const before = async () => (await site.ask('GET', '/documents/none')).json.documents.length;
        for (const parts of /** @type {[string, string][][]} */ ([
          [],
          [
            ['file', 'x'.repeat(100_000)],
            ['document', '{}'],
          ],
          [['document', '{']],
          [['document', '[]']],
          [
            ['document', '{"id":1}'],
            ['document', '{"id":1}'],
          ],
          [['document', `{"a":"${'x'.repeat(1_100_000)}"}`]],
        ])) {
          const form = new FormData();
          for (const [name, value] of parts) form.append(name, value);
          const reply = await post('/documents/none', form);
          assert.ok([400, 409, 413].includes(reply.status), reply.text);
          assert.equal(await before(), 0);
        }
        const headers = { 'content-type': 'multipart/form-data; boundary=x' };
        for (const body of [
          '',
          '--x\r\n',
          `--x\r\ncontent-disposition: form-data; name="document"\r\n\r\n{}`,
          'nonsense',
          '--x--\r\n',
        ])
          assert.equal((await site.ask('POST', '/documents/none', { headers, body })).status, 400, body);
        const bare = { 'content-type': 'multipart/form-data' };
        assert.equal((await site.ask('POST', '/documents/none', { headers: bare, body: 'x' })).status, 400);
        assert.equal(await before(), 0);
      });

      test('the server has nothing to complain of, and the store nothing that is not referred to', async () => {
        assert.doesNotMatch(site.output(), /Error/);
        if (engine !== 'lmdb') return;
        const db = open(site.folder);
        try {
          await db.attachments.collect({ grace: 0 });
          const { attachments, problems, strays } = await db.attachments.verify();
          assert.ok(attachments > 1000);
          assert.deepEqual([problems, strays], [[], []]);
          assert.deepEqual((await db.attachments.collect({ grace: 0 })).removed, 0);
        } finally {
          db.close();
        }
      });
    },
    [],
    engine,
  );
}
