// The engine `postgres` through the faces of the package: how it is opened, what it never shows, and what programs on many
// machines may rely on.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { check, compact, server as MgServer, mglobal, open, restore } from 'caretdb';
import { newFolder, withCode } from '../mg-dbx/store.mjs';
import { newUrls, skip, startServer } from '../real/postgres.mjs';

const CLI = fileURLToPath(new URL('../../js/cli.mjs', import.meta.url));

/** @param {string} url @param {Record<string, unknown>} [options] */
function opened(url, options = {}) {
  const db = open({ engine: 'postgres', url, ...options });
  after(() => db.close());
  return db;
}

describe('a store on a server', { skip }, () => {
  /** @type {() => string} */
  let newUrl;
  before(async () => {
    newUrl = await newUrls();
  });

  it('is opened by a url, or by a path that is one, on every face', () => {
    const url = newUrl();
    const db = opened(url);
    db.global('Person').setDocument(1, { name: 'Rob', tags: ['a', null], nested: { deep: [1.5] } });
    const same = open(url);
    assert.deepEqual(same.global('Person').getDocument(1), {
      name: 'Rob',
      tags: ['a', null],
      nested: { deep: [1.5] },
    });
    same.close();
    const mg = new MgServer();
    mg.open({ type: 'CaretDB', path: url });
    assert.equal(new mglobal(mg, 'Person').get(1, 'name'), 'Rob');
    assert.match(mg.dbversion(), /\(postgres\) postgres:\/\/caretdb@127\.0\.0\.1:\d+\/postgres\?table=t_/);
    mg.close();
    const listed = spawnSync(process.execPath, [CLI, 'get', '^Person(1,"name")'], {
      env: { ...process.env, CARETDB_PATH: url },
      encoding: 'utf8',
    });
    assert.equal(listed.stdout, 'Rob\n', listed.stderr);
  });

  it('refuses what makes no sense, and says what to do', () => {
    const url = newUrl();
    assert.throws(() => open({ engine: 'postgres' }), withCode('ERR_ARG', /url/));
    assert.throws(() => open({ engine: 'sled', url }), withCode('ERR_ARG', /postgres/));
    assert.throws(() => open({ path: './x', url, engine: 'postgres' }), withCode('ERR_ARG', /not both/));
    assert.throws(() => open({ url, engine: 'postgres', durability: 'strict' }), withCode('ERR_UNSUPPORTED'));
    assert.throws(
      () => open({ url, engine: 'postgres', create: false }),
      withCode('ERR_IO', /cannot find a store/),
    );
    for (const table of ['a;drop table x', 'A', '1', '"', 'a"b', 'a.b.c']) {
      const wrong = url.replace(/table=.*/, `table=${encodeURIComponent(table)}`);
      assert.throws(() => open({ url: wrong, engine: 'postgres' }), withCode('ERR_ARG', /table/), table);
    }
    assert.throws(
      () =>
        open({
          engine: 'postgres',
          url: url.replace('127.0.0.1', '127.0.0.1:1,127.0.0.1'),
          timeout: 1,
          create: false,
        }),
      withCode('ERR_IO', /cannot find a store/),
      'the first host is away, the second answers',
    );
    assert.throws(
      () => open({ engine: 'postgres', url: 'postgres://u@127.0.0.1:1/x', timeout: 1 }),
      withCode('ERR_IO', /cannot reach postgres:\/\/u@127\.0\.0\.1:1\/x/),
    );
  });

  it('counts exactly from many threads and with many transactions', async () => {
    const url = newUrl();
    const db = opened(url);
    const source = `
      import { workerData } from 'node:worker_threads';
      const { open } = await import(workerData.entry);
      const db = open({ engine: 'postgres', url: workerData.url, timeout: 60 });
      const count = db.global('count');
      for (let step = 0; step < 40; step++) {
        count.increment('alone', 1);
        db.transaction(() => {
          const old = count.get('together') ?? 0;
          count.set('together', old + 1);
        });
      }
      db.close();
    `;
    const entry = new URL('../../js/index.mjs', import.meta.url).href;
    await Promise.all(
      Array.from({ length: 4 }, () => {
        const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {
          workerData: { url, entry },
        });
        return new Promise((resolve, reject) => {
          worker.once('error', reject);
          worker.once('exit', resolve);
        });
      }),
    );
    assert.deepEqual([db.global('count').get('alone'), db.global('count').get('together')], [160, 160]);
  });

  it('undoes a transaction of tstart that met another one, and says so', () => {
    const url = newUrl();
    const [one, other] = [new MgServer(), opened(url, { timeout: 5 })];
    one.open({ type: 'CaretDB', path: url });
    after(() => one.close());
    one.set('a', 1, 'old');
    one.tstart();
    assert.equal(one.get('a', 1), 'old');
    // Through a thread of its own, since one thread writes through one connection at a time.
    return other.async
      .global('a')
      .set(1, 'theirs')
      .then(() => {
        assert.throws(
          () => {
            one.set('a', 1, 'mine');
            one.tcommit();
          },
          (/** @type {any} */ error) =>
            error.code === 'ERR_BUSY' && error.conflict === true && /again/.test(error.message),
        );
        one.trollback();
        assert.equal(one.get('a', 1), 'theirs');
      });
  });

  it('sees the locks of other processes, and gets them when their lease has ended or they are given back', () => {
    const url = newUrl();
    const db = opened(url);
    const person = db.global('Person');
    assert.ok(person.lock(1, 'x'));
    const ask = (/** @type {string} */ node) => {
      const script = `
        const { open } = await import(process.argv[1]);
        const db = open({ engine: 'postgres', url: process.argv[2] });
        const free = db.global('Person').lockFor(0, ...JSON.parse(process.argv[3]));
        console.log(free);
        process.kill(process.pid, 'SIGKILL');`;
      const entry = new URL('../../js/index.mjs', import.meta.url).href;
      const asked = spawnSync(process.execPath, ['--input-type=module', '-e', script, entry, url, node], {
        encoding: 'utf8',
      });
      return asked.stdout.trim();
    };
    if (process.versions.bun) return;
    assert.equal(ask('[1]'), 'false', 'an ancestor');
    assert.equal(ask('[1,"x"]'), 'false', 'the node');
    assert.equal(ask('[1,"x","y"]'), 'false', 'a descendant');
    assert.equal(ask('[2]'), 'true', 'a sibling');
    person.unlock(1, 'x');
    // The process that locked ^Person(2) is dead; its lease lasts a little.
    assert.equal(person.lockFor(0, 2), false);
    assert.ok(person.lockFor(40, 2));
  });

  it("lets two processes see each other's indexes", () => {
    const url = newUrl();
    const [one, other] = [opened(url), opened(`${url}&application_name=other`)];
    other.global('Person').setDocument(1, { city: 'Redhill' });
    one.global('Person').createIndex('city', ['city']);
    other.global('Person').setDocument(2, { city: 'Redhill' });
    one.global('Person').setDocument(3, { city: 'Leeds' });
    const found = [...one.global('Person').find('city', { equals: 'Redhill' })].map(([id]) => id);
    assert.deepEqual(found, [1, 2]);
    assert.deepEqual(
      [...other.global('Person').find('city', { equals: 'Leeds' })].map(([id]) => id),
      [3],
    );
  });

  it('walks in order through what others write', () => {
    const url = newUrl();
    const [one, other] = [opened(url), opened(`${url}&application_name=other`)];
    const walked = one.global('walk');
    db(one, () => {
      for (let number = 1; number <= 100; number++) walked.set(number, 'v');
    });
    const seen = [];
    for (let key = walked.next(''); key !== undefined; key = walked.next(key)) {
      seen.push(key);
      // An own write is seen at once.
      if (key === 50) walked.set(50.5, 'new');
      if (key === 60) walked.delete(61);
    }
    const expected = Array.from({ length: 100 }, (_, index) => index + 1).filter((number) => number !== 61);
    expected.splice(50, 0, 50.5);
    assert.deepEqual(seen, expected);
    other.global('walk').set(0.5, 'theirs');
    assert.equal(walked.next(''), 0.5, 'a walk that begins asks the server');
    assert.equal([...walked.keys({ reverse: true })].length, 101);
  });
});

/** @param {import('caretdb').Database} store @param {() => void} work */
function db(store, work) {
  store.transaction(work);
}

it('takes a mistyped url for no folder, and does not show it', () => {
  for (const path of [
    'postgres:/rob:tops3cret@db.example/app',
    'postgresql:/db.example/app',
    'postgres:db.example',
    'postgress://db.example/app',
    'POSTGRES:/x',
    'mysql://rob:tops3cret@db.example/app',
    'file:///data',
    ' postgres://rob:tops3cret@db.example/app',
  ]) {
    for (const options of [{}, { engine: /** @type {const} */ ('sled') }]) {
      assert.throws(
        () => open({ path, ...options }),
        (/** @type {any} */ error) =>
          withCode('ERR_ARG', /postgres:\/\/user@host/)(error) && !/s3cret/.test(error.message),
        path,
      );
    }
    assert.equal(existsSync(path.slice(0, path.indexOf(':') + 1)), false);
  }
});

describe('the password of a url', { skip }, () => {
  it('is never shown, whatever goes wrong', async () => {
    const server = await startServer();
    after(() => server.stop());
    server.query("CREATE ROLE rob LOGIN PASSWORD 'tops3cret'");
    server.query('GRANT ALL ON SCHEMA public TO rob');
    const plain = `postgres://rob:tops3cret@${server.host}/postgres`;
    const url = plain.replace('tops3cret', 'tops3%63ret');
    const db = open({ engine: 'postgres', url, timeout: 1 });
    const mg = new MgServer();
    mg.open({ path: url });
    const shown = [db.path, mg.dbversion(), mg.namespace(), JSON.stringify(db.stats())];
    for (const wrong of [
      `${plain}?nonsense=1`,
      `postgres://rob@${server.host}/nowhere?password=tops3cret`,
      `postgres://rob@${server.host}/nowhere?password=tops3%63ret`,
      `postgres://rob@${server.host}/postgres?password=tops3cret&table=A`,
      `${url}?nonsense=1`,
      `${url}?sslmode=verify-full&sslrootcert=/nowhere`,
      url.replace('/postgres', '/nowhere'),
      `${url}?sslmode=require`,
      url.replace('://', ':/'),
      url.replace(server.host, 'a b'),
    ]) {
      try {
        open({ engine: 'postgres', url: wrong, timeout: 1 });
        assert.fail(`${wrong} was taken`);
      } catch (error) {
        shown.push(String(error), JSON.stringify(error), String(/** @type {any} */ (error).stack));
      }
    }
    await server.stop();
    try {
      db.global('x').get(1);
      assert.fail('the server is gone');
    } catch (error) {
      assert.equal(/** @type {any} */ (error).code, 'ERR_IO');
      shown.push(String(error), mg.geterrormessage());
    }
    for (const work of [
      () => check(url),
      () => compact(url),
      () => restore('x', url),
      () => db.backup(url),
    ]) {
      await assert.rejects(work, (/** @type {any} */ error) => {
        shown.push(error.message);
        return withCode('ERR_UNSUPPORTED', /folders/)(error);
      });
    }
    const commands = [['get', '^x'], ['stats'], ['set', '^x', '1'], ['list'], ['check'], ['compact']];
    commands.push(['copy', '--to', join(newFolder(), 'x')], ['backup', url], ['restore', newFolder()]);
    const lines = commands.map((args) => [...args, '--data', url]);
    lines.push(['get', '^x', '--data', url.replace('postgres:', 'pstgres:')]);
    // All at a time: each waits for the server.
    await Promise.all(
      lines.map(async (args) => {
        const child = spawn(process.execPath, [CLI, ...args], { stdio: 'pipe' });
        for (const stream of [child.stdout, child.stderr]) {
          stream.on('data', (text) => shown.push(String(text)));
        }
        await once(child, 'close');
      }),
    );
    for (const text of shown) assert.doesNotMatch(text, /s3cret|s3%63ret/);
    db.close();
    mg.close();
  });
});
