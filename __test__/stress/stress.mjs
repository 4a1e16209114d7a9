// Threads and processes at work on one store, some of them killed at random: `npm run stress -- 20` runs it for 20 seconds.
// It prints what was done and fails if a count is lost, a sum changes or a reader sees half of something.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { open } from 'caretdb';

const actor = fileURLToPath(new URL('fixtures/actor.mjs', import.meta.url));
const accounts = 20;
const total = accounts * 1000;

/**
 * @param {{ seconds: number, threads?: number, processes?: number }} options
 * @returns {Promise<Record<string, number>>} how many of each kind of work were done, and `kills`
 */
export async function stress({ seconds, threads = 4, processes = 4 }) {
  const path = mkdtempSync(join(tmpdir(), 'caretdb-stress-'));
  const db = open(path, { timeout: 60 });
  try {
    const account = db.global('Account');
    for (let i = 0; i < accounts; i++) account.set(i, 1000);
    const until = Date.now() + seconds * 1000;
    const about = { path, accounts, total, until };
    const ended = Array.from({ length: threads }, (_, id) => thread({ ...about, id: `thread ${id}` }));
    const kills = await withKills(processes, about);
    await Promise.all(ended);
    return { ...check(db, kills), kills };
  } finally {
    db.close();
    rmSync(path, { recursive: true, force: true });
  }
}

/** @param {object} workerData */
async function thread(workerData) {
  const worker = new Worker(actor, { workerData });
  const [code] = await once(worker, 'exit');
  assert.equal(code, 0, 'a thread failed');
}

/**
 * Keeps some processes at work, and kills one now and then.
 *
 * @param {number} processes
 * @param {{ until: number }} about
 * @returns {Promise<number>} how many were killed
 */
async function withKills(processes, about) {
  let started = 0;
  let kills = 0;
  /** @param {number} seat */
  const keepAtWork = async (seat) => {
    while (Date.now() < about.until) {
      // Some of them are left to end by themselves, and make room for the next.
      const until = Math.min(about.until, Date.now() + 5000);
      const own = { ...about, until, id: `process ${seat}.${started++}`, mayBeKilled: true };
      const child = spawn(process.execPath, [actor, JSON.stringify(own)], { stdio: 'inherit' });
      const exit = once(child, 'exit');
      const left = about.until - Date.now();
      const killer = new AbortController();
      const killed = sleep(300 + Math.random() * 1500, true, { signal: killer.signal }).catch(() => false);
      if (left > 500 && Math.random() < 0.7 && (await Promise.race([killed, exit.then(() => false)]))) {
        if (child.kill('SIGKILL')) kills += 1;
      }
      killer.abort();
      const [code, signal] = await exit;
      assert.ok(code === 0 || signal === 'SIGKILL', `a process ended with ${code ?? signal}`);
    }
  };
  await Promise.all(Array.from({ length: processes }, (_, seat) => keepAtWork(seat)));
  return kills;
}

/**
 * @param {import('caretdb').Database} db
 * @param {number} kills
 * @returns {Record<string, number>} the sums over all actors
 */
function check(db, kills) {
  /** @type {Record<string, number>} */
  const sums = { count: 0, intent: 0, alone: 0, move: 0, audit: 0, pair: 0, document: 0 };
  for (const [[, kind], value] of db.global('Done').leaves({ as: 'string' }))
    sums[kind ?? ''] += Number(value);
  const counter = db.global('Counter');
  assert.equal(counter.get('shared') ?? 0, sums.count, 'increments in transactions were lost');
  const alone = Number(counter.get('alone') ?? 0);
  assert.ok(sums.alone <= alone && alone <= sums.intent, `${alone} increments instead of ${sums.alone}`);
  assert.ok(sums.intent - sums.alone <= kills, 'more increments were cut off than processes killed');
  let sum = 0;
  for (const [, value] of db.global('Account').entries()) sum += Number(value);
  assert.equal(sum, total);
  assert.equal(db.global('Pair').lockFor(10), true, 'a dead process holds a lock');
  assert.equal(db.global('Pair').get('left'), db.global('Pair').get('right'));
  db.global('Pair').unlock();
  const { intent, ...done } = sums;
  return done;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const seconds = Number(process.argv[2] ?? 20);
  const done = await stress({ seconds });
  console.log(`${seconds} s with 4 threads and 4 processes:`, done);
}
