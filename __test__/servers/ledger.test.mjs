// The promise of the ledger: a request that was taken back is either surely not run by its worker, or left to it.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { atOrAfter, createLedger, openLedger } from '../../js/pool/ledger.mjs';

/** @param {(paths: {poolSide: import('../../js/pool/ledger.mjs').Ledger, workerSide: import('../../js/pool/ledger.mjs').Ledger}) => void} check @param {boolean} inFile */
function withLedger(check, inFile) {
  const folder = mkdtempSync(join(tmpdir(), 'caretdb-ledger-'));
  const { ledger, handle } = createLedger(inFile ? join(folder, 'ledger') : undefined);
  const workerSide = openLedger(handle);
  check({ poolSide: ledger, workerSide });
  workerSide.close();
  ledger.close();
  rmSync(folder, { recursive: true });
}

for (const inFile of [false, true]) {
  describe(`a ledger in ${inFile ? 'a file' : 'memory'}`, () => {
    test('what is started before it is withdrawn stays with the worker', () => {
      withLedger(({ poolSide, workerSide }) => {
        assert.equal(workerSide.start(1), true);
        assert.equal(workerSide.start(2), true);
        assert.equal(poolSide.withdraw(2, 5), 2);
      }, inFile);
    });

    test('what is withdrawn first is not started, and what comes later is', () => {
      withLedger(({ poolSide, workerSide }) => {
        workerSide.start(1);
        assert.equal(poolSide.withdraw(2, 5), 1);
        assert.equal(workerSide.start(2), false);
        assert.equal(workerSide.isWithdrawn(5), true);
        assert.equal(workerSide.isWithdrawn(6), false);
        poolSide.readmit();
        assert.equal(workerSide.start(6), true);
        assert.equal(poolSide.started(), 6);
      }, inFile);
    });
  });
}

test('numbers keep their order when they wrap around', () => {
  const last = 0x7fffffff;
  const first = (last + 1) | 0;
  assert.equal(atOrAfter(first, last), true);
  assert.equal(atOrAfter(last, first), false);
  assert.equal(atOrAfter(7, 7), true);
});
