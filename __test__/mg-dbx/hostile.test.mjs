// Bad input for every method of every class: a clear error with its code, or the answer that the contract gives; never a
// crash, and nothing written.

import assert from 'node:assert/strict';
import { Buffer, constants } from 'node:buffer';
import { afterEach, describe, it } from 'node:test';
import { mcursor, mglobal, open } from 'caretdb';
import { openServer, withCode } from './store.mjs';

const CODES = new Set([
  'ERR_ARG',
  'ERR_BAD_NAME',
  'ERR_BAD_KEY',
  'ERR_KEY_TOO_LONG',
  'ERR_BAD_VALUE',
  'ERR_TX',
  'ERR_UNSUPPORTED',
  'ERR_IO',
]);

const revoked = Proxy.revocable([], {});
revoked.revoke();

/** @type {any[]} */
const hostile = [
  undefined,
  null,
  true,
  0,
  -0,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  1e300,
  5e-324,
  2n ** 80n,
  '',
  'x',
  '^',
  '^^X',
  '9x',
  '\0',
  '\ud800',
  'k'.repeat(5000),
  Symbol('s'),
  () => 'x',
  {},
  [],
  ['a', ['b']],
  new Date(0),
  /x/,
  new Map(),
  Object.create(null),
  new Proxy({}, {}),
  revoked.proxy,
  Buffer.alloc(0),
  Buffer.alloc(5000, 1),
  new Uint8Array([0xff, 0, 0xfe]),
  new DataView(new ArrayBuffer(3)),
  new SharedArrayBuffer(3),
  structuredClone(new ArrayBuffer(8), { transfer: [] }),
  {
    toString() {
      throw new RangeError('toString was called');
    },
    valueOf() {
      throw new RangeError('valueOf was called');
    },
  },
  new Proxy([], {
    get() {
      throw new RangeError('get was called');
    },
  }),
];
const detached = new ArrayBuffer(8);
structuredClone(detached, { transfer: [detached] });
hostile.push(detached, new String('boxed'));

/**
 * @param {object} target
 * @returns {string[]} the names of all methods
 */
function methodsOf(target) {
  const names = new Set();
  for (let each = target; each && each !== Object.prototype; each = Object.getPrototypeOf(each)) {
    for (const name of Object.getOwnPropertyNames(each)) {
      if (typeof Object.getOwnPropertyDescriptor(each, name)?.value === 'function') names.add(name);
    }
  }
  // A backup makes the folder that it is told to make; its arguments have tests of their own.
  const apart = ['constructor', 'open', 'close', 'settimeout', 'backup', 'backupLater'];
  return [...names].filter((name) => !apart.includes(name));
}

/** Every list of up to three hostile arguments would be 60,000; each pair beside each other is enough. */
function* argumentLists() {
  yield [];
  for (const one of hostile) {
    yield [one];
    yield ['a', one];
    yield [one, 'a'];
    yield ['a', one, 0];
    yield ['a', 'b', one];
    yield Array.from({ length: 40 }, () => one);
  }
}

/**
 * @param {any} target
 * @param {string} method
 * @param {any[]} parameters
 */
function attempt(target, method, parameters) {
  try {
    const answer = target[method](...parameters);
    // A promise may fail, but must not be forgotten.
    if (typeof answer?.then === 'function') answer.then(undefined, check);
    else if (method === 'watch') answer.close();
    else if (typeof answer?.[Symbol.iterator] === 'function' && typeof answer !== 'string') drain(answer);
  } catch (error) {
    check(error);
  }
  /** @param {any} error */
  function check(error) {
    const known = error instanceof Error && (CODES.has(/** @type {any} */ (error).code) || isTheirs(error));
    assert.ok(known, `${method}: ${error?.code} ${error?.stack}`);
    assert.ok(error.message.length > 5 && !/internal error/.test(error.message), error.message);
  }
}

/** @param {unknown} each @returns {boolean} whether as a timeout it would keep this test waiting */
const isForEver = (each) => typeof each === 'bigint' || (typeof each === 'number' && (each < 0 || each > 1));

/** @param {Iterable<any>} entries */
function drain(entries) {
  let seen = 0;
  for (const _ of entries) if (++seen === 100) return;
}

/**
 * What the arguments themselves throw when they are looked at.
 *
 * @param {Error} error
 */
const isTheirs = (error) => /was called|revoked/.test(error.message);

for (const charset of ['utf-8', 'binary']) {
  describe(`hostile arguments in ${charset}`, () => {
    const { db, store } = openServer();
    db.charset(charset);
    const native = open(store);
    const targets = {
      server: db,
      mglobal: new mglobal(db, 'Hostile', 1),
      mcursor: new mcursor(db, { global: 'Hostile', key: [''] }),
      // In a global of its own: what the other connection has locked would keep this one waiting.
      Global: native.global('Native', 1),
      AsyncGlobal: native.async.global('Native', 1),
      Database: native,
    };
    afterEach(async () => {
      while (db.tlevel() !== '0') db.trollback();
      await native.async.sync();
      db.charset(charset);
      db.settimeout(60);
      assert.equal(db.init, 1);
      // The store still answers, and holds nothing but sound nodes.
      db.delete('Hostile');
      db.delete('Native');
      db.set('Hostile', 'sound', 'x');
      assert.equal(db.get('Hostile', 'sound'), 'x');
      const names = new mcursor(db, {}, { globaldirectory: true });
      for (let name = names.next(); name !== null; name = names.next()) {
        assert.match(name, /^\^[A-Za-z%]/);
        const cursor = new mcursor(db, { global: name, key: [''] }, { multilevel: true, getdata: true });
        let nodes = 0;
        while (cursor.next() !== null) nodes += 1;
        assert.ok(nodes < 10_000);
      }
    });

    for (const [name, target] of Object.entries(targets)) {
      it(`of ${name} are refused or mean something`, () => {
        for (const method of methodsOf(target)) {
          // These wait where they are told to, which is no error; others hold a lock of the same thread.
          const waits = /lock/i.test(method);
          for (const parameters of argumentLists()) {
            if (waits && parameters.some(isForEver)) continue;
            if (method === 'tstart' && Number(db.tlevel()) > 3) continue;
            if (['hold', 'start'].includes(method)) continue;
            attempt(target, method, parameters);
            while (name !== 'server' && db.tlevel() !== '0') db.trollback();
          }
          if (target === db) {
            while (db.tlevel() !== '0') db.trollback();
            db.charset(charset);
          }
        }
      });
    }

    it('of open and the constructors are refused', () => {
      for (const one of hostile) {
        for (const make of [
          () => new /** @type {any} */ (mglobal)(one, 'X'),
          () => new /** @type {any} */ (mglobal)(db, one),
          () => new /** @type {any} */ (mglobal)(db, 'X', one),
          () => new /** @type {any} */ (mcursor)(db, one),
          () => new /** @type {any} */ (mcursor)(db, { global: one }),
          () => new /** @type {any} */ (mcursor)(db, { global: 'X', key: one }),
          () => new /** @type {any} */ (mcursor)(db, { global: 'X', key: [one] }, one),
          () => new /** @type {any} */ (mcursor)(db, { global: one }, { globaldirectory: true }),
          () => native.global(one),
          () => native.global('X', one),
        ]) {
          attempt({ make }, 'make', []);
        }
      }
    });

    it('on objects of another class are refused', () => {
      const methods = /** @type {any} */ (mglobal.prototype);
      for (const method of ['get', 'set', 'merge', 'reset', 'scan', 'typed']) {
        for (const receiver of [
          undefined,
          null,
          {},
          db,
          targets.mcursor,
          targets.Global,
          Object.create(methods),
        ]) {
          assert.throws(() => methods[method].call(receiver, 'a', 'b'), TypeError, method);
        }
      }
      assert.throws(() => /** @type {any} */ (db).get.call(targets.mglobal, 'X'), TypeError);
    });
  });
}

describe('keys and names at their limits', () => {
  const { db } = openServer();

  it('a key of 1,019 bytes works and one of 1,020 does not, in every method', () => {
    const global = new mglobal(db, 'L');
    // Name and its end, then the subscript with a byte before and behind it.
    const longest = 'k'.repeat(1019 - 4);
    const longer = `${longest}k`;
    assert.equal(global.set(longest, 'x'), '0');
    assert.equal(global.get(longest), 'x');
    assert.equal(global.next('a'), longest);
    const cursor = new mcursor(db, { global: 'L', key: [''] }, { multilevel: true });
    assert.deepEqual(cursor.next(), { key: [longest] });
    for (const method of [
      'get',
      'defined',
      'delete',
      'next',
      'previous',
      'unlock',
      'documentText',
      'typed',
    ]) {
      assert.throws(
        () => /** @type {any} */ (global)[method](longer),
        withCode('ERR_KEY_TOO_LONG', /1019/),
        method,
      );
    }
    for (const method of ['set', 'increment', 'lock', 'setTyped']) {
      assert.throws(
        () => /** @type {any} */ (global)[method](longer, 1),
        withCode('ERR_KEY_TOO_LONG'),
        method,
      );
    }
    assert.throws(() => global.setDocumentText(longest, '{"a":1}'), withCode('ERR_KEY_TOO_LONG'));
    assert.equal(global.defined(longest), '1');
    assert.throws(() => new mglobal(db, 'L', longer), withCode('ERR_KEY_TOO_LONG'));
  });

  it('names are as M allows them, and a few more', () => {
    for (const name of ['A', '%', '%A1', 'a1', 'x'.repeat(255), 'a_b', 'a.b', 'a-b', '^Caret']) {
      assert.equal(db.set(name, 1, 'x'), '0', name);
      assert.equal(db.get(name, 1), 'x');
    }
    for (const name of ['', '^', '1', '_a', '.a', 'a.', 'a b', 'ä', 'a/b', 'x'.repeat(256), '^^A', 'a\0']) {
      assert.throws(() => db.set(name, 1, 'x'), withCode('ERR_BAD_NAME', /set/), name);
      assert.throws(() => db.get(name), withCode('ERR_BAD_NAME'), name);
      assert.throws(() => new mglobal(db, name), withCode('ERR_BAD_NAME'), name);
      assert.throws(() => db.lock(name, 0), withCode('ERR_BAD_NAME'), name);
    }
    for (const method of [
      'get',
      'set',
      'delete',
      'defined',
      'next',
      'previous',
      'increment',
      'lock',
      'unlock',
    ]) {
      const call = /** @type {any} */ (db)[method].bind(db);
      assert.throws(() => call(), withCode('ERR_ARG', new RegExp(`^${method}: .*name`)), method);
      assert.throws(() => call(5), withCode('ERR_ARG', new RegExp(`^${method}: .*name`)), method);
      // The last argument of these is no subscript, and what is to be stored has no place in a message.
      const node = ['set', 'increment', 'lock'].includes(method) ? '\\^A:' : '\\^A\\(null\\)';
      assert.throws(() => call('A', null), withCode('ERR_ARG', new RegExp(`^${method} ${node}`)), method);
      assert.match(db.geterrormessage(), new RegExp(`^${method}`));
    }
    for (const method of ['increment', 'lock']) {
      assert.throws(() => /** @type {any} */ (db)[method]('A'), withCode('ERR_ARG', /missing/), method);
    }
  });
});

describe('huge values', () => {
  it('of 300 MB are kept, as a string and as bytes', () => {
    const { db } = openServer({ durability: 'process' });
    const global = new mglobal(db, 'Huge');
    const text = 'x'.repeat(300_000_000);
    assert.equal(global.set('text', text), '0');
    const read = global.get('text');
    assert.equal(read.length, text.length);
    assert.ok(read === text);
    global.delete('text');
    assert.equal(global.defined('text'), '0');
    db.close();
  });

  it('over the limits are ERR_TOO_LARGE, and nothing is written', () => {
    for (const [engine, limit] of /** @type {const} */ ([
      ['lmdb', 1 << 30],
      ['sled', 256 << 20],
    ])) {
      const { db } = openServer({ engine, ...(engine === 'lmdb' ? { durability: 'process' } : {}) });
      const global = new mglobal(db, 'Huge');
      global.set('a', 'before');
      const bytes = Buffer.alloc(limit + 1);
      assert.throws(() => global.set('a', bytes), withCode('ERR_TOO_LARGE', /set \^Huge/));
      assert.equal(global.get('a'), 'before');
      db.close();
    }
  });

  it('longer than a string may be are read as bytes only', () => {
    const { db } = openServer({ durability: 'process' });
    const global = new mglobal(db, 'Huge');
    const length = Math.min(constants.MAX_STRING_LENGTH + 1, 1 << 30);
    if (length > constants.MAX_STRING_LENGTH) {
      global.set('a', Buffer.alloc(length, 65));
      assert.throws(() => global.get('a'), withCode('ERR_TOO_LARGE', /get \^Huge/));
      const bytes = /** @type {Uint8Array} */ (global.typed('a'));
      assert.equal(bytes.length, length);
      assert.equal(bytes[length - 1], 65);
    }
    db.close();
  });
});
