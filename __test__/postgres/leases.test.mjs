// Leases of locks, with real processes: one that lives keeps its locks longer than a lease, one that was stopped for longer
// than that has lost them, and does not get them back by going on.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { open } from 'caretdb';
import { withCode } from '../mg-dbx/store.mjs';
import { newUrls, skip } from '../real/postgres.mjs';
import { isSample } from '../runner/sample.mjs';

const program = fileURLToPath(new URL('fixtures/locker.mjs', import.meta.url));

/** Most of it is waiting, and who waits is not JavaScript. */
const lasting = async () => {
  const url = (await newUrls())();
  const db = open({ engine: 'postgres', url });
  after(() => db.close());
  const mine = db.global('Mine');
  const theirs = db.global('Theirs');
  assert.ok(mine.lock(1));
  const locker = spawn(process.execPath, [program, url], { stdio: ['pipe', 'pipe', 'inherit'] });
  after(() => locker.kill('SIGKILL'));
  await once(locker.stdout, 'data');
  locker.kill('SIGSTOP');
  assert.equal(theirs.lockFor(0), false, 'its lease has not ended');
  assert.equal(theirs.lockFor(40), true, 'an ancestor of what it locked');
  locker.kill('SIGCONT');
  // It is back, and makes what leases it has longer, which is none.
  await sleep(6000);
  locker.stdin.write('try\n');
  const [answer] = await once(locker.stdout, 'data');
  assert.equal(String(answer).trim(), 'false', 'this process has kept its lock all the time');
  theirs.unlock();
  assert.equal(theirs.lockFor(0, 1, 'x'), true);
  locker.kill('SIGKILL');
};

if (!isSample)
  test(
    'a lock lasts as long as its process, and ends with the lease of one that was stopped',
    { skip },
    lasting,
  );

test('what a server cannot do is refused with advice', { skip }, async () => {
  const db = open({ engine: 'postgres', url: (await newUrls())() });
  after(() => db.close());
  const unsupported = withCode('ERR_UNSUPPORTED', /server|lmdb|postgres/);
  assert.throws(() => db.global('X').watch(() => {}), unsupported);
  await assert.rejects(async () => db.backup('/tmp/caretdb-never'), unsupported);
});
