// Promise: the viewer's routes show every node of a store by unambiguous names, some at a time in either direction, and change what
// is stored only where the server was started with --edit. The same on both servers.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { ask, SERVERS, startProgram, temporaryFolder } from '../servers/programs.mjs';
import { fillStore, HOSTILE_KEYS, PNG } from './store.mjs';

for (const { name, runtime, program, skip } of SERVERS) {
  describe(`the viewer's routes of ${name}`, { skip: skip !== false }, () => {
    /** @type {ReturnType<typeof temporaryFolder>} */
    let folder;
    /** @type {import('../servers/programs.mjs').Program} */
    let server;
    before(async () => {
      folder = temporaryFolder();
      fillStore(folder.path);
      server = await startProgram(runtime, [
        program,
        'false',
        '1',
        '--port',
        '0',
        '--data',
        folder.path,
        '--edit',
      ]);
    });
    after(async () => {
      assert.equal(await server.stop(), 0);
      folder.remove();
    });

    /** @param {string} path @param {object} json */
    const post = (path, json) => ask(server.port, 'POST', `/viewer/${path}`, { json });
    /** @param {string} path @param {object} json */
    const answer = async (path, json) => {
      const reply = await post(path, json);
      assert.equal(reply.status, 200, reply.text);
      return reply.json;
    };
    /** @param {object} request @returns {Promise<string>} the subscripts in short, with marks where there are more */
    const listed = async (request) => {
      const { children, before: earlier, after: later } = await answer('children', request);
      const keys = children.map((/** @type {any} */ { subscript }) => subscript).join(' ');
      return `${earlier ? '… ' : ''}${keys}${later ? ' …' : ''}`;
    };

    test('children come some at a time, from any seed in either direction', async () => {
      const many = { global: 'Many', limit: 3 };
      assert.equal(await listed(many), '1 2 3 …');
      assert.equal(await listed({ ...many, reverse: true }), '… 118 119 120');
      assert.equal(await listed({ ...many, from: '50' }), '… 50 51 52 …');
      assert.equal(await listed({ ...many, after: '50' }), '… 51 52 53 …');
      assert.equal(await listed({ ...many, from: '50', reverse: true }), '… 48 49 50 …');
      assert.equal(await listed({ ...many, after: '50', reverse: true }), '… 47 48 49 …');
      // The first and the last, and what lies before and behind them.
      assert.equal(await listed({ ...many, from: '1' }), '1 2 3 …');
      assert.equal(await listed({ ...many, after: '1', reverse: true }), ' …');
      assert.equal(await listed({ ...many, from: '120' }), '… 120');
      assert.equal(await listed({ ...many, after: '120' }), '… ');
      // Seeds that are not there.
      assert.equal(await listed({ ...many, from: '0' }), '1 2 3 …');
      assert.equal(await listed({ ...many, from: '50.5' }), '… 51 52 53 …');
      assert.equal(await listed({ ...many, from: '50.5', reverse: true }), '… 48 49 50 …');
      assert.equal(await listed({ ...many, from: 'beyond' }), '… ');
      assert.equal(await listed({ ...many, from: 'beyond', reverse: true }), '… 118 119 120');
      assert.equal(await listed({ global: '^Many', limit: 1000, from: 119 }), '… 119 120');
      assert.equal(await listed({ global: 'Many', subscripts: ['7'] }), '');
      assert.equal(await listed({ global: 'NotThere' }), '');
      assert.equal((await answer('children', { global: 'Many' })).children.length, 50);
    });

    test('a key is found by its beginning', async () => {
      const names = { global: 'Names', limit: 2 };
      assert.equal(await listed({ ...names, find: 'A' }), '… Ada Alan …');
      assert.equal(await listed({ ...names, find: 'Al' }), '… Alan Edsger …');
      assert.equal(await listed({ ...names, find: 'F' }), '… Grace Rob');
      assert.equal(await listed({ ...names, find: 'Z' }), '… ');
      // Text that is a number too: the number, else a string that begins so, else the nearest number.
      assert.equal(await listed({ ...names, find: '7' }), '… 7 20 …');
      assert.equal(await listed({ ...names, find: '10' }), '… 10 Downing Street Ada …');
      assert.equal(await listed({ ...names, find: '8' }), '… 20 07 text …');
      assert.equal(await listed({ ...names, find: '07' }), '… 07 text 10 Downing Street …');
      assert.equal(await listed({ ...names, find: '.5' }), '… .5 7 …');
    });

    test('any key leads back to its node', async () => {
      const { children } = await answer('children', { global: 'Keys', limit: 1000 });
      assert.equal(children.length, HOSTILE_KEYS.length + 1);
      for (const { subscript, hasChildren, value } of children) {
        assert.deepEqual([hasChildren, value], [true, undefined]);
        const below = await answer('children', { global: 'Keys', subscripts: [subscript] });
        if (typeof subscript === 'string') {
          assert.equal(below.children[0].value.text, String(HOSTILE_KEYS.indexOf(subscript)));
        } else {
          assert.deepEqual(subscript, { bytes: 'fffe' });
          assert.equal(below.children[0].value.text, 'bytes as a key');
        }
        assert.deepEqual(
          (await answer('children', { global: 'Keys', limit: 1, from: subscript })).children[0].subscript,
          subscript,
        );
      }
    });

    test('values come with their types; long ones and bytes are cut', async () => {
      const { children } = await answer('children', { global: 'Types' });
      const shown = Object.fromEntries(
        children.map((/** @type {any} */ { subscript, value }) => [subscript, value]),
      );
      assert.deepEqual(shown.string, { type: 'string', text: 'text', length: 4 });
      assert.deepEqual(shown.empty, { type: 'string', text: '', length: 0 });
      assert.deepEqual(shown.number, { type: 'number', text: '0.1' });
      assert.deepEqual(shown['minus zero'], { type: 'number', text: '-0' });
      assert.deepEqual(shown.true, { type: 'boolean', text: 'true' });
      assert.deepEqual(shown.null, { type: 'null', text: 'null' });
      assert.deepEqual(shown.long, { type: 'string', text: 'x'.repeat(199), length: 210, cut: true });
      assert.equal(shown.bytes.length, 600);
      assert.match(shown.bytes.text, /^000102[0-9a-f]+1f$/);
      assert.equal(shown.picture.media, 'image/png');
      assert.deepEqual(shown.both, { type: 'string', text: 'a value', length: 7 });
      assert.equal(children.find((/** @type {any} */ one) => one.subscript === 'both').hasChildren, true);
    });

    test('one node, whole; its bytes; its document', async () => {
      /** @param {...string} subscripts */
      const at = (...subscripts) => ({ global: 'Types', subscripts });
      const long = await answer('node', at('long'));
      assert.equal(long.value.text.length, 210);
      assert.deepEqual(await answer('node', at('not there')), { exists: false, hasChildren: false });
      assert.deepEqual(await answer('node', { global: 'Types' }), { exists: true, hasChildren: true });
      assert.deepEqual((await answer('node', at('document', 'a'))).value, { type: 'mark', text: '{}' });
      const { port } = server;
      const reply = await fetch(`http://127.0.0.1:${port}/viewer/bytes`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(at('picture')),
      });
      assert.deepEqual(new Uint8Array(await reply.arrayBuffer()), PNG);
      assert.equal((await post('bytes', { ...at('bytes'), offset: 1, length: 3 })).text, '\x01\x02\x03');
      assert.equal((await post('bytes', at('string'))).status, 404);
      const { json, editable } = await answer('document', at('document'));
      assert.deepEqual(JSON.parse(json), { a: {}, b: [], c: [1, 'two', null], d: { '[000000]': 1 } });
      assert.equal(editable, true);
      assert.equal((await answer('document', at('both'))).editable, false);
      assert.equal((await answer('document', { global: 'Types' })).editable, false);
      assert.equal((await post('document', at('not there'))).status, 404);
    });

    test('values are stored with their types, and only where they should be', async () => {
      const at = { global: 'Edited', subscripts: ['a.b', '[0]'] };
      for (const [type, text] of [
        ['string', '1.0'],
        ['string', ''],
        ['number', '1.50'],
        ['boolean', 'false'],
        ['null', ''],
      ]) {
        assert.deepEqual(await answer('set', { ...at, type, text }), { ok: true });
        const { value } = await answer('node', at);
        assert.equal(value.type, type);
        assert.equal(value.text, type === 'null' ? 'null' : type === 'number' ? '1.5' : text);
      }
      for (const [type, text] of [
        ['number', 'twelve'],
        ['number', ''],
        ['number', '1e999'],
        ['boolean', 'yes'],
        ['document', '{'],
        ['string', '\ud800'],
      ]) {
        const refused = await post('set', { ...at, type, text });
        assert.equal(refused.status, 400, `${type} ${text}`);
      }
      assert.equal((await answer('node', at)).value.type, 'null');
      assert.equal((await post('set', { ...at, type: 'string', text: 'x', isNew: true })).status, 409);
      await answer('set', { ...at, type: 'document', text: '{"x": [1, {"y": null}]}' });
      assert.deepEqual(JSON.parse((await answer('document', at)).json), { x: [1, { y: null }] });
      for (const body of [
        {},
        { global: 'x' },
        { global: 'x', type: 'bytes' },
        { global: 'x', subscripts: [''], type: 'null' },
      ])
        assert.equal((await post('set', body)).status, 400, JSON.stringify(body));
      assert.equal((await post('set', { global: '1x', type: 'null' })).status, 400);
    });

    test('deletes a subtree, or a value alone, and says before how much goes', async () => {
      const at = { global: 'Deleted', subscripts: ['node'] };
      await answer('set', { global: 'Deleted', subscripts: ['beside'], type: 'string', text: 'stays' });
      await answer('set', { ...at, type: 'document', text: '{"a": {"b": 1, "c": [1, 2, 3]}}' });
      await answer('set', { ...at, type: 'string', text: 'the value' });
      assert.deepEqual(await answer('count', at), { values: 5, more: false });
      await answer('delete', { ...at, what: 'value' });
      assert.deepEqual(await answer('count', at), { values: 4, more: false });
      assert.deepEqual(JSON.parse((await answer('document', at)).json), { a: { b: 1, c: [1, 2, 3] } });
      assert.deepEqual(await answer('node', at), { exists: true, hasChildren: true });
      await answer('delete', { ...at, what: 'subtree' });
      assert.equal((await answer('node', at)).exists, false);
      await answer('delete', { ...at, what: 'subtree' });
      assert.equal(await listed({ global: 'Deleted' }), 'beside');
      await answer('delete', { global: 'Deleted', subscripts: ['beside'], what: 'value' });
      assert.equal(await listed({ global: 'Deleted' }), '');
      assert.equal((await answer('children', { global: '%caretdb' })).children.length, 0);
    });

    test("the database's own bookkeeping is shown, and not changed", async () => {
      const own = { global: '^%caretdb', subscripts: ['x'] };
      const refused = await post('set', { ...own, type: 'null' });
      assert.deepEqual([refused.status, refused.json.code], [403, 'ERR_READ_ONLY']);
      assert.equal((await post('delete', { ...own, what: 'subtree' })).status, 403);
      assert.deepEqual(await answer('children', { global: '%caretdb' }), {
        children: [],
        before: false,
        after: false,
      });
    });

    test('a request that names no node is 400, whatever it holds', async () => {
      for (const path of ['children', 'node', 'document', 'bytes', 'count', 'set', 'delete']) {
        for (const body of [{}, { global: 7 }, { global: 'x', subscripts: 'y' }, { global: 'x', more: 1 }])
          assert.equal((await post(path, body)).status, 400, `${path} ${JSON.stringify(body)}`);
        assert.equal((await ask(server.port, 'POST', `/viewer/${path}`)).status, 400, path);
      }
      for (const subscripts of [[''], [{ bytes: 'f' }], [{ bytes: 'xx' }], [null], ['k'.repeat(2000)]])
        assert.equal((await post('children', { global: 'x', subscripts })).status, 400);
      assert.equal((await post('children', { global: 'no name' })).status, 400);
    });

    test('without --edit nothing can be changed', async () => {
      const own = temporaryFolder();
      fillStore(own.path, { many: 1 });
      const closed = await startProgram(runtime, [program, 'false', '1', '--port', '0', '--data', own.path]);
      try {
        assert.deepEqual((await ask(closed.port, 'GET', '/viewer/options')).json, { edit: false });
        assert.deepEqual((await ask(server.port, 'GET', '/viewer/options')).json, { edit: true });
        const at = { global: 'Types', subscripts: ['string'] };
        for (const [path, json] of /** @type {[string, object][]} */ ([
          ['set', { ...at, type: 'string', text: 'changed' }],
          ['delete', { ...at, what: 'subtree' }],
        ])) {
          const refused = await ask(closed.port, 'POST', `/viewer/${path}`, { json });
          assert.deepEqual([refused.status, refused.json.code], [403, 'ERR_READ_ONLY']);
          assert.match(refused.json.error, /--edit/);
        }
        const { json } = await ask(closed.port, 'POST', '/viewer/node', { json: at });
        assert.equal(json.value.text, 'text');
      } finally {
        await closed.stop();
        own.remove();
      }
    });
  });
}
