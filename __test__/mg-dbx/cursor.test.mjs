// The cursors of the mg-dbx face, row by row, as published packages drive them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mcursor, mglobal, server } from 'caretdb';
import { newFolder, openServer, withCode } from './store.mjs';

const { db } = openServer();
db.set('Person', 'the root');
db.set('Person', 1, 'one');
db.set('Person', 2, 'a', 'two a');
db.set('Person', 2, 'b', 'two b');
db.set('Person', 2, 'b', 'deeper', 'two b deeper');
db.set('Person', 'x', 'x');
db.set('Personal', 1, 'another global');

/**
 * @param {any} cursor
 * @param {'next' | 'previous'} [direction]
 * @returns {any[]} all that is left in a direction
 */
function all(cursor, direction = 'next') {
  const found = [];
  for (let result = cursor[direction](); result !== null; result = cursor[direction]()) found.push(result);
  return found;
}

/**
 * @param {any[]} key
 * @param {import('caretdb').CursorOptions} [options]
 * @returns {any}
 */
const cursorAt = (key, options) => new mcursor(db, { global: 'Person', key }, options);

const multilevel = { multilevel: true };
const leaves = [['1'], ['2', 'a'], ['2', 'b'], ['2', 'b', 'deeper'], ['x']];

describe('a cursor over children', () => {
  it('answers keys, null at the end, and stays there', () => {
    const cursor = cursorAt(['']);
    assert.deepEqual(all(cursor), ['1', '2', 'x']);
    assert.equal(cursor.next(), null);
    assert.equal(cursor.previous(), '2');
    assert.equal(cursor.next(), 'x');
    assert.deepEqual(all(cursorAt(['']), 'previous'), ['x', '2', '1']);
  });

  it('begins behind its seed, at any depth', () => {
    assert.deepEqual(all(cursorAt([1])), ['2', 'x']);
    assert.deepEqual(all(cursorAt([2, ''])), ['a', 'b']);
    assert.deepEqual(all(cursorAt([2, 'ab'])), ['b']);
    assert.deepEqual(all(cursorAt([2, 'ab']), 'previous'), ['a']);
    assert.deepEqual(all(cursorAt(['nothing', ''])), []);
    assert.deepEqual(all(new mcursor(db, { global: '^Person' })), ['1', '2', 'x']);
  });

  it('gives data, the empty string where a child has none', () => {
    assert.deepEqual(all(cursorAt([''], { getdata: true })), [
      { key: '1', data: 'one' },
      { key: '2', data: '' },
      { key: 'x', data: 'x' },
    ]);
  });
});

describe('a cursor over values at every level', () => {
  it('answers only nodes with values, without the seed and the root', () => {
    const keys = all(cursorAt([''], multilevel)).map(({ key }) => key);
    assert.deepEqual(keys, leaves);
    const back = all(cursorAt([''], multilevel), 'previous').map(({ key }) => key);
    assert.deepEqual(back, leaves.toReversed());
    assert.deepEqual(Object.keys(cursorAt([''], multilevel).next()), ['key']);
    assert.deepEqual(cursorAt([''], { multilevel: true, getdata: true }).next(), { key: ['1'], data: 'one' });
  });

  it('runs on past the subtree of its seed', () => {
    for (const seed of [[2], [2, '']]) {
      const keys = all(cursorAt(seed, multilevel)).map(({ key }) => key);
      assert.deepEqual(keys, leaves.slice(1), JSON.stringify(seed));
    }
    assert.deepEqual(cursorAt([2, 'b'], multilevel).next().key, ['2', 'b', 'deeper']);
  });

  it('goes back from before its seed, or from the end of the subtree', () => {
    assert.deepEqual(cursorAt(['x'], multilevel).previous().key, ['2', 'b', 'deeper']);
    assert.deepEqual(cursorAt([2], multilevel).previous().key, ['1']);
    assert.deepEqual(
      all(cursorAt([2, 'b', ''], multilevel), 'previous').map(({ key }) => key),
      [['2', 'b', 'deeper'], ['2', 'b'], ['2', 'a'], ['1']],
    );
    assert.deepEqual(cursorAt([''], multilevel).previous().key, ['x']);
  });

  it('without a seed begins at the start, and has nothing before it', () => {
    for (const query of [{ global: 'Person' }, { global: 'Person', key: [] }]) {
      assert.equal(new mcursor(db, query, { multilevel: true }).previous(), null);
      const cursor = new mcursor(db, query, { multilevel: true });
      assert.deepEqual(cursor.next()?.key, ['1']);
      assert.equal(cursor.previous(), null);
    }
  });

  it('mixes both directions and stays on the last key at either end', () => {
    const cursor = cursorAt([''], multilevel);
    assert.deepEqual(all(cursor).length, 5);
    assert.deepEqual(cursor.previous().key, ['2', 'b', 'deeper']);
    assert.deepEqual(cursor.previous().key, ['2', 'b']);
    assert.deepEqual(cursor.next().key, ['2', 'b', 'deeper']);
    assert.deepEqual(all(cursor, 'previous').length, 3);
    assert.deepEqual(cursor.next().key, ['2', 'a']);
  });
});

describe('a directory', () => {
  /** @param {string} [name] @param {any} [options] @returns {any} */
  const directory = (name, options) =>
    new mcursor(db, { global: name }, { globaldirectory: true, ...options });

  it('answers names with their caret, in both directions, without the seed', () => {
    assert.deepEqual(all(directory('')), ['^Person', '^Personal']);
    assert.deepEqual(all(directory()), ['^Person', '^Personal']);
    assert.deepEqual(all(directory(''), 'previous'), ['^Personal', '^Person']);
    assert.deepEqual(all(directory('Person')), ['^Personal']);
    assert.deepEqual(all(directory('^Personal'), 'previous'), ['^Person']);
    assert.deepEqual(all(directory('Pers')), ['^Person', '^Personal']);
    assert.deepEqual(all(directory('Q')), []);
  });

  it('hides the globals of the product unless it is asked for them', () => {
    const own = new mglobal(db, '%caretdb');
    own.set('x', 1);
    assert.deepEqual(all(directory('')), ['^Person', '^Personal']);
    assert.deepEqual(all(directory(''), 'previous'), ['^Personal', '^Person']);
    assert.deepEqual(all(directory('', { hidden: true })), ['^%caretdb', '^Person', '^Personal']);
    own.delete();
  });
});

describe('every cursor', () => {
  it('makes fresh results and leaves the seed of its caller alone', () => {
    const seed = [''];
    const cursor = cursorAt(seed, { multilevel: true, getdata: true });
    const first = cursor.next();
    first.key.push('spoilt');
    seed.push('spoilt');
    assert.deepEqual(cursor.next().key, ['2', 'a']);
    assert.deepEqual(first.key, ['1', 'spoilt']);
  });

  it('is a live view', () => {
    const live = new mglobal(db, 'Live');
    live.set(1, 'x');
    const cursor = new mcursor(db, { global: 'Live', key: [''] });
    assert.equal(cursor.next(), '1');
    live.set(2, 'x');
    assert.equal(cursor.next(), '2');
    live.delete(1);
    assert.equal(cursor.previous(), null);
    live.delete();
    assert.equal(cursor.next(), null);
  });

  it('takes as many subscripts as fit into a key, and goes on from a deleted place', () => {
    const deep = Array.from({ length: 300 }, (_, index) => index % 10);
    db.set('Deep', ...deep, 'bottom');
    const cursor = new mcursor(db, { global: 'Deep', key: [''] }, { multilevel: true });
    assert.deepEqual(cursor.next()?.key, deep.map(String));
    assert.equal(cursor.next(), null);
    assert.deepEqual(
      new mcursor(db, { global: 'Deep', key: deep.slice(0, 100) }, { multilevel: true }).next()?.key,
      deep.map(String),
    );
    db.delete('Deep');
    assert.equal(cursor.previous(), null);
  });

  it('spells results as parts of a URL where it is asked to', () => {
    db.set('Url', 'a b', 'c/ä', 'x&y=z');
    assert.equal(
      new mcursor(
        db,
        { global: 'Url', key: [''] },
        { multilevel: true, getdata: true, format: 'url' },
      ).next(),
      'key1=a%20b&key2=c%2F%C3%A4&data=x%26y%3Dz',
    );
    assert.equal(new mcursor(db, { global: 'Url', key: [''] }, { format: 'url' }).next(), 'key1=a%20b');
    assert.equal(
      new mcursor(db, { global: 'Url', key: [''] }, { format: 'url', getdata: true }).next(),
      'key1=a%20b&data=',
    );
    db.delete('Url');
  });

  it('becomes another cursor with reset', () => {
    const cursor = /** @type {any} */ (cursorAt(['']));
    assert.equal(cursor.next(), '1');
    cursor.reset({ global: 'Person', key: [2, ''] }, { getdata: true });
    assert.deepEqual(cursor.next(), { key: 'a', data: 'two a' });
    assert.throws(() => cursor.reset({ global: '9' }), withCode('ERR_BAD_NAME'));
    assert.deepEqual(cursor.next(), { key: 'b', data: 'two b' }, 'a failed reset changes nothing');
  });

  it('says what is wrong with its arguments', () => {
    const make = /** @type {any} */ (mcursor);
    assert.throws(() => new make(), withCode('ERR_ARG', /server/));
    assert.throws(() => new make(db), withCode('ERR_ARG', /query/));
    assert.throws(() => new make(db, {}), withCode('ERR_ARG', /global/));
    assert.throws(() => new make(db, { global: 5 }), withCode('ERR_ARG', /global/));
    assert.throws(() => new make(db, { global: 'X', key: 'a' }), withCode('ERR_ARG', /array/));
    assert.throws(() => new make(db, { global: 'X', key: [null] }), withCode('ERR_ARG', /subscript/));
    assert.throws(() => new make(db, { global: 'X', key: ['', 'a'] }), withCode('ERR_BAD_KEY'));
    assert.throws(() => new make(db, { global: 'X', key: ['a'.repeat(2000)] }), withCode('ERR_KEY_TOO_LONG'));
    assert.throws(
      () =>
        new make(db, {
          get global() {
            throw new RangeError('mine');
          },
        }),
      /mine/,
    );
    assert.throws(() => cursorAt(['']).execute(), withCode('ERR_UNSUPPORTED'));
  });

  it('walks a large global in one go, whatever is written meanwhile', () => {
    const many = new server();
    many.open({ path: newFolder() });
    many.tstart();
    for (let i = 0; i < 20_000; i++) many.set('Many', i, 'x', i);
    many.tcommit();
    const cursor = new mcursor(many, { global: 'Many', key: [''] }, { multilevel: true, getdata: true });
    let count = 0;
    for (let leaf = cursor.next(); leaf !== null; leaf = cursor.next()) {
      assert.equal(leaf.data, leaf.key[0]);
      if (count % 1000 === 0) many.delete('Many', count);
      count += 1;
    }
    assert.equal(count, 20_000);
    many.close();
  });
});
