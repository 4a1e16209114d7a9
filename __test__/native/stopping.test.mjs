// Threads and processes that end in the middle of something: the others go on as if it had never begun.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { open } from 'caretdb';
import { newFolder } from '../mg-dbx/store.mjs';
import { ENGINES, missing, newStore } from '../real/engines.mjs';
import { startNeighbour } from './neighbour.mjs';

const entry = fileURLToPath(new URL('../../js/index.mjs', import.meta.url));

for (const engine of ENGINES) {
  describe(`a worker of a store on ${engine} that is terminated`, { skip: missing(engine) }, () => {
    if (missing(engine)) return;
    /** @returns {import('caretdb').Database} */
    const openNew = () => open({ ...newStore(engine), timeout: 20 });

    for (const task of ['holdTransactionForEver', 'loopInTransaction']) {
      it(`inside a transaction leaves nothing of it and hinders nobody (${task})`, async () => {
        const db = openNew();
        const { worker } = await startNeighbour(task, db.path, { engine });
        await worker.terminate();
        db.global('Neighbour').set('mine', 'x');
        assert.deepEqual([...db.global('Neighbour').keys()], ['mine']);
        assert.equal(db.global('Neighbour').lockFor(5, 'lock'), true);
        db.close();
      });
    }

    it('by its own process.exit() does the same', async () => {
      const db = openNew();
      const { end } = await startNeighbour('exitInTransaction', db.path, { engine });
      await end();
      db.global('Neighbour').set('mine', 'x');
      assert.deepEqual([...db.global('Neighbour').keys()], ['mine']);
      assert.equal(db.global('Neighbour').lockFor(5, 'lock'), true);
      db.close();
    });

    for (const task of ['waitForLock', 'waitForLockLater']) {
      it(`inside a lock wait ends, and does not get the lock (${task})`, async () => {
        const db = openNew();
        const neighbour = db.global('Neighbour');
        assert.equal(neighbour.lock('lock'), true);
        const { worker } = await startNeighbour(task, db.path, { engine });
        await sleep(150);
        await worker.terminate();
        neighbour.unlock('lock');
        const other = open(db.path, { engine });
        assert.equal(other.global('Neighbour').lockFor(5, 'lock'), true);
        other.close();
        db.close();
      });
    }

    it('while it waits to write ends, and does not write', async () => {
      const db = openNew();
      const holder = await startNeighbour('holdTransaction', db.path, { engine });
      const { worker } = await startNeighbour('waitForWrite', db.path, { engine });
      await sleep(150);
      await worker.terminate();
      holder.letGo();
      assert.equal(await holder.message(), 'done');
      await sleep(50);
      assert.equal(db.global('Neighbour').get('in'), 'transaction');
      db.close();
    });
  });
}

describe('a process that ends', () => {
  for (const [how, code] of [
    ['process.exit()', 'process.exit(0);'],
    ['SIGKILL', "process.kill(process.pid, 'SIGKILL');"],
    ['an uncaught error', "throw new Error('on purpose');"],
    ['an abort', 'process.abort();'],
  ]) {
    it(`in a transaction, by ${how}, leaves nothing of it`, async () => {
      const db = open(newFolder());
      const program = join(newFolder(), 'program.mjs');
      writeFileSync(
        program,
        `import { open, server } from ${JSON.stringify(entry)};
        const db = new server();
        db.open({ path: ${JSON.stringify(db.path)} });
        db.set('Ended', 'before', 'x');
        db.lock('Ended', 0);
        db.tstart();
        for (let i = 0; i < 1000; i++) db.set('Ended', i, 'x');
        db.tstart();
        db.delete('Ended', 'before');
        ${code}`,
      );
      const child = spawn(process.execPath, [program], { stdio: 'ignore' });
      await once(child, 'exit');
      const ended = db.global('Ended');
      assert.deepEqual([...ended.keys()], ['before']);
      assert.equal(ended.lockFor(0), true);
      ended.set('after', 'x');
      db.close();
    });
  }
});
