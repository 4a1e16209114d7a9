// A reader that stays at one moment keeps the working file from using pages again. `stats()` says so, and who it is.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { open } from 'caretdb';
import { newFolder } from '../mg-dbx/store.mjs';

const pause = new Int32Array(new SharedArrayBuffer(4));

it('a long snapshot is warned of while it lasts, and not before or after', () => {
  const db = open(newFolder());
  const reader = open(db.path);
  db.global('A').set(1);
  assert.deepEqual(db.stats().warnings, []);
  reader.snapshot(() => {
    assert.equal(reader.global('A').get(), 1);
    for (let number = 0; db.stats().warnings.length === 0; number++) {
      assert.ok(number < 3000, 'there was never a warning');
      db.global('A').set(number);
      Atomics.wait(pause, 0, 0, 10);
    }
    const { warnings, snapshotLag, snapshotAge } = db.stats();
    assert.match(warnings[0], new RegExp(`process ${process.pid} has been reading one moment for \\d+ s`));
    assert.ok(snapshotLag > 0);
    assert.ok(snapshotAge >= 3000);
    assert.equal(reader.global('A').get(), 1);
  });
  for (let tries = 0; db.stats().warnings.length > 0; tries++) {
    assert.ok(tries < 3000, 'the warning never went');
    reader.global('A').get();
    Atomics.wait(pause, 0, 0, 10);
  }
  reader.close();
  db.close();
});
