// The walk through the proxy API: the same persons, used as if they were JavaScript objects.

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { collect, openStore, rob } from './store.mjs';

const { glsdb } = openStore();
const person = new glsdb.node('Person').proxy;

beforeEach(() => {
  person._delete();
  new glsdb.node('PersonIdentifier').delete();
  person[1] = rob();
});

describe('a person record', () => {
  test('gets an id from ++ and is stored by assignment', () => {
    const personId = new glsdb.node('PersonIdentifier').proxy;
    personId.id++;
    assert.equal(personId.id._value, 1);
    assert.equal(personId.id.valueOf(), 1);
    personId.id++;
    assert.equal(personId.id.valueOf(), 2);
    person[personId.id.valueOf()] = rob();
    assert.deepEqual(new glsdb.node('Person.2').proxy.valueOf(), rob());
    assert.deepEqual(person[2].valueOf(), rob());
  });

  test('is read piece by piece', () => {
    const record = new glsdb.node('Person.1').proxy;
    assert.equal(`${record.firstName.valueOf()} ${record.lastName.valueOf()}`, 'Rob Tweed');
    assert.equal(`${record.firstName} ${record.address.city}`, 'Rob Redhill');
    assert.equal(record.address.houseNumber + 1, 6);
    assert.equal(record._node.path, 'Person.1');
    assert.equal(record._exists, true);
    assert.equal(record._parent.proxy._node.path, 'Person');
    assert.deepEqual(record._document, rob());
  });
});

describe('iteration', () => {
  test('for…in gives the names', () => {
    const shown = [];
    for (const name in person[1]) shown.push(`${name}: ${person[1][name].valueOf()}`);
    assert.deepEqual(shown, [
      'address: [object Object]',
      'favouriteColours: blue,green',
      'firstName: Rob',
      'lastName: Tweed',
      'telephone: [object Object]',
      'title: Dr',
    ]);
  });

  test('for…of gives the names of an object and the values of an array', () => {
    assert.deepEqual([...person[1]], Object.keys(rob()).sort());
    assert.deepEqual([...person[1].favouriteColours], ['blue', 'green']);
  });

  test('for…in gives the indexes of an array', () => {
    const names = [];
    for (const name in person[1].favouriteColours) names.push(name);
    assert.deepEqual(names, ['0', '1']);
  });

  test('Object.entries, keys and values', () => {
    assert.deepEqual(Object.entries(person[1].favouriteColours), [
      ['0', 'blue'],
      ['1', 'green'],
    ]);
    assert.deepEqual(Object.keys(person[1]), Object.keys(rob()).sort());
    assert.equal(/** @type {any[]} */ (Object.values(person[1]))[2].valueOf(), 'Rob');
    assert.deepEqual(Object.values(person[1].favouriteColours), ['blue', 'green']);
  });

  test('_forEachChildNode walks without reading everything', () => {
    const names = collect(
      (callback) => person._forEachChildNode(callback),
      (child) => child.proxy.lastName.valueOf(),
    );
    assert.deepEqual(names, ['Tweed']);
  });
});

test('Object.hasOwn and in say whether a property exists', () => {
  assert.equal(Object.hasOwn(person[1], 'firstName'), true);
  assert.equal(Object.hasOwn(person[1], 'foo'), false);
  assert.equal('firstName' in person[1], true);
  assert.equal('foo' in person[1], false);
});

test('delete removes a leaf, a subtree, a record', () => {
  const record = new glsdb.node('Person.1').proxy;
  delete record.address.city;
  assert.equal(Object.hasOwn(record.address, 'city'), false);
  assert.equal(record.address.county.valueOf(), 'Surrey');
  delete record.telephone;
  assert.equal(new glsdb.node('Person.1.telephone.mobile').exists, false);
  delete person[1];
  assert.equal(new glsdb.node('Person.1').exists, false);
});
