// The walk through the basic API that users of glsdb learn from, in its order: a membership database of persons.

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { collect, openStore, rob } from './store.mjs';

const { glsdb } = openStore();
const person = new glsdb.node('Person');

beforeEach(() => {
  person.delete();
  new glsdb.node('PersonIdentifier').delete();
  person.$(1).document = rob();
});

describe('a person record', () => {
  test('gets its id from a counter and comes back as it was', () => {
    const id = new glsdb.node('PersonIdentifier').increment();
    assert.equal(id, '1');
    person.$(id).document = rob();
    assert.deepEqual(new glsdb.node('Person.1').document, rob());
    assert.deepEqual(new glsdb.node('Person').$(1).document, rob());
    assert.deepEqual(new glsdb.node(['Person', 1]).document, rob());
    assert.equal(new glsdb.node('PersonIdentifier').increment(5), '6');
  });

  test('can be read where it is', () => {
    const record = new glsdb.node('Person.1');
    assert.equal(`${record.$('firstName').value} ${record.$('lastName').value}`, 'Rob Tweed');
    assert.equal(new glsdb.node('Person.1.address.postCode').value, 'RH1 2AB');
    assert.equal(record.$(['address', 'city']).value, 'Redhill');
  });

  test('is stored as one node for each scalar', () => {
    const { db, mglobal } = glsdb.dbx;
    const stored = new mglobal(db, 'Person');
    assert.equal(stored.get(1, 'address', 'city'), 'Redhill');
    assert.equal(stored.get(1, 'address', 'houseNumber'), '5');
    assert.equal(stored.get(1, 'favouriteColours', '[000000]'), 'blue');
    assert.equal(stored.get(1, 'favouriteColours', '[000001]'), 'green');
    assert.equal(stored.get(1, 'telephone', 'mobile'), '07654 987654');
    assert.equal(stored.defined(1), '10');
  });
});

describe('navigation', () => {
  test('from a node to its first child', () => {
    const firstChild = new glsdb.node('Person.1').firstChild;
    assert.equal(firstChild?.path, 'Person.1.address');
    assert.equal(firstChild?.key, 'address');
    assert.equal(firstChild?.name, 'Person');
    assert.equal(firstChild?.exists, true);
    assert.equal(firstChild?.hasValue, false);
    assert.equal(firstChild?.hasChildren, true);
    assert.equal(firstChild?.isLeafNode, false);
    assert.equal(firstChild?.isArray, false);
    assert.equal(firstChild?.defined, '10');
  });

  test('to its sibling, which is an array', () => {
    const sibling = new glsdb.node('Person.1.address').nextSibling;
    assert.equal(sibling?.path, 'Person.1.favouriteColours');
    assert.equal(sibling?.isArray, true);
    assert.deepEqual(
      sibling?.children.map((node) => node.value),
      ['blue', 'green'],
    );
    assert.deepEqual(sibling?.document, ['blue', 'green']);
    assert.equal(sibling?.children[0].parent?.key, 'favouriteColours');
    assert.equal(sibling?.previousSibling?.key, 'address');
  });

  test('ends at the edges', () => {
    assert.equal(new glsdb.node('Person.1').lastChild?.key, 'title');
    assert.equal(new glsdb.node('Person.1.title').nextSibling, undefined);
    assert.equal(new glsdb.node('Person.1.address').previousSibling, undefined);
    assert.equal(new glsdb.node('Person.1.title').firstChild, undefined);
    assert.equal(person.parent, undefined);
    assert.equal(person.nextSibling, undefined);
    assert.equal(person.previousSibling, undefined);
    assert.equal(person.key, '');
    assert.equal(new glsdb.node('Person.1.title').parent?.parent?.path, 'Person');
  });
});

describe('changing and deleting', () => {
  test('a value', () => {
    new glsdb.node('Person.1.firstName').value = 'Simon';
    assert.equal(person.$(1).$('firstName').value, 'Simon');
    assert.deepEqual(person.$(1).document, { ...rob(), firstName: 'Simon' });
  });

  test('a leaf, a subtree, a record, the whole global', () => {
    new glsdb.node('Person.1.address.city').delete();
    assert.equal(person.$(1).$('address').$('city').exists, false);
    assert.equal(person.$(1).$('address').$('county').exists, true);
    new glsdb.node('Person.1.telephone').delete();
    assert.equal(person.$(1).$('telephone').$('mobile').exists, false);
    assert.equal(person.$(1).$('title').value, 'Dr');
    person.$(2).document = rob();
    person.$(1).delete();
    assert.deepEqual(
      person.children.map((node) => node.key),
      ['2'],
    );
    assert.ok(glsdb.directory.includes('Person'));
    person.delete();
    assert.equal(person.exists, false);
    assert.ok(!glsdb.directory.includes('Person'));
  });
});

describe('forEachChildNode', () => {
  test('visits the records, all or from one id to another', () => {
    for (let id = 2; id <= 300; id += 1) person.$(id).document = { lastName: `Name ${id}` };
    assert.equal(person.length, 300);
    const names = collect(
      (callback) => person.forEachChildNode({ from: 100, to: 200 }, callback),
      (node) => node.$('lastName').value,
    );
    assert.equal(names.length, 101);
    assert.equal(names[0], 'Name 100');
    assert.equal(names.at(-1), 'Name 200');
    const from = collect(
      (callback) => person.forEachChildNode({ from: 298 }, callback),
      (node) => node.key,
    );
    assert.deepEqual(from, ['298', '299', '300']);
  });

  test('limits itself to a prefix, and goes backwards', () => {
    const address = new glsdb.node('Person.1.address');
    const keys = (/** @type {any} */ options) =>
      collect(
        (callback) => address.forEachChildNode(options, callback),
        (node) => node.key,
      );
    assert.deepEqual(keys({ startsWith: 'c' }), ['city', 'country', 'county']);
    assert.deepEqual(keys({ direction: 'reverse' }), [
      'streetName',
      'postCode',
      'houseNumber',
      'county',
      'country',
      'city',
    ]);
    assert.deepEqual(keys({ direction: 'backwards', startsWith: 'co' }), ['county', 'country']);
  });

  test('stops when the callback answers false', () => {
    let visits = 0;
    new glsdb.node('Person.1').forEachChildNode(() => {
      visits += 1;
      return visits < 2;
    });
    assert.equal(visits, 2);
  });
});

test('forEachLeafNode visits the values at any depth', () => {
  const paths = collect(
    (callback) => new glsdb.node('Person.1').forEachLeafNode(callback),
    (leaf) => leaf.path,
  );
  assert.deepEqual(paths, [
    'Person.1.address.city',
    'Person.1.address.country',
    'Person.1.address.county',
    'Person.1.address.houseNumber',
    'Person.1.address.postCode',
    'Person.1.address.streetName',
    'Person.1.favouriteColours[0]',
    'Person.1.favouriteColours[1]',
    'Person.1.firstName',
    'Person.1.lastName',
    'Person.1.telephone.landline',
    'Person.1.telephone.mobile',
    'Person.1.title',
  ]);
  assert.deepEqual(
    new glsdb.node('Person.1').leafNodes.map((leaf) => leaf.path),
    paths,
  );
});

describe('arrays', () => {
  test('and their members say what they are', () => {
    const colours = person.$(1).$('favouriteColours');
    assert.equal(person.$(1).$('firstName').isArray, false);
    assert.equal(colours.isArray, true);
    const first = new glsdb.node('Person.1.favouriteColours[0]');
    assert.equal(first.isArrayMember, true);
    assert.equal(first.value, 'blue');
    assert.equal(colours._(0).value, 'blue');
    assert.equal(colours.$('[1]').value, 'green');
    assert.deepEqual(colours._(0).keys, ['Person', '1', 'favouriteColours', '[000000]']);
    assert.equal(colours._(0).key, '[000000]');
    assert.equal(colours._(0).path, 'Person.1.favouriteColours[0]');
  });

  test('have the methods of arrays', () => {
    const colours = new glsdb.node('Person.1.favouriteColours');
    assert.equal(colours.length, 2);
    assert.equal(colours.at(1), 'green');
    colours._(2).value = 'red';
    assert.deepEqual(colours.document, ['blue', 'green', 'red']);
    assert.equal(colours.includes('red'), true);
    assert.equal(colours.indexOf('green'), 1);
    assert.equal(colours.shift(), 'blue');
    assert.equal(colours.pop(), 'red');
    colours.push('orange');
    colours.unshift('yellow');
    assert.deepEqual(colours.document, ['yellow', 'green', 'orange']);
    assert.deepEqual(colours.splice(1, 2, 'orange'), ['green', 'orange']);
    assert.deepEqual(colours.document, ['yellow', 'orange']);
    assert.deepEqual(colours.concat(['black', 'white']), ['yellow', 'orange', 'black', 'white']);
    assert.deepEqual(colours.document, ['yellow', 'orange', 'black', 'white']);
    assert.deepEqual(colours.slice(1, 3), ['orange', 'black']);
  });

  test('are replaced by a shorter one without a rest', () => {
    const colours = new glsdb.node('Person.1.favouriteColours');
    colours.document = ['red'];
    assert.deepEqual(colours.document, ['red']);
  });
});

test('a record can be locked', () => {
  const record = person.$(1);
  assert.equal(record.lock(5), true);
  assert.equal(record.lock(), true);
  assert.equal(record.unlock(), true);
  assert.equal(record.unlock(), true);
});

test('the instance names globals and its version', () => {
  new glsdb.node('Address').value = 'x';
  assert.deepEqual(glsdb.directory, ['Address', 'Person']);
  const names = collect(
    (callback) => glsdb.forEachGlobal(callback),
    (name) => name,
  );
  assert.deepEqual(names, ['Address', 'Person']);
  const later = collect(
    (callback) => glsdb.forEachGlobal({ from: 'Address' }, callback),
    (name) => name,
  );
  assert.deepEqual(later, ['Person']);
  let visits = 0;
  glsdb.forEachGlobal(() => {
    visits += 1;
    return false;
  });
  assert.equal(visits, 1);
  assert.ok(glsdb.version.length > 0);
  new glsdb.node('Address').delete();
});
