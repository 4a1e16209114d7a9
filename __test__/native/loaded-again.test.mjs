// Test runners forget their modules between files and load the addon again, into the same thread: each copy works on the same
// stores, and none ends the process.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newFolder } from '../mg-dbx/store.mjs';

const require = createRequire(import.meta.url);
const path = fileURLToPath(new URL('../../caretdb.node', import.meta.url));

test('an addon that is loaded again into one thread works on, and each copy sees the others', async () => {
  const folder = newFolder();
  const copies = [1, 2, 3, 4].map(() => {
    delete require.cache[path];
    const { server, mglobal } = require(path);
    const connection = new server();
    connection.open({ type: 'CaretDB', path: folder });
    return { connection, global: new mglobal(connection, 'Loaded') };
  });
  for (const [index, { global }] of copies.entries()) global.set(index, `by ${index}`);
  for (const [index, { global }] of copies.entries()) {
    const next = (index + 1) % copies.length;
    assert.equal(global.get(next), `by ${next}`);
    const later = await new Promise((resolve) =>
      global.get(index, (/** @type {unknown} */ _error, /** @type {string} */ value) => resolve(value)),
    );
    assert.equal(later, `by ${index}`);
  }
  for (const { connection } of copies) connection.close();
});
