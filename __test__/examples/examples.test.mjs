// Promise: each program in examples/ does what its first lines say.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../real/port.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'caretdb-examples-'));
let stores = 0;

after(() => rmSync(folder, { recursive: true, force: true }));

/** @returns {NodeJS.ProcessEnv} with a store of its own */
function environment() {
  stores += 1;
  return { ...process.env, CARETDB_PATH: join(folder, `store-${stores}`) };
}

/**
 * @param {string} program
 * @param {string[]} args
 * @returns {string[]} the lines it printed
 */
function run(program, ...args) {
  const ran = spawnSync(process.execPath, [join('examples', program), ...args], {
    cwd: root,
    env: environment(),
    encoding: 'utf8',
    timeout: 120_000,
  });
  assert.equal(
    ran.status,
    0,
    `${program} ended with ${ran.status ?? ran.signal}\n${ran.stdout}${ran.stderr}`,
  );
  return ran.stdout.trimEnd().split('\n');
}

/**
 * @param {string} program
 * @param {(url: string) => Promise<void>} use
 */
async function withServer(program, use) {
  const port = await freePort();
  const child = spawn(process.execPath, [join('examples', program)], {
    cwd: root,
    env: { ...environment(), PORT: String(port) },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  try {
    const url = `http://127.0.0.1:${port}`;
    while (!(await answers(url))) {
      assert.equal(child.exitCode ?? child.signalCode, null, `${program} ended before it answered`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await use(url);
    child.kill('SIGTERM');
    const [code] = await ended;
    assert.equal(code, 0);
  } finally {
    child.kill('SIGKILL');
  }
}

/** @param {string} url */
async function answers(url) {
  try {
    await (await fetch(url)).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {string} url
 * @param {string} [method]
 * @param {unknown} [body]
 */
async function ask(url, method = 'GET', body = undefined) {
  const response = await fetch(url, {
    method,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: response.status, body: /** @type {any} */ (await response.json()) };
}

/** @param {string} url */
async function useTasks(url) {
  assert.deepEqual(await ask(`${url}/tasks`), { status: 200, body: { tasks: [] } });
  assert.equal((await ask(`${url}/tasks`, 'POST', { title: 'Write' })).status, 201);
  assert.equal((await ask(`${url}/tasks`, 'POST', { name: 'no title' })).status, 400);
  assert.equal((await ask(`${url}/tasks`, 'POST', { title: 'Read' })).status, 201);
  assert.deepEqual(await ask(`${url}/tasks/1`, 'PUT', { title: 'Write', done: true }), {
    status: 200,
    body: { done: true, title: 'Write' },
  });
  assert.equal((await ask(`${url}/tasks/2`, 'DELETE')).status, 200);
  assert.equal((await ask(`${url}/tasks/2`)).status, 404);
  assert.deepEqual((await ask(`${url}/tasks`)).body, { tasks: [{ id: '1', done: true, title: 'Write' }] });
}

test('the list of examples is complete', () => {
  const text = readFileSync(join(root, 'examples', 'README.md'), 'utf8');
  for (const name of readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.mjs')))
    assert.ok(text.includes(`examples/${name}`), name);
});

test('words are counted and ranked', () => {
  const lines = run('words.mjs', 'LICENSE-MIT');
  assert.equal(lines.length, 10);
  assert.match(lines[0], /^ +\d+ {2}\w+$/);
  const counts = lines.map((line) => Number.parseInt(line, 10));
  assert.deepEqual(
    counts,
    [...counts].sort((a, b) => b - a),
  );
});

test('texts are found by their words', () => {
  const found = run('full-text.mjs').map((line) => line.split(' ')[1]);
  assert.deepEqual(found.sort(), ['speed', 'trees']);
  assert.deepEqual(run('full-text.mjs', 'kill*', 'lost').length, 1);
  assert.match(run('full-text.mjs', 'kill*', 'lost')[0], /all processes/);
  assert.deepEqual(run('full-text.mjs', 'elephant'), ['']);
});

test('threads share a store', () => {
  assert.deepEqual(run('worker-threads.mjs'), [
    'increments: 20000 of 20000',
    'moved without a loss: true',
    'guarded by a lock: 400 of 400',
  ]);
});

test('an extract is imported', () => {
  const lines = run('import-zwr.mjs', '__test__/oracle/sample.zwr', '--charset', 'm');
  const globals = lines.filter((line) => line.startsWith('^'));
  assert.ok(globals.length > 0, lines.join('\n'));
});

// Bun's node:cluster does not hand a port over as Node.js does, so this example is one for Node.js.
const onNode = process.versions.bun === undefined;
if (onNode) test('processes share a store behind one port', shareAStore);

async function shareAStore() {
  await withServer('cluster.mjs', async (url) => {
    const { body: before } = await ask(url);
    const replies = await Promise.all(Array.from({ length: 50 }, () => ask(url)));
    const visits = replies.map(({ body }) => body.visit).sort((a, b) => a - b);
    assert.deepEqual(
      visits,
      Array.from({ length: 50 }, (_, number) => before.visit + 1 + number),
    );
  });
}

test('the REST service keeps tasks', async () => {
  await withServer(process.versions.bun ? 'rest/bun.mjs' : 'rest/fastify.mjs', useTasks);
});
