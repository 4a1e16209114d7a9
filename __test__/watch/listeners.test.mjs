// Listeners that are slow, that throw, that close, and programs that end: nobody else notices.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { open } from 'caretdb';
import { newFolder } from '../mg-dbx/store.mjs';
import { contents, Replica, until } from './replica.mjs';

const ENTRY = new URL('../../js/index.mjs', import.meta.url).href;

/** @param {string} program @returns {{ status: number | null, stdout: string, stderr: string }} */
function run(program) {
  const source = `import { open } from ${JSON.stringify(ENTRY)};\nconst db = open(${JSON.stringify(newFolder())});\n${program}`;
  const file = process.versions.bun === undefined ? ['--input-type=module', '-e', source] : ['-e', source];
  return spawnSync(process.execPath, file, { encoding: 'utf8', timeout: 60_000 });
}

describe('a listener', () => {
  it('that is too slow for the log is told so, and then of what comes', async () => {
    const db = open(newFolder(), { flushInterval: 2, logLimit: 8 << 20 });
    const replica = new Replica();
    const watcher = db.watch('A', [], replica.apply);
    const quick = new Replica();
    const other = db.watch('B', [], quick.apply);
    const text = 'x'.repeat(4000);
    // Nothing is told before this has ended, and it is far more than waits in memory and in the log.
    for (let number = 0; number < 30_000; number++) {
      db.global('A').set(number % 100, number, text);
      if (number % 5000 === 0) db.global('B').set(number, 'seldom');
    }
    await until('the loss', () => replica.lost > 0);
    // From here on the program begins again, and misses nothing more.
    db.global('A').delete();
    await until('the deletion', () => replica.nodes.size === 0);
    db.global('A').set('after', 1);
    await until('the end', () => replica.nodes.has('["A","after"]'));
    assert.equal(replica.lost, 1);
    assert.deepEqual(replica.entries(), [['["A","after"]', 1]]);
    assert.equal(quick.lost, 0);
    assert.equal(quick.told, 6);
    watcher.close();
    other.close();
    db.close();
  });

  it('may close its watcher, and is told nothing more', async () => {
    const db = open(newFolder());
    /** @type {any[]} */
    const told = [];
    const watcher = db.watch('A', [], (change) => {
      told.push(change.value);
      if (change.value === 2) watcher.close();
    });
    const replica = new Replica();
    db.watch('A', [], replica.apply);
    db.transaction(() => {
      for (let number = 1; number <= 5; number++) db.global('A').set(number, number);
    });
    await until('the other listener', () => replica.told === 5);
    assert.deepEqual(told, [1, 2]);
    assert.equal(watcher.closed, true);
    watcher.close();
    db.close();
  });

  it('may close the connection', async () => {
    const db = open(newFolder());
    const path = db.path;
    db.watch('A', [], () => db.close());
    db.global('A').set(1);
    await until('the closing', () => db.closed);
    const again = open(path, { durability: 'process' });
    assert.equal(again.global('A').get(), 1);
    again.close();
  });

  it('that throws is told of the rest, and what it threw is the program’s to catch', () => {
    const { status, stdout } = run(`
      process.on('uncaughtException', (error) => console.log('caught', error.message));
      const watcher = db.watch('A', [], ({ value, last }) => {
        console.log(value);
        if (value === 3) setTimeout(() => watcher.close(), 10);
        if (value === 1) throw new Error('mine');
      });
      db.transaction(() => { db.global('A').set(1, 1); db.global('A').set(2, 2); });
      db.global('A').set(3, 3);`);
    assert.equal(status, 0);
    const lines = stdout.trim().split('\n');
    assert.deepEqual(lines.toSorted(), ['1', '2', '3', 'caught mine']);
  });

  it('keeps the process alive until it is closed or let go', () => {
    assert.equal(run(`db.watch('A', [], () => {}).unref();`).status, 0);
    assert.equal(run(`const w = db.watch('A', [], () => {}); setTimeout(() => w.close(), 50);`).status, 0);
    assert.equal(run(`db.watch('A', [], () => {}); setTimeout(() => db.close(), 50);`).status, 0);
    const living = run(`const w = db.watch('A', [], () => { console.log('told'); w.close(); }).unref().ref();
      setTimeout(() => db.global('A').set(1), 50);`);
    assert.deepEqual([living.status, living.stdout], [0, 'told\n']);
    assert.equal(run(`db.watch('A', [], () => {}); db.global('A').set(1); process.exit(7);`).status, 7);
  });
});

describe('a watcher without a listener', () => {
  it('is iterated over, and closed by leaving', async () => {
    const db = open(newFolder());
    const watcher = db.global('A', 1).watch();
    db.transaction(() => {
      db.global('A').set(1, 'x', 'one');
      db.global('A').set(1, 'y', 'two');
    });
    setTimeout(() => db.global('A').set(1, 'z', 'three'), 30);
    /** @type {any[]} */
    const told = [];
    for await (const { subscripts, value, last } of watcher) {
      told.push([subscripts, value, last]);
      if (value === 'three') break;
    }
    assert.deepEqual(told, [
      [[1, 'x'], 'one', false],
      [[1, 'y'], 'two', true],
      [[1, 'z'], 'three', true],
    ]);
    assert.equal(watcher.closed, true);
    db.close();
  });

  it('ends its iteration when it is closed, from wherever', async () => {
    const db = open(newFolder());
    const watcher = db.watch();
    setTimeout(() => db.close(), 20);
    for await (const change of watcher) assert.fail(`told of ${change.kind}`);
    assert.equal(db.closed, true);
  });

  it('comes to the state of the store, however many changes wait', async () => {
    const db = open(newFolder());
    const watcher = db.watch('A');
    const replica = new Replica();
    for (let number = 0; number < 20_000; number++) db.global('A').set(number % 777, number);
    for await (const change of watcher) {
      replica.apply(change);
      if (replica.told === 20_000) break;
    }
    assert.deepEqual(replica.entries(), contents(db));
    db.close();
  });
});

describe('watch refuses', () => {
  it('what it does not understand', () => {
    const db = /** @type {any} */ (open(newFolder()));
    const code = (/** @type {() => void} */ work, /** @type {string} */ expected) =>
      assert.throws(work, { code: expected });
    code(() => db.watch(7, [], () => {}), 'ERR_ARG');
    code(() => db.watch('A', 'x', () => {}), 'ERR_ARG');
    code(() => db.watch('A', [], 'x'), 'ERR_ARG');
    code(() => db.watch('no name!', [], () => {}), 'ERR_BAD_NAME');
    code(() => db.watch('A', [''], () => {}), 'ERR_BAD_KEY');
    code(() => db.watch('A', [Number.NaN], () => {}), 'ERR_BAD_KEY');
    db.close();
    code(() => db.watch('A', [], () => {}), 'ERR_CLOSED');
  });

  it('to iterate beside a listener', async () => {
    const db = open(newFolder());
    const watcher = /** @type {any} */ (db.watch('A', [], () => {}));
    await assert.rejects(watcher[Symbol.asyncIterator]().next(), { code: 'ERR_ARG' });
    db.close();
  });

  it('a store without a log, and an engine that keeps none', () => {
    for (const options of [{ durability: 'process' }, { engine: 'sled' }]) {
      const db = open(newFolder(), /** @type {any} */ (options));
      assert.throws(() => db.watch('A', [], () => {}), { code: 'ERR_UNSUPPORTED' });
      db.global('A').set(1);
      db.close();
    }
  });

  it('nobody on a connection that only reads', async () => {
    const db = open(newFolder());
    const reader = open(db.path, { readOnly: true });
    const replica = new Replica();
    reader.watch('A', [], replica.apply);
    db.global('A').set(1);
    await until('the change', () => replica.told === 1);
    reader.close();
    db.close();
  });
});
