// The calls of `mglobal`: those of `server` with fixed subscripts in front, merge, and lists of child nodes.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { mglobal, server } from 'caretdb';
import { openServer, withCode } from './store.mjs';

const { db, store } = openServer();
beforeEach(() => {
  db.delete('Person');
  db.delete('Other');
});

describe('mglobal', () => {
  it('puts its fixed subscripts in front of those of a call', () => {
    const person = new mglobal(db, '^Person', 1, 'address');
    assert.equal(person.set('city', 'Redhill'), '0');
    assert.equal(db.get('Person', 1, 'address', 'city'), 'Redhill');
    assert.equal(person.get('city'), 'Redhill');
    assert.equal(person.defined(), '10');
    assert.equal(person.set('here'), '0');
    assert.equal(person.get(), 'here');
    assert.equal(person.defined(), '11');
    assert.equal(person.set(), '0');
    assert.equal(person.get(), '');
    assert.equal(person.defined('city'), '1');
    assert.equal(person.next(''), 'city');
    assert.equal(person.previous(''), 'city');
    assert.equal(person.next(), '');
    assert.equal(person.increment('visits', 2), '2');
    assert.equal(person.increment(3), '3');
    assert.equal(person.lock(1), '1');
    assert.equal(person.unlock(), '1');
    assert.equal(person.delete(), '0');
    assert.equal(db.defined('Person'), '0');
  });

  it('stands for another node after reset', () => {
    const node = new mglobal(db, 'Person', 1);
    node.set('a');
    node.reset('^Other', 2);
    node.set('b');
    assert.equal(db.get('Person', 1), 'a');
    assert.equal(db.get('Other', 2), 'b');
    assert.throws(() => node.reset('1bad'), withCode('ERR_BAD_NAME'));
    assert.throws(() => node.reset(/** @type {any} */ (undefined)), withCode('ERR_ARG'));
    assert.equal(node.get(), 'b', 'a failed reset changes nothing');
  });

  it('is made of a server, a name and subscripts', () => {
    const wrong = /** @type {any} */ (mglobal);
    assert.throws(() => new wrong(), withCode('ERR_ARG', /server/));
    assert.throws(() => new wrong({}, 'Person'), withCode('ERR_ARG', /server/));
    assert.throws(() => new wrong(db), withCode('ERR_ARG', /name/));
    assert.throws(() => new wrong(db, 5), withCode('ERR_ARG', /name/));
    assert.throws(() => new wrong(db, 'Person', null), withCode('ERR_ARG', /subscript/));
    assert.throws(() => new mglobal(db, 'Person', ''), withCode('ERR_BAD_KEY'));
    assert.throws(() => new mglobal(db, ''), withCode('ERR_BAD_NAME'));
    assert.throws(() => wrong(db, 'Person'), TypeError);
  });
});

describe('merge', () => {
  it('copies a subtree over another and keeps what was there beside', () => {
    db.set('Person', 1, 'value');
    db.set('Person', 1, 'a', 'A');
    db.set('Other', 'a', 'old');
    db.set('Other', 'b', 'B');
    const other = new mglobal(db, 'Other');
    const person = new mglobal(db, 'Person');
    assert.equal(other.merge(person, 1), '0');
    assert.equal(other.get(), 'value');
    assert.equal(other.get('a'), 'A');
    assert.equal(other.get('b'), 'B');
    assert.equal(other.merge('deep', 2, new mglobal(db, 'Person', 1)), '0');
    assert.equal(other.get('deep', 2, 'a'), 'A');
    assert.equal(other.merge(new mglobal(db, 'Nobody')), '0');
  });

  it('copies into its own subtree and out of it', () => {
    const person = new mglobal(db, 'Person');
    person.set('a', 1, 'x');
    assert.equal(person.merge('a', 'copy', person, 'a'), '0');
    assert.equal(person.get('a', 'copy', 1), 'x');
    assert.equal(person.get('a', 'copy', 'copy', 1), '');
    assert.equal(person.merge('a', person, 'a', 'copy'), '0');
    assert.equal(person.get('a', 1), 'x');
  });

  it('refuses what is no source', () => {
    const person = new mglobal(db, 'Person');
    const wrong = /** @type {any} */ (person);
    for (const call of [
      () => wrong.merge(),
      () => wrong.merge('a'),
      () => wrong.merge({}),
      () => wrong.merge(db),
      () => wrong.merge(null, person),
    ]) {
      assert.throws(call, withCode('ERR_ARG', /merge \^Person/));
    }
    const elsewhere = openServer();
    assert.throws(() => person.merge(new mglobal(elsewhere.db, 'X')), withCode('ERR_ARG', /connection/));
  });

  it('copies nothing where a key would be too long', () => {
    const person = new mglobal(db, 'Person');
    person.set('a', 'x');
    person.set('b'.repeat(900), 'x');
    assert.throws(() => person.merge('c'.repeat(200), person), withCode('ERR_KEY_TOO_LONG', /merge/));
    assert.equal(person.defined('c'.repeat(200)), '0');
    assert.equal(db.tlevel(), '0');
  });
});

describe('setchildnodes', () => {
  it('stores child nodes and answers the empty string', () => {
    const person = new mglobal(db, 'Person', 1);
    const nodes = [{ key: 'a', data: 1 }, undefined, { key: ['b', 2], data: 'B' }, { key: 'c' }];
    delete nodes[1];
    assert.equal(person.setchildnodes(/** @type {any} */ (nodes)), '');
    assert.equal(person.get('a'), '1');
    assert.equal(person.get('b', 2), 'B');
    assert.equal(person.defined('c'), '1');
    assert.equal(person.setchildnodes('partial', 3, [{ key: 'x', data: 'X' }], { lock: true }), '');
    assert.equal(person.get('partial', 3, 'x'), 'X');
    assert.equal(person.setchildnodes('list', ['zero', 'one', 2], { numerickeys: true }), '');
    assert.equal(person.get('list', 0), 'zero');
    assert.equal(person.get('list', 2), '2');
    assert.equal(person.setchildnodes([]), '');
  });

  it('refuses what is no list of nodes, before it writes anything', () => {
    const person = /** @type {any} */ (new mglobal(db, 'Person', 1));
    for (const nodes of [
      undefined,
      'a',
      {},
      [{ key: 'a', data: 1 }, 5],
      [{ data: 1 }],
      [{ key: [] }],
      [null],
    ]) {
      assert.throws(() => person.setchildnodes(nodes), withCode('ERR_ARG', /setchildnodes/));
    }
    assert.throws(() => person.setchildnodes([{ key: 'a', data: null }]), withCode('ERR_ARG'));
    assert.equal(person.defined(), '0');
  });

  it('leaves nothing behind when a node is wrong', () => {
    const person = /** @type {any} */ (new mglobal(db, 'Person', 1));
    const wrong = /** @type {[any, string][]} */ ([
      [{ key: 'b', data: {} }, 'ERR_ARG'],
      [{ key: 'b', data: () => 1 }, 'ERR_ARG'],
      [{ key: 'b', data: '\ud800' }, 'ERR_ARG'],
      [{ key: Number.NaN, data: 1 }, 'ERR_BAD_KEY'],
      [{ key: 'b'.repeat(2000), data: 1 }, 'ERR_KEY_TOO_LONG'],
    ]);
    for (const [node, code] of wrong) {
      assert.throws(() => person.setchildnodes([{ key: 'a', data: 1 }, node]), withCode(code));
      assert.equal(person.defined(), '0');
      assert.equal(db.tlevel(), '0');
    }
    assert.throws(
      () => person.setchildnodes(['a', null], { numerickeys: true, lock: true }),
      withCode('ERR_ARG'),
    );
    assert.equal(person.defined(), '0');
    db.tstart();
    person.set('kept', 1);
    assert.throws(() => person.setchildnodes([{ key: 'a' }, { key: 'b', data: null }]), withCode('ERR_ARG'));
    assert.equal(db.tlevel(), '1');
    db.tcommit();
    assert.equal(person.defined('kept'), '1');
    assert.equal(person.defined('a'), '0');
  });

  it('waits for the lock it is asked to take', () => {
    const holder = new server();
    holder.open({ ...store });
    holder.lock('Person', 1, 0);
    const person = new mglobal(db, 'Person', 1);
    assert.throws(
      () => person.setchildnodes([{ key: 'a' }], { lock: true, locktimeout: 0 }),
      withCode('ERR_BUSY', /setchildnodes/),
    );
    assert.throws(() => person.getchildnodes({ lock: true, locktimeout: 0 }), withCode('ERR_BUSY'));
    holder.close();
    assert.equal(person.setchildnodes([{ key: 'a' }], { lock: true, locktimeout: 0 }), '');
    const next = new server();
    next.open({ ...store });
    assert.equal(next.lock('Person', 1, 0), '1', 'the lock was given back');
    next.close();
  });
});

describe('getchildnodes', () => {
  const person = new mglobal(db, 'Person');
  beforeEach(() => {
    for (const key of [1, 2.5, 10, 'a', 'b']) person.set(key, `=${key}`);
    person.set('c', 'deep', 'x');
  });

  it('answers keys, or objects with the data where there is any', () => {
    assert.deepEqual(person.getchildnodes(), ['1', '2.5', '10', 'a', 'b', 'c']);
    assert.deepEqual(person.getchildnodes({ getdata: true, start: 'b' }), [
      { key: 'b', data: '=b' },
      { key: 'c' },
    ]);
    assert.deepEqual(new mglobal(db, 'Person').getchildnodes('c'), ['deep']);
    assert.deepEqual(person.getchildnodes('nothing'), []);
    assert.deepEqual(new mglobal(db, 'Person', 'c').getchildnodes({ getdata: true }), [
      { key: 'deep', data: 'x' },
    ]);
  });

  it('begins and ends where it is told, both included, whether they exist or not', () => {
    assert.deepEqual(person.getchildnodes({ start: 2.5 }), ['2.5', '10', 'a', 'b', 'c']);
    assert.deepEqual(person.getchildnodes({ start: 0.5, end: 2.5 }), ['1', '2.5']);
    assert.deepEqual(person.getchildnodes({ start: '', end: 'a' }), ['1', '2.5', '10', 'a']);
    assert.deepEqual(person.getchildnodes({ start: 'aa', end: 'bb' }), ['b']);
    assert.deepEqual(person.getchildnodes({ start: 'b', end: 'a' }), []);
    assert.deepEqual(person.getchildnodes({ start: 'm', end: 'a' }), []);
    assert.deepEqual(person.getchildnodes({ end: 0 }), []);
    assert.deepEqual(person.getchildnodes({ start: 'z' }), []);
    assert.deepEqual(person.getchildnodes({ max: 2 }), ['1', '2.5']);
    assert.throws(() => person.getchildnodes({ max: /** @type {any} */ ('2') }), withCode('ERR_ARG', /max/));
    assert.throws(() => person.getchildnodes({ start: /** @type {any} */ ({}) }), withCode('ERR_ARG'));
  });

  it('answers a hundred at most unless told otherwise', () => {
    const many = new mglobal(db, 'Other');
    many.setchildnodes(
      Array.from({ length: 250 }, (_, index) => index),
      { numerickeys: true },
    );
    assert.equal(many.getchildnodes().length, 100);
    assert.equal(many.getchildnodes({ max: 1000 }).length, 250);
    assert.equal(many.getchildnodes({ numerickeys: true }).length, 100);
    assert.equal(many.getchildnodes({ numerickeys: true, max: 1000 }).length, 250);
  });

  it('answers the values of 0, 1, 2… up to the first gap', () => {
    const list = new mglobal(db, 'Other');
    assert.deepEqual(list.getchildnodes({ numerickeys: true }), []);
    list.set(0, 'zero');
    list.set(1, 'sub', 'x');
    list.set(2, 'two');
    list.set(4, 'four');
    assert.deepEqual(list.getchildnodes({ numerickeys: true }), ['zero', undefined, 'two']);
    assert.deepEqual(list.getchildnodes({ numerickeys: true, end: 1 }), ['zero', undefined]);
    list.delete(0);
    assert.deepEqual(list.getchildnodes({ numerickeys: true }), []);
  });
});
