// The promise of the showcase's routes: the replies that its users know, from both servers, on a store that both may use.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ask, BOTH, SERVERS, startProgram, temporaryFolder } from './programs.mjs';

/** Keys that the grammar of paths needs for itself, and keys that look like something else. */
const HOSTILE_KEYS = [
  'a.b',
  '[0]',
  '[x]',
  'a]b[c',
  '#056',
  '#',
  'a b',
  'ü',
  '😀',
  '__proto__',
  'constructor',
  '01',
  '1e3',
  '"',
];

for (const { name, runtime, program, skip } of SERVERS) {
  describe(name, { skip: skip !== false }, () => {
    /** @type {ReturnType<typeof temporaryFolder>} */
    let folder;
    /** @type {import('./programs.mjs').Program} */
    let server;
    before(async () => {
      folder = temporaryFolder();
      // One worker, so that the replies can name it.
      server = await startProgram(runtime, [program, 'false', '1', '--port', '0', '--data', folder.path]);
    });
    after(async () => {
      assert.equal(await server.stop(), 0);
      folder.remove();
    });

    /** @param {string} path */
    const get = (path) => ask(server.port, 'GET', path);
    /** @param {string} path @param {unknown} json */
    const post = (path, json) => ask(server.port, 'POST', path, { json });
    /** @param {object} body */
    const children = async (body) => {
      const { status, json } = await post('/viewer/getChildNodes', { parentId: 1, idCounter: 1, ...body });
      assert.equal(status, 200);
      return json;
    };
    /** @param {number} records @param {string} [documentName] */
    const benchmark = (records, documentName = 'bmTest') =>
      post('/benchmark', { documentName, json: "{hello:'world'}", noOfRecords: String(records) });

    test('before anything is stored, the directory is empty', async () => {
      assert.deepEqual((await get('/viewer/globaldirectory')).json, { names: [] });
    });

    test('persons get ids as strings, and come back', async () => {
      const rob = { firstName: 'Rob', lastName: 'Tweed' };
      const first = await post('/user', rob);
      assert.deepEqual([first.status, first.json], [200, { ok: true, id: '1', handledByWorker: 0 }]);
      assert.equal((await post('/user', { firstName: 'Ada', age: 36, tags: ['a', null] })).json.id, '2');
      const found = await get('/user/1');
      assert.deepEqual([found.status, found.json], [200, { document: rob }]);
      assert.deepEqual((await get('/user/2')).json.document, {
        firstName: 'Ada',
        age: 36,
        tags: ['a', null],
      });
      const missing = await get('/user/99');
      assert.deepEqual([missing.status, missing.json], [400, { error: 'No record exists with id 99' }]);
    });

    test('a person is an object; anything else is 400', async () => {
      for (const json of [null, 7, 'text', true, [1]]) assert.equal((await post('/user', json)).status, 400);
      assert.equal((await ask(server.port, 'POST', '/user')).status, 400);
    });

    test('a person is JSON; bytes and forms with files are 415', async () => {
      for (const type of ['application/octet-stream', 'multipart/form-data; boundary=x']) {
        for (const path of ['/user', '/viewer/getChildNodes']) {
          const reply = await ask(server.port, 'POST', path, {
            headers: { 'content-type': type },
            body: '--x--\r\n',
          });
          assert.equal(reply.status, 415);
          assert.match(reply.json.error, /JSON/);
        }
      }
    });

    test('what the store refuses of a request is 400 with the reason, and no fault', async () => {
      const headers = { 'content-type': 'application/json' };
      for (const [path, body, reason] of /** @type {[string, string, RegExp][]} */ ([
        ['/user', '{"a":"\\ud800"}', /surrogate/],
        ['/user', `{"${'k'.repeat(3000)}":1}`, /key/],
        ['/viewer/getChildNodes', '{"path":"Person.\\ud800","parentId":1,"idCounter":1}', /surrogate/],
        ['/user', '['.repeat(200_000), /nested/],
        ['/user', `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, /nested/],
      ])) {
        const reply = await ask(server.port, 'POST', path, { headers, body });
        assert.deepEqual([reply.status, Object.keys(reply.json)], [400, ['error']], reply.text);
        assert.match(reply.json.error, reason);
      }
      assert.doesNotMatch(server.output(), /surrogate|RangeError/);
    });

    test('a host is a name and a port, nothing more', async () => {
      for (const host of [
        `localhost:${server.port}.evil.com`,
        'localhost:evil.com',
        'localhost:80:80',
        '[::1].evil.com',
        '[::1]:x',
      ]) {
        const reply = await ask(server.port, 'GET', '/local', { headers: { host } });
        assert.ok(reply.status === 403 || reply.status === 400, `${host}: ${reply.status}`);
      }
      for (const host of ['localhost', `localhost:${server.port}`, '[::1]:1', '127.0.0.1:65535']) {
        assert.equal((await ask(server.port, 'GET', '/local', { headers: { host } })).status, 200, host);
      }
    });

    test('a person with hostile keys comes back exactly, and pollutes nothing', async () => {
      const body = `{${HOSTILE_KEYS.map((key, index) => `${JSON.stringify(key)}: ${index}`).join(',')}, "empty": {"": {}}}`;
      const { json } = await ask(server.port, 'POST', '/user', {
        headers: { 'content-type': 'application/json' },
        body,
      });
      const { text } = await get(`/user/${json.id}`);
      const { document } = JSON.parse(text);
      assert.deepEqual(document, JSON.parse(body));
      assert.ok(Object.hasOwn(document, '__proto__'));
    });

    test('the benchmark answers its five figures', async () => {
      const { status, json } = await benchmark(100);
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(json), ['set', 'get', 'get_q', 'document_set', 'document_get']);
      assert.equal(json.set.dbxCounts.set, 100);
    });

    test('the directory names globals without caret', async () => {
      await benchmark(20, 'bmArr');
      assert.deepEqual((await get('/viewer/globaldirectory')).json, { names: ['Person', 'bmArr', 'bmTest'] });
    });

    test('the root of a document', async () => {
      const node = {
        documentName: 'bmTest',
        path: 'bmTest',
        parent: false,
        subscript: 'bmTest',
        leafNode: false,
        value: '',
        id: 1,
      };
      assert.deepEqual((await get('/viewer/documentNode/bmTest')).json, { node, idCounter: 1 });
      assert.equal((await get('/viewer/documentNode/not-there')).json.node.leafNode, false);
      assert.equal((await get('/viewer/documentNode/1x')).status, 400);
      assert.equal((await get(`/viewer/documentNode/${'x'.repeat(255)}`)).status, 200);
    });

    test('the children of a node', async () => {
      const hello = {
        path: 'bmTest.1.hello',
        subscript: 'hello',
        leafNode: true,
        parent: 1,
        id: 2,
        value: 'world',
      };
      assert.deepEqual(await children({ path: 'bmTest.1', maxSubscripts: 6 }), {
        nodes: [hello],
        idCounter: 2,
      });
      assert.deepEqual(await children({ path: 'not-there' }), { nodes: [], idCounter: 1 });
      assert.deepEqual(await children({ path: 'bmTest.1.hello' }), { nodes: [], idCounter: 1 });
    });

    /** @param {any} json what a listing shows, in short: subscripts, and marks of what is left out */
    const short = ({ nodes }) =>
      nodes.map((/** @type {any} */ node) =>
        node.moreSiblings
          ? `${node.seed} …`
          : node.morePreviousSiblings
            ? `… ${node.seed}`
            : Number(node.subscript),
      );

    test('many children come some at a time, in both directions', async () => {
      const first = await children({ path: 'bmTest', maxSubscripts: 6 });
      assert.deepEqual(short(first), [1, 2, 3, 4, 5, 6, '7 …']);
      assert.deepEqual(first.nodes.at(-1), {
        id: 8,
        path: 'bmTest',
        moreSiblings: true,
        parent: 1,
        seed: '7',
      });
      assert.equal(first.idCounter, 8);

      const next = await children({
        path: 'bmTest',
        idCounter: 8,
        maxSubscripts: 6,
        moreSiblings: true,
        seed: '7',
      });
      assert.deepEqual(short(next), ['… 6', 7, 8, 9, 10, 11, 12, '13 …']);
      assert.deepEqual(next.nodes[0], {
        id: 9,
        path: 'bmTest',
        morePreviousSiblings: true,
        seed: '6',
        parent: 1,
      });

      const back = await children({
        path: 'bmTest',
        maxSubscripts: 6,
        morePreviousSiblings: true,
        seed: '7',
      });
      assert.deepEqual(short(back), ['… 1', 2, 3, 4, 5, 6, 7, '8 …']);
    });

    test('a seed may be the first, the last, missing or nothing at all', async () => {
      // A seed without a predecessor crashed the showcase's worker.
      /** @param {object} body */
      const listed = async (body) => short(await children({ path: 'bmArr', maxSubscripts: 3, ...body }));
      assert.deepEqual(await listed({ moreSiblings: true, seed: '1' }), [1, 2, 3, '4 …']);
      assert.deepEqual(await listed({ moreSiblings: true, seed: '20' }), ['… 19', 20]);
      assert.deepEqual(await listed({ moreSiblings: true, seed: 19.5 }), ['… 19', 20]);
      assert.deepEqual(await listed({ moreSiblings: true, seed: 'zzz' }), []);
      assert.deepEqual(await listed({ moreSiblings: true }), [1, 2, 3, '4 …']);
      assert.deepEqual(await listed({ morePreviousSiblings: true, seed: '1' }), [1, '2 …']);
      assert.deepEqual(await listed({ morePreviousSiblings: true, seed: '20' }), ['… 17', 18, 19, 20]);
      assert.deepEqual(await listed({ morePreviousSiblings: true, seed: '0' }), []);
      assert.deepEqual(await listed({ morePreviousSiblings: true }), ['… 17', 18, 19, 20]);
    });

    test('every path that the viewer gives leads to its node', async () => {
      const { json } = await post(
        '/user',
        Object.fromEntries(HOSTILE_KEYS.map((key) => [key, { [key]: [key, 'x'] }])),
      );
      const { nodes } = await children({ path: `Person.data.${json.id}` });
      assert.equal(nodes.length, HOSTILE_KEYS.length);
      for (const { path } of nodes) {
        const [below] = (await children({ path })).nodes;
        const elements = (await children({ path: below.path })).nodes;
        assert.equal(elements.length, 2, path);
        assert.equal(elements[1].value, 'x');
        assert.equal((await children({ path: elements[0].path })).nodes.length, 0);
      }
      const [first] = nodes.filter((/** @type {any} */ node) => node.subscript === 'a.b');
      assert.ok(first.path.endsWith('.a#056b'));
    });

    test('a benchmark of a global that holds other data is 409 until confirmed', async () => {
      const refused = await benchmark(10, 'Person');
      assert.equal(refused.status, 409);
      assert.equal((await get('/user/1')).status, 200);
    });

    test('a benchmark is followed and cancelled', async () => {
      const events = get('/benchmark/this-run/events');
      const reply = post('/benchmark', { json: '{a: 1}', noOfRecords: '10000000', run: 'this-run' });
      while ((await ask(server.port, 'DELETE', '/benchmark/this-run')).status !== 200);
      assert.ok((await reply).status >= 400);
      assert.match((await events).text, /event: done/);
    });
  });
}

test('both servers, with threads and with processes, may have one store open and see each other', async (t) => {
  if (BOTH.some(({ skip }) => skip !== false)) return t.skip('needs both runtimes');
  const folder = temporaryFolder();
  const programs = await Promise.all(
    BOTH.flatMap(({ runtime, program }) =>
      ['threads', 'processes'].map((mode) =>
        startProgram(runtime, [program, 'false', '2', '--port', '0', '--data', folder.path, '--mode', mode]),
      ),
    ),
  );
  const replies = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      ask(programs[index % programs.length].port, 'POST', '/user', { json: { index } }),
    ),
  );
  const ids = replies.map(({ json }) => Number(json.id));
  assert.deepEqual(
    ids.toSorted((a, b) => a - b),
    Array.from({ length: 200 }, (_, index) => index + 1),
  );
  for (const [index, id] of ids.slice(0, 40).entries()) {
    const { json } = await ask(programs[(index + 1) % programs.length].port, 'GET', `/user/${id}`);
    assert.deepEqual(json, { document: { index } });
  }
  for (const server of programs) assert.equal(await server.stop(), 0);
  folder.remove();
});
