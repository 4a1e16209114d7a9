// Where `open` finds the store, also for programs written for another product, and what it says where it cannot.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { mglobal, open, server } from 'caretdb';
import { newFolder, openServer, withCode } from './store.mjs';

const entry = fileURLToPath(new URL('../../js/index.mjs', import.meta.url));

/**
 * Runs a program that has the package's exports in scope, in a process of its own.
 *
 * @param {string} code
 * @param {import('node:child_process').SpawnSyncOptions} [options]
 */
function run(code, options) {
  const folder = newFolder();
  const program = join(folder, 'program.mjs');
  writeFileSync(program, `import { mglobal, open, server } from ${JSON.stringify(entry)};\n${code}\n`);
  chmodSync(folder, 0o755);
  const { CARETDB_PATH: _, ...env } = process.env;
  const ran = spawnSync(process.execPath, [program], {
    cwd: folder,
    ...options,
    env: { ...env, ...options?.env },
    encoding: 'utf8',
  });
  return { folder, status: ran.status, signal: ran.signal, out: ran.stdout, err: ran.stderr };
}

describe('open of a program written for another product', () => {
  const yottadb = {
    type: 'YottaDB',
    path: '/usr/local/lib/yottadb/r138',
    env_vars: { ydb_gbldir: '/tmp/yottadb.gld', ydb_dir: '/tmp' },
    multithreaded: true,
  };
  const iris = {
    type: 'IRIS',
    path: '/opt/iris/mgr',
    username: '_SYSTEM',
    password: 'SYS',
    namespace: 'USER',
    host: 'localhost',
    tcp_port: 1972,
  };
  const shapes = [
    yottadb,
    iris,
    { ...iris, type: 'Cache' },
    { ...yottadb, type: 'GT.M' },
    { type: 'CaretDB' },
    {},
  ];

  it('uses CARETDB_PATH, else ./caretdb-data, and dbversion says which', () => {
    for (const shape of shapes) {
      const code = `
        const db = new server();
        db.open(${JSON.stringify(shape)});
        db.set('Person', 1, 'kept');
        console.log(db.dbversion());
        db.close();`;
      const store = join(newFolder(), 'store');
      const named = run(code, { env: { CARETDB_PATH: store } });
      assert.equal(named.status, 0, named.err);
      assert.ok(named.out.includes(store), named.out);
      const unnamed = run(code);
      assert.equal(unnamed.status, 0, unnamed.err);
      assert.ok(unnamed.out.includes(join(unnamed.folder, 'caretdb-data')), unnamed.out);
      assert.ok(existsSync(join(unnamed.folder, 'caretdb-data')));
    }
  });

  it('finds one store under each of these shapes', () => {
    const store = join(newFolder(), 'store');
    const ran = run(
      `for (const shape of ${JSON.stringify(shapes)}) {
        const db = new server();
        db.open(shape);
        console.log(db.increment('Shapes', 1));
        db.close();
      }`,
      { env: { CARETDB_PATH: store } },
    );
    assert.deepEqual(ran.out.trim().split('\n'), ['1', '2', '3', '4', '5', '6'], ran.err);
  });
});

describe('open that cannot', () => {
  it('says what is wrong with its options', () => {
    const db = /** @type {any} */ (new server());
    for (const options of [undefined, null, 'path', 5, () => {}]) {
      assert.throws(() => db.open(options), withCode('ERR_ARG', /open/));
    }
    for (const options of [
      { path: 5 },
      { path: '\ud800' },
      { type: 'MongoDB' },
      { engine: 5 },
      { create: 'yes' },
      { readOnly: 1 },
      { timeout: '10' },
      { timeout: Number.NaN },
      { flushInterval: 0 },
      { flushInterval: 1e9 },
      { flushInterval: '100' },
    ]) {
      assert.throws(() => db.open({ path: newFolder(), ...options }), withCode('ERR_ARG', /open/));
      assert.equal(db.init, 0);
      assert.match(db.geterrormessage(), /open/);
    }
    assert.throws(
      () => db.open({ path: newFolder(), engine: 'rocks' }),
      withCode('ERR_UNSUPPORTED', /rocks/),
    );
    assert.throws(
      () =>
        db.open({
          get path() {
            throw new RangeError('mine');
          },
        }),
      /mine/,
    );
  });

  it('names the path and the reason', () => {
    const folder = newFolder();
    const file = join(folder, 'file');
    writeFileSync(file, 'x');
    for (const path of [file, join(file, 'below'), '/dev/null/x', 'a\0b']) {
      const db = new server();
      assert.throws(() => db.open({ path }), withCode('ERR_IO', /open: cannot/));
      assert.throws(() => open(path), withCode('ERR_IO', /open: cannot/));
      assert.notEqual(db.geterrormessage(), '');
      assert.equal(db.close(), '1');
    }
    for (const options of [{ create: false }, { readOnly: true }]) {
      const missing = join(folder, 'missing');
      assert.throws(() => open(missing, options), withCode('ERR_IO', /missing/));
      assert.ok(!existsSync(missing));
      const empty = join(folder, 'empty');
      mkdirSync(empty, { recursive: true });
      assert.throws(() => open(empty, options), withCode('ERR_IO', /empty/));
    }
  });

  it('tells another user than root that a folder cannot be written', (t) => {
    const root = process.getuid?.() === 0;
    const folder = newFolder();
    const locked = join(folder, 'locked');
    mkdirSync(locked);
    chmodSync(folder, 0o755);
    chmodSync(locked, 0o555);
    if (root) chownSync(locked, 65534, 65534);
    const code = `
      ${root ? 'process.setgid(65534); process.setuid(65534);' : ''}
      for (const path of ${JSON.stringify([locked, join(locked, 'new')])}) {
        try {
          open(path);
          console.log('opened');
        } catch (error) {
          console.log(error.code, error.message.includes(path));
        }
      }`;
    const { out, err } = run(code);
    if (/EACCES|Cannot find module|Permission denied/.test(err)) {
      t.skip('another user cannot read this repository');
      return;
    }
    assert.equal(out, 'ERR_IO true\nERR_IO true\n', err);
  });

  it('refuses an engine that is not the one of the store', () => {
    const { db, path } = openServer();
    db.set('X', 1, 'x');
    assert.throws(() => open(path, { engine: 'sled' }), withCode('ERR_ARG', /lmdb/));
    db.close();
    assert.throws(() => open(path, { engine: 'sled' }), withCode('ERR_UNSUPPORTED', /lmdb/));
  });
});

describe('a program that ends', () => {
  it('may call from an exit handler, and after close', () => {
    const store = join(newFolder(), 'store');
    const ran = run(`
      const db = new server();
      db.open({ path: ${JSON.stringify(store)} });
      const global = new mglobal(db, 'Exit');
      process.on('exit', () => {
        console.log(global.set('handler', 'called'), global.get('handler'), global.lock('x', 0), db.tstart());
        global.set('open', 'transaction');
        console.log(db.close(), JSON.stringify(global.get('handler')));
      });
      process.exit(7);`);
    assert.equal(ran.status, 7, ran.err);
    assert.equal(ran.out, '0 called 1 0\n1 ""\n');
    const db = open(store);
    assert.equal(db.global('Exit').get('handler'), 'called');
    assert.equal(db.global('Exit').has('open'), false);
    db.close();
  });

  it('ends by itself with connections open, and after its last answers', () => {
    const store = join(newFolder(), 'store');
    const ran = run(`
      const db = new server();
      db.open({ path: ${JSON.stringify(store)} });
      const global = new mglobal(db, 'End');
      for (let i = 0; i < 100; i++) global.set(i, 'x', () => {});
      global.get(99, (isError, result) => console.log(isError, result));
      const other = open(${JSON.stringify(store)});
      other.async.global('End').count().then((count) => console.log(count));`);
    assert.equal(ran.status, 0, ran.err);
    assert.equal(ran.signal, null);
    assert.match(ran.out, /false x/);
    assert.match(ran.out, /^\d+$/m);
  });

  it('ends although calls of it still wait', () => {
    const store = join(newFolder(), 'store');
    for (const ending of [
      'process.exit(3)',
      'setTimeout(() => process.exit(3), 150)',
      'db.close(); process.exit(3)',
    ]) {
      const ran = run(
        `
        const db = new server();
        const holder = new server();
        for (const each of [db, holder]) each.open({ path: ${JSON.stringify(store)} });
        holder.lock('Held', -1);
        db.lock('Held', -1, () => {});
        db.set('Held', 1, 'x', () => {});
        open(${JSON.stringify(store)}).async.global('Held').lockFor(-1).catch(() => {});
        ${ending};`,
        { timeout: 60_000 },
      );
      assert.equal(ran.status, 3, `${ending}: ${ran.signal} ${ran.err}`);
    }
  });

  it('says what a callback threw, as for any other callback', () => {
    const ran = run(`
      const db = new server();
      db.open({ path: ${JSON.stringify(join(newFolder(), 'store'))} });
      process.on('uncaughtException', (error) => console.log('caught', error.message));
      new mglobal(db, 'X').set(1, 'x', () => { throw new Error('mine'); });
      new mglobal(db, 'X').get(1, (isError, result) => console.log(isError, result));`);
    assert.equal(ran.status, 0, ran.err);
    assert.equal(ran.out, 'caught mine\nfalse x\n');
  });
});

describe('two stores and two connections', () => {
  it('are separate, and share', () => {
    const one = openServer();
    const two = openServer();
    one.db.set('X', 1, 'one');
    two.db.set('X', 1, 'two');
    assert.equal(one.db.get('X', 1), 'one');
    assert.equal(two.db.get('X', 1), 'two');
    one.db.tstart();
    two.db.tstart();
    one.db.set('X', 2, 'one');
    two.db.set('X', 2, 'two');
    one.db.tcommit();
    two.db.trollback();
    assert.equal(one.db.get('X', 2), 'one');
    assert.equal(two.db.get('X', 2), '');
    const again = new server();
    again.open({ path: one.path });
    assert.equal(again.get('X', 1), 'one');
    new mglobal(again, 'X').set(3, 'again');
    assert.equal(one.db.get('X', 3), 'again');
    again.close();
    assert.equal(one.db.get('X', 3), 'again');
  });
});
