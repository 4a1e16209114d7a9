// Every version opens the stores that earlier ones wrote. `fixtures/format-1` was written by the first version: documents, every
// type of value, a large one, and an index, all in the durable file; `../crash/store-1` has a part of it only in the log.
//
// `node formats.test.mjs make` writes the first one anew, when a new format makes one necessary.

import assert from 'node:assert/strict';
import { copyFileSync, cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { open } from 'caretdb';
import { newFolder } from '../mg-dbx/store.mjs';

const FORMAT_1 = fileURLToPath(new URL('./fixtures/format-1', import.meta.url));
const WITH_LOG = fileURLToPath(new URL('../crash/store-1', import.meta.url));

const rob = { name: 'Rob', address: { city: 'Redhill' }, tags: ['a', null, {}], born: 1960.5 };
const zoe = { name: 'Zoë', address: { city: 'Reigate' }, tags: [] };
const values = [
  [0, 'text'],
  [-1.5, 42],
  ['é\u0000', true],
  ['bytes', new Uint8Array([0, 255])],
  ['none', null],
  ['large', 'long text '.repeat(1000)],
];

/** @param {import('caretdb').Database} db */
function fill(db) {
  const person = db.global('Person');
  person.createIndex('city', ['address', 'city']);
  person.setDocument(1, rob);
  person.setDocument(2, zoe);
  for (const [subscript, value] of values)
    db.global('Value').set(/** @type {any} */ (subscript), /** @type {any} */ (value));
}

/** @param {string} fixture @returns {string} a copy that may be written */
function copyOf(fixture) {
  const folder = newFolder();
  cpSync(fixture, folder, { recursive: true });
  return folder;
}

if (process.argv[2] === 'make') {
  const folder = newFolder();
  const db = open(folder);
  fill(db);
  db.close();
  mkdirSync(FORMAT_1, { recursive: true });
  for (const name of ['header', 'durable.mdb']) copyFileSync(join(folder, name), join(FORMAT_1, name));
} else {
  it('a store of format 1 opens with every document, value and index, and can be written', () => {
    const db = open(copyOf(FORMAT_1));
    const person = db.global('Person');
    assert.deepEqual(person.getDocument(1), rob);
    assert.deepEqual(person.getDocument(2), zoe);
    assert.deepEqual(
      [...person.find('city', { equals: 'Reigate' })].map(([id]) => id),
      [2],
    );
    for (const [subscript, value] of values)
      assert.deepEqual(db.global('Value').get(/** @type {any} */ (subscript)), value);
    person.setDocument(3, { address: { city: 'Reigate' } });
    assert.equal([...person.find('city', { equals: 'Reigate' })].length, 2);
    db.close();
  });

  it('a store of format 1 opens with what is only in its log, too', () => {
    const folder = copyOf(WITH_LOG);
    assert.ok(readdirSync(folder).some((name) => name.startsWith('log.')));
    const db = open(folder);
    assert.ok(db.stats().entries >= 40);
    db.global('After').set(1, 'x');
    db.close();
    const again = open(folder);
    assert.equal(again.global('After').get(1), 'x');
    again.close();
  });
}
