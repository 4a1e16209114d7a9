// Promise: the command works on a store that another process has open and writes to, and leaves quietly when the reader
// of its output does.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { open } from '../../js/index.mjs';
import { PROGRAM, terminal } from './terminal.mjs';

test('reading, writing, importing and exporting beside a process that has the store open', () => {
  const shell = terminal();
  const db = open(shell.store);
  try {
    const person = db.global('Person');
    person.set(1, 'name', 'Rob');
    assert.equal(shell.caretdb('get', '^Person(1,"name")').out, 'Rob\n');
    shell.caretdb('set', '^Person(1,"name")', 'Ann');
    assert.equal(person.get(1, 'name'), 'Ann');
    shell.fed('["Person",[2],"new"]\n', 'import', '-');
    assert.equal(person.get(2), 'new');
    assert.equal(shell.caretdb('export').out, '["Person",[1,"name"],"Ann"]\n["Person",[2],"new"]\n');
    shell.caretdb('delete', '^Person(1)');
    assert.equal(person.hasChildren(1), false);
  } finally {
    db.close();
  }
});

test('a pipe whose reader leaves ends the command without noise', async () => {
  const shell = terminal();
  const db = open(shell.store);
  for (let n = 0; n < 20_000; n++) db.global('A').set(n, 'x'.repeat(50));
  db.close();
  for (const args of [['export'], ['list', '^A']]) {
    const child = spawn(process.execPath, [PROGRAM, ...args, '--data', shell.store], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let noise = '';
    child.stderr.on('data', (data) => {
      noise += data;
    });
    const closed = once(child, 'close');
    await Promise.race([once(child.stdout, 'data'), closed]);
    child.stdout.destroy();
    const [status] = await closed;
    assert.deepEqual([status, noise], [0, '']);
  }
});
