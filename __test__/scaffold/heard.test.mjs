// What a test is told by another process is there when it asks, however late. A test hung for twenty minutes on Bun because the
// process had said that it began before the test listened.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { hear } from '../runner/heard.mjs';

const SPEAKER = fileURLToPath(new URL('./fixtures/speaker.mjs', import.meta.url));

test('what was said before anyone asked is kept, in order', async () => {
  const child = fork(SPEAKER);
  const { next, end } = hear(child);
  await once(child, 'exit');
  assert.deepEqual([await next(), await next(), await end()], ['one', 'two', 3]);
});

test('who waits for a message that cannot come is told how the other one ended', async () => {
  const child = fork(SPEAKER);
  const { next } = hear(child);
  await next();
  await next();
  await assert.rejects(next(), /ended with 3/);
});

test('a thread is heard as a process is, and a fault of it is the error', async () => {
  const { next, end } = hear(new Worker(SPEAKER, { argv: ['throw'] }));
  assert.deepEqual([await next(), await next()], ['one', 'two']);
  await assert.rejects(next(), /on purpose/);
  await assert.rejects(end(), /on purpose/);
});

test('a program that is not there is an error', async () => {
  const { end } = hear(fork(SPEAKER, { execPath: 'no-such-runtime' }));
  await assert.rejects(end(), { code: 'ENOENT' });
});

test('what a thread said is heard where its error overtakes it, as on Node.js 24 under load', async () => {
  const thread = Object.assign(new EventEmitter(), { threadId: 1 });
  const { next } = hear(/** @type {any} */ (thread));
  thread.emit('error', new Error('on purpose'));
  const heard = next();
  thread.emit('message', 'one');
  thread.emit('exit', 1);
  assert.equal(await heard, 'one');
  await assert.rejects(next(), /on purpose/);
});
