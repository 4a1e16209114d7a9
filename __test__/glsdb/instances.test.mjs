// Instances: any number of them side by side, on stores of their own or on one, opened, closed and opened again.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { glsDB } from '../../js/glsdb.mjs';
import { newFolder } from '../mg-dbx/store.mjs';
import { openStore } from './store.mjs';

describe('several instances', () => {
  test('on stores of their own do not mix', () => {
    const first = openStore().glsdb;
    const second = openStore().glsdb;
    new first.node('Person.1').document = { name: 'first' };
    new second.node('Person.1').document = { name: 'second' };
    assert.deepEqual(new first.node('Person.1').document, { name: 'first' });
    assert.deepEqual(new second.node('Person.1').document, { name: 'second' });
    let heard = 0;
    first.on('document_get', () => {
      heard += 1;
    });
    void new second.node('Person.1').document;
    assert.equal(heard, 0);
  });

  test('on one store see each other', () => {
    const { glsdb, store } = openStore();
    const other = new glsDB();
    other.open({ type: 'CaretDB', ...store });
    new glsdb.node('Shared.1').document = { a: [1] };
    assert.deepEqual(new other.node('Shared.1').document, { a: [1] });
    other.close();
    assert.deepEqual(new glsdb.node('Shared.1').document, { a: [1] });
  });

  test('take a connection that a handler was given', () => {
    const { db, mglobal, mcursor, mclass } = openStore().glsdb.dbx;
    /** @type {string[]} */
    const used = [];
    const use = (/** @type {string} */ name) => {
      used.push(name);
      return new mglobal(db, name);
    };
    const glsdb = new glsDB({ type: 'YottaDB', db, mglobal, mcursor, mclass, use });
    new glsdb.node('Given.1').document = ['x'];
    new glsdb.node('Given.2').value = 'y';
    assert.deepEqual(glsdb.directory, ['Given']);
    assert.deepEqual(used, ['Given']);
    const plain = new glsDB({ db });
    assert.deepEqual(new plain.node('Given.1').document, ['x']);
  });
});

test('a folder is enough to open', () => {
  const path = newFolder();
  const glsdb = new glsDB();
  glsdb.open(join(path, 'below'));
  new glsdb.node('Person.1').value = 'x';
  assert.deepEqual(glsdb.directory, ['Person']);
  glsdb.close();
});

describe('closed', () => {
  test('every call says so, and reopening makes the same nodes work', () => {
    const { glsdb, store } = openStore();
    const node = new glsdb.node('Person.1');
    node.document = { a: 1 };
    glsdb.close();
    glsdb.close();
    assert.throws(() => node.document, { code: 'ERR_CLOSED' });
    assert.throws(
      () => {
        node.value = 1;
      },
      { code: 'ERR_CLOSED' },
    );
    assert.throws(() => node.exists, { code: 'ERR_CLOSED' });
    assert.throws(() => node.leafNodes, { code: 'ERR_CLOSED' });
    assert.throws(() => node.pop(), { code: 'ERR_CLOSED' });
    assert.throws(() => glsdb.directory, { code: 'ERR_CLOSED' });
    assert.throws(() => glsdb.transaction.start(), { code: 'ERR_CLOSED' });
    assert.ok(glsdb.version.length > 0);
    glsdb.open({ ...store });
    assert.deepEqual(node.document, { a: 1 });
    assert.deepEqual(glsdb.directory, ['Person']);
  });

  test('before open nothing is stored or lost silently', () => {
    const glsdb = new glsDB();
    const node = new glsdb.node('Person.1');
    assert.equal(node.path, 'Person.1');
    assert.throws(() => node.document, { code: 'ERR_CLOSED' });
    assert.equal(glsdb.dbx.db, undefined);
    assert.equal(typeof glsdb.dbx.mglobal, 'function');
  });
});

describe('node', () => {
  const { glsdb } = openStore();

  test('is a class, with or without new', () => {
    assert.ok(new glsdb.node('Person') instanceof glsdb.node);
    assert.ok(glsdb.node('Person.1') instanceof glsdb.node);
    assert.equal(new glsdb.node('^Person.1').name, 'Person');
    assert.equal(new glsdb.node(['^Person', 0.5]).path, 'Person.#0565');
    assert.deepEqual(new glsdb.node(['Person', 1, '[2]', 'a.b']).keys, ['Person', '1', '[000002]', 'a.b']);
  });

  test('refuses what names nothing', () => {
    for (const wrong of [undefined, null, 5, {}, [], '']) {
      assert.throws(() => new glsdb.node(/** @type {any} */ (wrong)), { code: 'ERR_ARG', name: 'TypeError' });
    }
    assert.throws(() => new glsdb.node('not a name').document, { code: 'ERR_BAD_NAME' });
    assert.throws(() => new glsdb.node('Person').$(/** @type {any} */ (null)), { code: 'ERR_ARG' });
    assert.throws(() => new glsdb.node('Person').$(Number.NaN), { code: 'ERR_BAD_KEY' });
    assert.throws(() => new glsdb.node('Person')._(-1), { code: 'ERR_ARG' });
    assert.throws(() => new glsdb.node('Person').import(/** @type {any} */ ('Person')), { code: 'ERR_ARG' });
  });

  test('errors of the store come through and change nothing', () => {
    const node = new glsdb.node('Errors');
    assert.throws(
      () => {
        node.$('x'.repeat(2000)).value = 1;
      },
      { code: 'ERR_KEY_TOO_LONG' },
    );
    assert.throws(
      () => {
        node.$('').value = 1;
      },
      { code: 'ERR_BAD_KEY' },
    );
    assert.equal(node.exists, false);
  });
});

describe('transactions', () => {
  const { glsdb } = openStore();
  const node = new glsdb.node('Accounts');

  test('commit, roll back and nest', () => {
    const { transaction } = glsdb;
    node.document = { a: 1 };
    assert.equal(transaction.level(), '0');
    assert.equal(transaction.start(), '0');
    node.$('a').value = 2;
    transaction.start();
    assert.equal(transaction.level(), '2');
    node.$('a').value = 3;
    node.$('list').push(1);
    transaction.rollback();
    assert.equal(transaction.level(), '1');
    assert.deepEqual(node.document, { a: 2 });
    transaction.commit();
    assert.deepEqual(node.document, { a: 2 });
    transaction.start();
    node.delete();
    transaction.rollback();
    assert.deepEqual(node.document, { a: 2 });
  });
});

describe('what this store does not have', () => {
  test('says so', () => {
    const glsdb = new glsDB();
    for (const member of ['function', 'classMethod', 'irisClass', 'irisClassExists', 'irisProxy']) {
      assert.throws(() => Reflect.get(glsdb, member)('x'), { code: 'ERR_UNSUPPORTED' }, member);
    }
    assert.throws(() => new glsDB({ maxArrayDigits: 3 }), { code: 'ERR_UNSUPPORTED' });
    assert.throws(() => new glsDB('yottadb', { arrayPadChar: '-' }), { code: 'ERR_UNSUPPORTED' });
    assert.ok(new glsDB('yottadb', { maxArrayDigits: 6 }));
  });
});
