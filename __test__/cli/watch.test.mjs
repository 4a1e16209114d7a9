// Promise: `caretdb watch` prints what other programs commit, as it is committed, until it is interrupted or nobody reads.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { open } from '../../js/index.mjs';
import { PROGRAM, terminal } from './terminal.mjs';

/**
 * Starts the command and changes the store until it has told of the first change, so that it is known to watch.
 *
 * @param {...string} args
 */
async function startWatching(...args) {
  const { store } = terminal();
  const db = open(store);
  const child = spawn(process.execPath, [PROGRAM, 'watch', ...args, '--data', store], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const over = once(child, 'exit');
  after(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => (await lines.next()).value;
  let begun = false;
  const first = line().then((text) => {
    begun = true;
    return text;
  });
  while (!begun) {
    db.global('Person').set('ready', 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.notEqual(await first, undefined, 'the command ended before it watched');
  db.global('Person').set('begin', 1);
  /** The next line that is not about getting ready. */
  const next = async () => {
    for (;;) {
      const text = await line();
      if (text === undefined || !/ready|begin/.test(text)) return text;
    }
  };
  const ended = async () => {
    await over;
    db.close();
    return child.exitCode;
  };
  return { db, child, next, over, ended };
}

test('nodes and their values, deletions, and nothing else', async () => {
  const { db, child, next, ended } = await startWatching('^Person');
  db.global('Other').set(1, 'x');
  db.global('Person').set(1, 'name', 'Ann "A"');
  db.global('Person').setDocument(2, { age: 7, tags: [] });
  db.global('Person').delete(1);
  assert.equal(await next(), '^Person(1,"name")="Ann ""A"""');
  assert.equal(await next(), '^Person(2,"age")=7');
  assert.equal(await next(), '^Person(2,"tags","[]")=""');
  assert.equal(await next(), 'delete ^Person(1)');
  child.kill('SIGINT');
  assert.equal(await ended(), 0);
});

test('as JSON, with the ends of transactions', async () => {
  const { db, child, next, ended } = await startWatching('--json');
  db.transaction(() => {
    db.global('Person').set(1, 'x');
    db.global('Other').delete();
    db.global('Other').set(new Uint8Array([255]), new Uint8Array([0]));
  });
  const told = [JSON.parse(await next()), JSON.parse(await next())];
  const { transaction } = told[0];
  assert.deepEqual(told, [
    { kind: 'set', global: 'Person', subscripts: [1], value: 'x', transaction, last: false },
    {
      kind: 'set',
      global: 'Other',
      subscripts: [{ bytes: '/w==' }],
      value: { bytes: 'AA==' },
      transaction,
      last: true,
    },
  ]);
  child.kill('SIGTERM');
  assert.equal(await ended(), 0);
});

test('counts of each global, once a second', async () => {
  const { db, child, next, ended } = await startWatching('^Person', '--counts', '--json');
  for (let number = 0; number < 100; number++) db.global('Person').set(number, 'x');
  db.global('Person').delete(5);
  const sum = { set: 0, deleted: 0 };
  while (sum.deleted === 0) {
    const { Person } = JSON.parse(await next());
    sum.set += Person.set;
    sum.deleted += Person.deleted;
  }
  assert.ok(sum.set >= 100);
  assert.equal(sum.deleted, 1);
  child.kill('SIGINT');
  assert.equal(await ended(), 0);
});

test('a limit ends it, and so does the end of the reader', async () => {
  const { store, caretdb } = terminal();
  open(store).close();
  assert.deepEqual(caretdb('watch', '--limit', '0'), { status: 0, out: '', err: '' });
  assert.equal(caretdb('watch', '--limit', 'x').status, 2);
  const limited = await startWatching('--limit', '3');
  limited.db.global('Person').set(1, 'third');
  assert.equal(await limited.ended(), 0);
  const { db, child, over, ended } = await startWatching();
  child.stdout.destroy();
  const writing = setInterval(() => db.global('Person').set('more', 1), 10);
  await over;
  clearInterval(writing);
  assert.equal(await ended(), 0);
});

test('where there is no store it says so', () => {
  const { status, err } = terminal().caretdb('watch', '^Person');
  assert.equal(status, 3);
  assert.match(err, /no store/);
});
