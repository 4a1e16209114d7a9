// The calls of `server`, row by row as programs for mg-dbx-napi know them: every answer is a string.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { beforeEach, describe, it } from 'node:test';
import { mclass, mcursor, mglobal, server } from 'caretdb';
import * as bun from 'caretdb/bun';
import * as cjs from 'caretdb/cjs';
import * as node from 'caretdb/node';
import { callBack, newFolder, openServer, withCode } from './store.mjs';

describe('what the package exports', () => {
  it('is the same from each entry, with the class names that programs test', () => {
    const require = createRequire(import.meta.url);
    for (const entry of [bun, cjs, node, require('caretdb'), require('caretdb/cjs')]) {
      assert.equal(entry.server, server);
      assert.equal(entry.mglobal, mglobal);
      assert.equal(entry.mcursor, mcursor);
      assert.equal(entry.mclass, mclass);
    }
    const { db } = openServer();
    assert.equal(new mglobal(db, 'Person').constructor.name, 'mglobal');
    assert.equal(db.constructor.name, 'server');
    assert.equal(new mcursor(db, { global: 'Person' }).constructor.name, 'mcursor');
  });
});

describe('the calls of server', () => {
  const { db, path, store } = openServer();
  beforeEach(() => {
    db.delete('Person');
  });

  it('sets and gets', () => {
    assert.equal(db.set('Person', 1, 'name', 'Rob'), '0');
    assert.equal(db.get('Person', 1, 'name'), 'Rob');
    assert.equal(db.get('^Person', '1', 'name'), 'Rob');
    assert.equal(db.get('Person', 1), '');
    assert.match(db.geterrormessage(), /no value/);
    assert.equal(db.set('Person', 'root'), '0');
    assert.equal(db.get('Person'), 'root');
    assert.equal(db.geterrormessage(), '');
  });

  it('keeps values as text that JavaScript would spell so', () => {
    const values = ['007', '1E3', '\0', 'a\0b', '', ' ', 'ä€😀', '"', '-0', '1.0'];
    for (const value of values) {
      db.set('Person', 'v', value);
      assert.equal(db.get('Person', 'v'), value);
    }
    for (const value of [0, -0, 0.5, 1e21, 1e-7, 123456789012345680000, true, false, 12n, -(2n ** 70n)]) {
      db.set('Person', 'v', value);
      assert.equal(db.get('Person', 'v'), String(value));
    }
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
      db.set('Person', 'v', value);
      assert.equal(db.get('Person', 'v'), String(value));
    }
  });

  it('takes the canonical form of a number as its subscript', () => {
    db.set('Person', 0.5, 'half');
    assert.equal(db.get('Person', '.5'), 'half');
    assert.equal(db.get('Person', '0.5'), '');
    assert.equal(db.next('Person', ''), '.5');
    db.set('Person', true, 'yes');
    assert.equal(db.get('Person', 'true'), 'yes');
    db.set('Person', 12n, 'big');
    assert.equal(db.get('Person', 12), 'big');
    db.set('Person', -0, 'zero');
    assert.equal(db.get('Person', '0'), 'zero');
  });

  it('deletes whole subtrees', () => {
    db.set('Person', 1, 'a', 'x');
    db.set('Person', 1, 'x');
    db.set('Person', 11, 'x');
    assert.equal(db.delete('Person', 1), '0');
    assert.equal(db.delete('Person', 1), '0');
    assert.equal(db.defined('Person', 1, 'a'), '0');
    assert.equal(db.get('Person', 11), 'x');
    assert.equal(db.delete('Person'), '0');
    assert.equal(db.defined('Person'), '0');
  });

  it('says what is defined', () => {
    db.set('Person', 1, 'a', 'x');
    assert.equal(db.defined('Person', 1, 'a'), '1');
    assert.equal(db.defined('Person', 1), '10');
    db.set('Person', 1, '');
    assert.equal(db.defined('Person', 1), '11');
    assert.equal(db.defined('Person', 2), '0');
    assert.equal(db.defined('Nobody'), '0');
  });

  it('goes to the next and the previous child', () => {
    for (const key of ['b', 'a', 10, 9]) db.set('Person', key, 'child', 'x');
    const forwards = [];
    for (let key = db.next('Person', ''); key !== ''; key = db.next('Person', key)) forwards.push(key);
    assert.deepEqual(forwards, ['9', '10', 'a', 'b']);
    const backwards = [];
    for (let key = db.previous('Person', ''); key !== ''; key = db.previous('Person', key))
      backwards.push(key);
    assert.deepEqual(backwards, ['b', 'a', '10', '9']);
    assert.equal(db.next('Person', 'ab'), 'b');
    assert.equal(db.previous('Person', 9.5), '9');
    assert.equal(db.next('Person', 'b'), '');
    assert.equal(db.next('Person', 'b', ''), 'child');
    assert.equal(db.next('Person', 'zz', ''), '');
    assert.equal(db.next('Nobody', ''), '');
  });

  it('treats the empty string as no subscript', () => {
    db.set('Person', 'a', 'x');
    assert.equal(db.get('Person', ''), '');
    assert.match(db.geterrormessage(), /empty string/);
    assert.equal(db.set('Person', '', 'x'), '');
    assert.match(db.geterrormessage(), /empty string/);
    assert.equal(db.set('Person', 'a', '', 'b', 'x'), '');
    assert.equal(db.defined('Person', ''), '0');
    assert.equal(db.delete('Person', ''), '0');
    assert.equal(db.get('Person', 'a'), 'x');
    assert.equal(db.next('Person', '', ''), '');
    assert.throws(() => db.increment('Person', '', 1), withCode('ERR_BAD_KEY', /increment \^Person/));
    assert.throws(() => db.lock('Person', '', 0), withCode('ERR_BAD_KEY'));
  });

  it('increments by the last argument, always', () => {
    assert.equal(db.increment('Person', 'n', 1), '1');
    assert.equal(db.increment('Person', 'n', '1.5'), '2.5');
    assert.equal(db.increment('Person', 'n', '-10abc'), '-7.5');
    assert.equal(db.increment('Person', 'n', /** @type {any} */ (true)), '-7.5');
    for (let i = 0; i < 3; i++) db.increment('Person', 'tenths', 0.1);
    assert.equal(db.get('Person', 'tenths'), '.3');
    db.set('Person', 'text', '12abc');
    assert.equal(db.increment('Person', 'text', 1), '13');
    assert.equal(db.increment('Person', 5), '5');
    assert.equal(db.get('Person'), '5');
    assert.throws(() => db.increment('Person', 'n', 1e300), withCode('ERR_BAD_VALUE'));
    assert.throws(() => db.increment('Person', 'n', Number.NaN), withCode('ERR_BAD_VALUE'));
    assert.throws(() => db.increment('Person', 'n', /** @type {any} */ ({})), withCode('ERR_ARG', /amount/));
  });

  it('locks with the last argument as the timeout, counts, and unlocks what is not locked', () => {
    const other = new server();
    other.open({ type: 'CaretDB', ...store });
    try {
      assert.equal(db.lock('Person', 1, 0), '1');
      assert.equal(db.lock('Person', 1, -1), '1');
      assert.equal(other.lock('Person', 1, 0), '0');
      assert.equal(other.lock('Person', 0), '0', 'an ancestor');
      assert.equal(other.lock('Person', 1, 'deeper', '0'), '0', 'a descendant');
      assert.equal(other.lock('Person', 2, 0.01), '1', 'a sibling');
      assert.equal(db.unlock('Person', 1), '1');
      assert.equal(other.lock('Person', 1, 0), '0');
      assert.equal(db.unlock('Person', 1), '1');
      assert.equal(db.unlock('Person', 1), '1');
      assert.equal(other.lock('Person', 1, 0), '1');
      assert.throws(() => db.lock('Person', 1, /** @type {any} */ ({})), withCode('ERR_ARG', /timeout/));
      assert.throws(() => db.lock('Person', 1, Number.NaN), withCode('ERR_ARG', /timeout/));
      other.close();
      assert.equal(db.lock('Person', 1, 0), '1', 'closing releases');
      db.unlock('Person', 1);
    } finally {
      other.close();
    }
  });

  it('nests transactions, and drops one level with each rollback', () => {
    assert.equal(db.tlevel(), '0');
    assert.equal(db.tcommit(), '');
    assert.match(db.geterrormessage(), /no transaction/);
    assert.equal(db.trollback(), '');
    assert.equal(db.tstart(), '0');
    db.set('Person', 'outer', 'x');
    assert.equal(db.tstart(), '0');
    assert.equal(db.tlevel(), '2');
    db.set('Person', 'inner', 'x');
    db.delete('Person', 'outer');
    assert.equal(db.trollback(), '0');
    assert.equal(db.tlevel(), '1');
    assert.equal(db.get('Person', 'inner'), '');
    assert.equal(db.get('Person', 'outer'), 'x');
    assert.equal(db.tcommit(), '0');
    assert.equal(db.get('Person', 'outer'), 'x');
    db.tstart();
    db.set('Person', 'outer', 'changed');
    assert.equal(db.get('Person', 'outer'), 'changed', 'it reads its own writes');
    db.trollback();
    assert.equal(db.get('Person', 'outer'), 'x');
  });

  it('refuses a second writer on the thread of a transaction at once, and says why', () => {
    const other = new server();
    other.open({ type: 'CaretDB', ...store });
    db.tstart();
    try {
      assert.throws(() => other.tstart(), withCode('ERR_TX', /another connection of this thread/));
      assert.match(other.geterrormessage(), /another connection of this thread/);
      assert.throws(() => other.set('Person', 'x', 1), withCode('ERR_TX', /set \^Person/));
      assert.equal(other.get('Person', 'x'), '', 'reading is free');
    } finally {
      db.trollback();
      other.close();
    }
  });

  it('gives the charset, the timeout and the namespace in force', () => {
    assert.equal(db.charset(), 'utf-8');
    assert.equal(db.charset('ascii'), 'ascii');
    assert.equal(db.charset(), 'ascii');
    assert.equal(db.charset('UTF-8'), 'UTF-8');
    assert.equal(db.charset(), 'utf-8');
    assert.throws(() => db.charset('ebcdic'), withCode('ERR_ARG', /charset/));
    assert.match(db.geterrormessage(), /ebcdic/);
    assert.equal(db.settimeout(), '10');
    assert.equal(db.settimeout(2.5), '2.5');
    assert.equal(db.settimeout(), '2.5');
    assert.equal(db.settimeout(-5), '-1');
    assert.throws(() => db.settimeout(/** @type {any} */ ('10')), withCode('ERR_ARG', /settimeout/));
    assert.throws(() => db.settimeout(Number.NaN), withCode('ERR_ARG', /settimeout/));
    db.settimeout(10);
    assert.equal(db.namespace(), path);
    assert.equal(db.namespace(path), path);
    assert.throws(() => db.namespace('USER'), withCode('ERR_UNSUPPORTED', /namespace/));
  });

  it('says its version and where the data is', () => {
    assert.match(db.version(), /^\d+\.\d+\.\d+/);
    assert.ok(db.dbversion().includes(path));
    const unopened = new server();
    assert.equal(unopened.version(), db.version());
    assert.match(unopened.dbversion(), /CaretDB/);
  });

  it('has no routines, SQL and classes', () => {
    for (const call of [
      () => db.function('routine^x', 1),
      () => db.sql({ sql: 'select 1' }),
      () => db.classmethod('%Library', 'x'),
      () => new mclass(db, 'User.Person'),
      () => new mcursor(db, /** @type {any} */ ({ sql: 'select 1' })),
    ]) {
      assert.throws(call, withCode('ERR_UNSUPPORTED', /CaretDB/));
    }
  });
});

describe('a server that is not open', () => {
  it('answers the empty string, null from cursors, and init 0', () => {
    const db = new server();
    const check = () => {
      assert.equal(db.init, 0);
      const global = new mglobal(db, 'Person', 1);
      for (const target of [db, global]) {
        const arguments_ = target === db ? ['Person', 'a'] : ['a'];
        for (const method of ['get', 'delete', 'defined', 'next', 'previous', 'unlock']) {
          assert.equal(/** @type {any} */ (target)[method](...arguments_), '', method);
        }
        for (const method of ['set', 'increment', 'lock']) {
          assert.equal(/** @type {any} */ (target)[method](...arguments_, 1), '', method);
        }
      }
      assert.equal(global.merge(global), '');
      assert.equal(global.setchildnodes([{ key: 1, data: 'x' }]), '');
      assert.deepEqual(global.getchildnodes(), []);
      assert.deepEqual(global.getchildnodes({ numerickeys: true }), []);
      assert.deepEqual(global.getchildnodes({ lock: true }), []);
      for (const method of /** @type {const} */ (['tstart', 'tlevel', 'tcommit', 'trollback'])) {
        assert.equal(db[method](), '', method);
      }
      for (const options of [{}, { multilevel: true }, { globaldirectory: true }]) {
        const cursor = new mcursor(db, { global: 'Person', key: [''] }, options);
        assert.equal(cursor.next(), null);
        assert.equal(cursor.previous(), null);
      }
      assert.equal(db.namespace(), '');
      // Documents are no part of mg-dbx-napi, so they need not be silent.
      assert.throws(() => global.documentText(), withCode('ERR_CLOSED'));
      assert.throws(() => global.setDocumentText('{}'), withCode('ERR_CLOSED'));
      assert.throws(() => global.typed(), withCode('ERR_CLOSED'));
    };
    check();
    db.open({ type: 'CaretDB', path: newFolder() });
    assert.equal(db.init, 1);
    db.set('Person', 1, 'x');
    assert.equal(db.close(), '1');
    check();
    assert.equal(db.close(), '1');
  });

  it('tells a callback that nothing is open', async () => {
    const db = new server();
    assert.deepEqual(await callBack((callback) => db.get('Person', 1, callback)), {
      returned: null,
      isError: true,
      result: '',
    });
    assert.match(db.geterrormessage(), /closed/);
  });

  it('opens again after close, and objects made before work again', () => {
    const { db, store } = openServer();
    const global = new mglobal(db, 'Person');
    global.set(1, 'kept');
    db.tstart();
    global.set(2, 'forgotten');
    db.close();
    assert.equal(global.get(1), '');
    db.open({ type: 'CaretDB', ...store });
    assert.equal(global.get(1), 'kept');
    assert.equal(global.get(2), '');
    assert.equal(db.tlevel(), '0');
    assert.throws(() => db.open({ ...store }), withCode('ERR_ARG', /open already/));
  });
});
