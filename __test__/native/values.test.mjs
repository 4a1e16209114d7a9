// The native face's calls on one node: typed values come back as they were stored, subscripts as numbers where that is
// safe, and nothing is undefined.

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { beforeEach, describe, it } from 'node:test';
import { AsyncDatabase, AsyncGlobal, Database, Global, mglobal, open, server } from 'caretdb';
import { newFolder, withCode } from '../mg-dbx/store.mjs';
import { ENGINES, missing, newStore } from '../real/engines.mjs';

/** @param {string} path */
function textFace(path) {
  const db = new server();
  db.open({ type: 'CaretDB', path, readOnly: true });
  return db;
}

describe('an error', () => {
  it('names the node, and not what was to be stored there', async () => {
    const db = open(newFolder());
    const node = db.global('Named');
    const long = 'k'.repeat(1100);
    let deep = /** @type {any} */ ('secret');
    for (let level = 0; level < 600; level += 1) deep = { [`level ${level}`]: deep };
    const faults = [];
    for (const call of [
      () => node.set(long, 'secret'),
      () => node.setDocument(1, deep),
      () => node.setDocument(long, { a: 'secret' }),
      () => db.async.global('Named').set(long, 'secret'),
    ]) {
      try {
        await call();
      } catch (error) {
        faults.push(/** @type {Error} */ (error).message);
      }
    }
    assert.equal(faults.length, 4);
    for (const message of faults) {
      assert.match(message, /\^Named\(/);
      assert.doesNotMatch(message, /secret/);
    }
    db.close();
  });
});

describe('an error begins with what the program called', () => {
  const folder = newFolder();
  open(folder).close();
  const db = open(folder, { readOnly: true });
  const node = db.global('Called', 'x');
  const later = db.async.global('Called', 'x');
  const text = new mglobal(textFace(folder), 'Called', 'x');
  const closed = open(folder);
  closed.close();
  const on = '^Called("x",1)';
  /** @type {[string, () => unknown][]} */
  const calls = [
    [`setDocument ${on}: `, () => node.setDocument(1, {})],
    [`mergeDocument ${on}: `, () => node.mergeDocument(1, {})],
    [`patch ${on}: `, () => node.patch(1, {})],
    ['getDocument ^Called("x",null): ', () => node.getDocument(/** @type {any} */ (null))],
    [`set ${on}: `, () => later.set(1, 'a')],
    [`delete ${on}: `, () => later.delete(1)],
    [`increment ${on}: `, () => later.increment(1, 2)],
    [`setDocument ${on}: `, () => later.setDocument(1, {})],
    [`mergeDocument ${on}: `, () => later.mergeDocument(1, {})],
    [`patch ${on}: `, () => later.patch(1, {})],
    ['getDocument ^Called("x",null): ', () => later.getDocument(/** @type {any} */ (null))],
    ['setDocument: ', () => node.setDocument(1, 1n)],
    ['mergeDocument: ', () => later.mergeDocument(1, undefined)],
    ['patch: ', () => later.patch(1, 1n)],
    ['global ^Called("x",null): ', () => node.at(/** @type {any} */ (null))],
    ['global ^Called(1,""): ', () => db.global('^Called', 1, '')],
    ['global: "a b" is no global name', () => db.global('a b')],
    ['mglobal ^Called(null): ', () => new mglobal(textFace(folder), 'Called', /** @type {any} */ (null))],
    ['watch ^Called(null): ', () => db.watch('Called', [/** @type {any} */ (null)])],
    ['createIndex ^Called("x"): ', () => node.createIndex(/** @type {any} */ (1), ['a'])],
    ['dropIndex ^Called("x"): ', () => node.dropIndex(/** @type {any} */ (undefined))],
    ['setDocument ^Called("x",1): ', () => text.setDocumentText(1, '{}')],
    ['reset ^Called(null): ', () => text.reset('Called', /** @type {any} */ (null))],
    ['snapshot: ', () => closed.snapshot(() => {})],
    ['stats: ', () => closed.stats()],
    ['sync: ', () => closed.async.sync()],
  ];
  for (const [start, call] of calls) {
    it(start, async () => {
      const failed = await Promise.resolve()
        .then(call)
        .then(
          () => undefined,
          (error) => error,
        );
      assert.match(failed?.code ?? '', /^ERR_/);
      assert.equal(failed.message.slice(0, start.length), start);
      assert.ok(failed.message.length > start.length);
    });
  }
});

describe('what is no document', () => {
  const db = open(newFolder());
  const node = db.global('Wrong');
  const cycle = /** @type {any} */ ({});
  cycle.itself = cycle;
  let deep = /** @type {any} */ ([]);
  for (let level = 0; level < 200_000; level += 1) deep = [deep];
  const detached = new Uint8Array(8);
  structuredClone(detached, { transfer: [detached.buffer] });
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const wrong = /** @type {[string, any, string, any][]} */ ([
    ['a bigint', { a: 1n }, 'ERR_ARG', TypeError],
    ['a cycle', cycle, 'ERR_ARG', TypeError],
    ['a detached array', { bytes: detached }, 'ERR_ARG', TypeError],
    ['a revoked proxy', { proxy }, 'ERR_ARG', TypeError],
    ['too many levels', deep, 'ERR_KEY_TOO_LONG', RangeError],
  ]);
  for (const [what, document, code, type] of wrong) {
    it(`is refused with a code: ${what}`, () => {
      for (const method of /** @type {const} */ (['setDocument', 'patch'])) {
        assert.throws(
          () => /** @type {any} */ (node)[method](document),
          (error) => error instanceof type && withCode(code)(/** @type {any} */ (error)),
        );
      }
      assert.equal(node.has(), false);
    });
  }
});

for (const engine of ENGINES) {
  describe(`a node on ${engine}`, { skip: missing(engine) }, () => {
    if (missing(engine)) return;
    const db = open(newStore(engine));
    const node = db.global('Node');
    beforeEach(() => node.delete());

    it('keeps values with their types', () => {
      const values = ['', 'text', '007', 'ä€😀\0', 0, 1.5, 1e300, 5e-324, -1e-7, true, false, null];
      for (const value of values) {
        assert.equal(node.set('v', value), undefined);
        assert.equal(node.get('v'), value);
        assert.equal(node.has('v'), true);
      }
      node.set('v', -0);
      assert.ok(Object.is(node.get('v'), -0));
      node.set('v', Number.NaN);
      assert.ok(Number.isNaN(node.get('v')));
      for (const bytes of [
        new Uint8Array([0, 255, 128]),
        Buffer.from('b'),
        new Uint8Array(0),
        new Uint8Array(100_000),
      ]) {
        node.set('v', bytes);
        assert.deepEqual(node.get('v'), new Uint8Array(bytes));
      }
      const read = /** @type {Uint8Array} */ (node.get('v'));
      read[0] = 1;
      assert.equal(/** @type {Uint8Array} */ (node.get('v'))[0], 0, 'bytes read are a copy');
    });

    it('says what is there', () => {
      assert.equal(node.get(), undefined);
      assert.equal(node.get('a', 1), undefined);
      assert.equal(node.has(), false);
      assert.equal(node.hasChildren(), false);
      assert.equal(node.count(), 0);
      node.set('a', 1, 'x', null);
      assert.equal(node.has('a', 1, 'x'), true);
      assert.equal(node.has('a'), false);
      assert.equal(node.hasChildren('a', 1), true);
      assert.equal(node.hasChildren('a', 1, 'x'), false);
      node.set('a', 2, 'y');
      node.set('a', 2, 'deep', 'er', 'z');
      assert.equal(node.count('a'), 2);
      assert.equal(node.count(), 1);
      assert.equal(node.delete('a', 1), undefined);
      assert.equal(node.count('a'), 1);
    });

    it('gives subscripts as numbers where that is safe, else strings, else bytes', () => {
      const subscripts = [
        -1.5,
        0,
        7,
        9007199254740991,
        '9007199254740993',
        'a',
        'ä',
        new Uint8Array([0xff, 0]),
      ];
      for (const subscript of subscripts) node.set(subscript, 'x');
      assert.deepEqual([...node.keys()], subscripts);
      const walked = [];
      for (let key = node.next(''); key !== undefined; key = node.next(key)) walked.push(key);
      assert.deepEqual(walked, subscripts);
      const back = [];
      for (let key = node.previous(''); key !== undefined; key = node.previous(key)) back.push(key);
      assert.deepEqual(back, subscripts.toReversed());
      assert.equal(node.next(), -1.5);
      assert.equal(node.next(7.5), 9007199254740991);
      assert.equal(node.next('nothing', ''), undefined);
      node.set('10', 'ten');
      assert.equal(node.get(10), 'ten');
    });

    it('increments in decimal and gives numbers', () => {
      assert.equal(node.increment('n', 0.1), 0.1);
      assert.equal(node.increment('n', 0.2), 0.3);
      assert.equal(node.get('n'), 0.3);
      node.set('t', '12abc');
      assert.equal(node.increment('t', 1), 13);
      node.set('b', true);
      assert.equal(node.increment('b', 1), 1);
      assert.equal(node.increment(5), 5);
      assert.equal(node.get(), 5);
    });

    it('increments numbers that JavaScript spells with an exponent', () => {
      for (const sum of [1e-7, 2e-7, 3e-7]) assert.equal(node.increment('tiny', 1e-7), sum);
      node.set('large', 1e21);
      assert.equal(node.increment('large', 1e21), 2e21);
      node.set('negative', -2.5e-10);
      assert.equal(node.increment('negative', 1e-10), -1.5e-10);
      for (const none of [Number.NaN, Number.POSITIVE_INFINITY, 1e300, 5e-324]) {
        node.set('none', none);
        assert.throws(() => node.increment('none', 1), withCode('ERR_BAD_VALUE'));
        assert.equal(node.get('none'), none);
      }
    });

    it('merges', () => {
      node.set('from', 1, 'x');
      node.set('to', 2, 'kept');
      assert.equal(node.at('to').merge(node.at('from')), undefined);
      assert.deepEqual(
        [...node.at('to').entries()],
        [
          [1, 'x'],
          [2, 'kept'],
        ],
      );
      assert.throws(() => node.merge(/** @type {any} */ ('from')), withCode('ERR_ARG', /merge/));
    });

    it('knows no callbacks: a function is no subscript and no value', () => {
      const wrong = /** @type {any} */ (node);
      for (const method of ['get', 'has', 'delete', 'next', 'count', 'getDocument', 'unlock', 'lock']) {
        assert.throws(() => wrong[method]('a', () => {}), withCode('ERR_ARG', /function/), method);
      }
      assert.throws(() => wrong.set('a', () => {}), withCode('ERR_ARG', /function/));
    });

    it('goes deeper with at, and copies the subscripts it is given', () => {
      const bytes = new Uint8Array([65]);
      const below = db.global('^Node', 1).at('two', bytes);
      assert.equal(below.name, 'Node');
      bytes[0] = 66;
      below.at(3).set('x');
      assert.equal(node.get(1, 'two', 'A', 3), 'x');
      below.set('deeper', 'y');
      assert.deepEqual([...below.keys()], [3, 'deeper']);
    });

    it('shows the same data as the mg-dbx face', () => {
      const connection = new server();
      connection.open({ path: db.path, engine });
      const text = new mglobal(connection, 'Node');
      for (const [value, shown] of /** @type {[any, string][]} */ ([
        [0.5, '0.5'],
        [true, 'true'],
        [null, 'null'],
        ['x', 'x'],
        [Buffer.from('bytes'), 'bytes'],
      ])) {
        node.set('v', value);
        assert.equal(text.get('v'), shown);
      }
      text.set('v', 0.5);
      assert.equal(node.get('v'), '0.5');
      assert.equal(text.typed('v'), '0.5');
      text.setTyped('v', 0.5);
      assert.equal(node.get('v'), 0.5);
      assert.equal(text.increment('v', 1), '1.5');
      assert.equal(node.get('v'), 1.5, 'a number stays one');
      connection.close();
    });

    it('keeps documents, and bytes in them', () => {
      const document = {
        name: 'Rob',
        list: [1, 'two', null, [], {}, new Uint8Array([1, 2, 255])],
        picture: new Uint8Array(3000).fill(7),
        text: '007',
        '': { '[0]': true },
      };
      node.document = document;
      const { '': empty, ...others } = document;
      assert.deepEqual(node.document, { '': empty, ...others });
      assert.deepEqual(node.getDocument('list'), document.list);
      node.setDocument('list', [9]);
      assert.deepEqual(node.getDocument('list'), [9]);
      node.mergeDocument({ name: 'Bob', more: new Uint8Array([5]) });
      assert.equal(node.get('name'), 'Bob');
      assert.deepEqual(node.get('more'), new Uint8Array([5]));
      assert.deepEqual(node.get('picture'), document.picture);
      node.patch({ picture: null, name: { first: 'Rob' } });
      assert.equal(node.has('picture'), false);
      assert.deepEqual(node.getDocument('name'), { first: 'Rob' });
      assert.equal(node.getDocument('nothing'), undefined);
      for (const wrong of [undefined, () => {}, Symbol('x')]) {
        assert.throws(() => node.setDocument('x', wrong), withCode('ERR_ARG', /document/));
      }
      assert.throws(() => /** @type {any} */ (node).setDocument(), withCode('ERR_ARG'));
      const cycle = /** @type {any} */ ({});
      cycle.self = cycle;
      assert.throws(() => node.setDocument(cycle), withCode('ERR_ARG', /no document/));
      assert.throws(() => node.setDocument({ a: 1n }), withCode('ERR_ARG', /no document/));
    });

    it('locks for the connection, as long as its timeout', () => {
      const other = open(db.path, { engine, timeout: 0.05 });
      assert.equal(node.lock('l'), true);
      assert.equal(node.lock('l'), true);
      assert.equal(other.global('Node').lock('l', 'below'), false);
      assert.equal(other.global('Node').lockFor(0, 'l'), false);
      node.unlock('l');
      assert.equal(other.global('Node').lockFor(0, 'l'), false);
      assert.equal(node.unlock('l'), undefined);
      assert.equal(other.global('Node').lock('l'), true);
      other.close();
      assert.equal(node.lockFor(0, 'l'), true);
      node.unlock('l');
      const wrong = /** @type {any} */ (node);
      assert.throws(() => wrong.lockFor('1', 'l'), withCode('ERR_ARG', /timeout/));
      assert.throws(() => wrong.lockFor(), withCode('ERR_ARG', /timeout/));
      assert.throws(() => wrong.lockFor(Number.NaN), withCode('ERR_ARG', /timeout/));
    });

    it('answers with promises the same as without', async () => {
      const later = db.async.global('Node', 'p');
      assert.equal(await later.set('a', 1, null), undefined);
      assert.equal(await later.get('a', 1), null);
      assert.equal(await later.get('b'), undefined);
      assert.equal(await later.has('a'), false);
      assert.equal(await later.hasChildren('a'), true);
      assert.equal(await later.next(''), 'a');
      assert.equal(await later.previous('a'), undefined);
      assert.equal(await later.count('a'), 1);
      assert.equal(await later.increment('n', 0.5), 0.5);
      await later.setDocument('d', { list: [new Uint8Array([1])] });
      await later.mergeDocument('d', { more: 1 });
      await later.patch('d', { more: 2 });
      assert.deepEqual(await later.getDocument('d'), { list: [new Uint8Array([1])], more: 2 });
      await db.async.global('Node', 'q').merge(later);
      await db.async.global('Node', 'r').merge(node.at('p', 'a'));
      assert.equal(node.get('q', 'a', 1), null);
      assert.equal(node.has('r', 1), true);
      assert.equal(await later.lock('l'), true);
      assert.equal(await later.lockFor(0, 'l'), true);
      assert.equal(await later.unlock('l'), undefined);
      node.unlock('p', 'l');
      assert.equal(await later.delete(), undefined);
      assert.equal(node.hasChildren('p'), false);
      await db.async.sync();
      await db.sync();
      db.syncNow();
      const order = await Promise.all([
        later.set('o', 1),
        later.get('o'),
        later.increment('o', 1),
        later.get('o'),
      ]);
      assert.deepEqual(order, [undefined, 1, 2, 2]);
      const wrong = /** @type {any} */ (later);
      await assert.rejects(wrong.set(), withCode('ERR_ARG'));
      await assert.rejects(wrong.set('a', {}), withCode('ERR_ARG', /setDocument/));
      await assert.rejects(wrong.get(null), withCode('ERR_ARG'));
      await assert.rejects(wrong.merge('x'), withCode('ERR_ARG'));
      await assert.rejects(later.get('k'.repeat(2000)), withCode('ERR_KEY_TOO_LONG'));
      await assert.rejects(later.increment('o', 1e300), withCode('ERR_BAD_VALUE'));
    });
  });
}

describe('a connection', () => {
  it('is made by open, and its parts by it', () => {
    for (const made of [Database, Global, AsyncDatabase, AsyncGlobal]) {
      assert.throws(() => new /** @type {any} */ (made)(), withCode('ERR_ARG', /made by|is db/));
    }
    const wrong = /** @type {any} */ (open);
    for (const parameters of [
      [null],
      [5],
      [''],
      [{ path: 5 }],
      [{ path: newFolder() }, {}],
      [newFolder(), 'options'],
      [newFolder(), { readonly: true }],
      [newFolder(), { timeout: 'x' }],
    ]) {
      assert.throws(() => wrong(...parameters), withCode('ERR_ARG', /open/));
    }
  });

  it('throws once it is closed, from every call', async () => {
    const db = open(newFolder());
    const node = db.global('Node');
    const later = db.async.global('Node');
    node.set('a', 1);
    const begun = node.keys();
    begun.next();
    const names = db.globals();
    assert.equal(db.closed, false);
    db.close();
    db.close();
    assert.equal(db.closed, true);
    for (const call of [
      () => node.get('a'),
      () => node.set('a', 1),
      () => node.has(),
      () => node.hasChildren(),
      () => node.delete(),
      () => node.increment(1),
      () => node.next(''),
      () => node.previous(''),
      () => node.count(),
      () => node.merge(node),
      () => node.document,
      () => node.setDocument({}),
      () => node.mergeDocument({}),
      () => node.patch({}),
      () => node.lock(),
      () => node.lockFor(0),
      () => node.unlock(),
      () => [...node.keys()],
      () => [...node.entries()],
      () => [...node.leaves()],
      () => begun.next(),
      () => names.next(),
      () => db.globals(),
      () => db.transaction(() => 1),
      () => db.snapshot(() => 1),
      () => db.stats(),
      () => db.syncNow(),
    ]) {
      assert.throws(call, withCode('ERR_CLOSED'), String(call));
    }
    await assert.rejects(later.get('a'), withCode('ERR_CLOSED'));
    await assert.rejects(later.set('a', 1), withCode('ERR_CLOSED'));
    await assert.rejects(db.sync(), withCode('ERR_CLOSED'));
  });

  it('closes at the end of its block', () => {
    const db = open(newFolder());
    db[Symbol.dispose]();
    assert.equal(db.closed, true);
  });

  it('opened to read only reads, and no more', async () => {
    const path = newFolder();
    const writer = open(path);
    writer.global('Node').set('a', 1);
    const db = open(path, { readOnly: true });
    const node = db.global('Node');
    assert.equal(node.get('a'), 1);
    writer.global('Node').set('a', 2);
    assert.equal(node.get('a'), 2);
    for (const call of [
      () => node.set('a', 1),
      () => node.delete(),
      () => node.increment('a', 1),
      () => node.merge(node),
      () => node.setDocument({}),
      () => node.patch({}),
      () => db.transaction(() => 1),
    ]) {
      assert.throws(call, withCode('ERR_READ_ONLY'), String(call));
    }
    await assert.rejects(db.async.global('Node').set('a', 1), withCode('ERR_READ_ONLY'));
    assert.equal(
      db.snapshot(() => node.get('a')),
      2,
    );
    assert.equal(node.get('a'), 2);
    db.close();
    writer.close();
  });

  it('gives its figures', () => {
    const db = open(newFolder());
    for (let i = 0; i < 10; i++) db.global('Node').set(i, 1);
    const stats = db.stats();
    assert.ok(stats.entries >= 10);
    assert.ok(stats.diskBytes > 0);
    db.close();
  });
});
