// What a watcher is told of is what happened: many processes write everything there is to write, some are killed in the
// middle, and each watcher, in whatever thread or process, comes to the state that the store has.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { open } from 'caretdb';
import { newFolder } from '../mg-dbx/store.mjs';
import { hear } from '../runner/heard.mjs';
import { contents, Replica, until } from './replica.mjs';

const WRITER = fileURLToPath(new URL('./fixtures/writer.mjs', import.meta.url));
const WATCHER = fileURLToPath(new URL('./fixtures/watcher.mjs', import.meta.url));

/** @param {string} path @param {number} seed @param {number} steps */
function startWriter(path, seed, steps) {
  const writer = fork(WRITER, [path, String(seed), String(steps)]);
  return { writer, ...hear(writer) };
}

describe('watchers in several threads and processes', () => {
  it('come to the state of the store while writers work and are killed', async () => {
    const path = newFolder();
    const db = open(path, { logLimit: 8 << 20 });
    const replica = new Replica();
    const watcher = db.watch(replica.apply);
    const others = [new Worker(WATCHER, { workerData: { path } }), fork(WATCHER, [path])].map(hear);
    for (const { next } of others) assert.equal(await next(), 'begun');
    for (let round = 0; round < 4; round++) {
      const writers = [1, 2, 3].map((number) => startWriter(path, round * 10 + number, 100_000));
      for (const { next } of writers) assert.equal(await next(), 'begun');
      await sleep(150);
      for (const { writer, end } of writers) {
        writer.kill('SIGKILL');
        assert.equal(await end(), 'SIGKILL');
      }
    }
    assert.equal(await startWriter(path, 99, 50).end(), 0);
    db.global('End').set(true);
    for (const { next } of others) {
      const { isSame, told, lost } = await next();
      assert.equal(lost, 0);
      assert.equal(isSame, true);
      assert.ok(told > 200, `${told} changes are too few to say anything`);
    }
    await until('the end', () => replica.nodes.has('["End"]'));
    watcher.close();
    assert.equal(replica.whole, true);
    assert.deepEqual(replica.entries(), contents(db));
    db.close();
  });

  it('leave nothing behind when their thread is terminated or their process is killed', async () => {
    const path = newFolder();
    const db = open(path);
    const worker = new Worker(WATCHER, { workerData: { path } });
    const child = fork(WATCHER, [path]);
    const [inThread, inProcess] = [hear(worker), hear(child)];
    assert.deepEqual([await inThread.next(), await inProcess.next()], ['begun', 'begun']);
    for (let number = 0; number < 1000; number++) db.global('A').set(number, 'x');
    await worker.terminate();
    child.kill('SIGKILL');
    assert.equal(await inProcess.end(), 'SIGKILL');
    for (let number = 0; number < 1000; number++) db.global('A').set(number, 'y');
    const replica = new Replica();
    db.watch('A', [7], replica.apply);
    db.global('A').set(7, 'z');
    await until('the last change', () => replica.nodes.get('["A",7]') === 'z');
    db.close();
    // Alone now, else it could not become another one.
    open(path, { durability: 'process' }).close();
  });
});
