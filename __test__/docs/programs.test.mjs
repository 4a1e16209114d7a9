// The promise of the documentation: every program on its pages runs as it stands, in the order of the page and in one folder,
// and prints what the remarks beside its console.log calls say. Programs of Bun.serve run where the suite runs on Bun.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../real/port.mjs';
import { blocksOf, isServer, promisedLines } from './page.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const onBun = process.versions.bun !== undefined;
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const folders = mkdtempSync(join(tmpdir(), 'caretdb-docs-'));

after(() => rmSync(folders, { recursive: true, force: true }));

/**
 * @param {string} page
 * @returns {string} a project that has the package installed
 */
function projectFor(page) {
  const folder = join(folders, page.replace(/\W/g, '-'));
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  symlinkSync(root, join(folder, 'node_modules', 'caretdb'), 'dir');
  for (const name of ['fastify', 'typescript']) {
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'dir');
  }
  return folder;
}

/**
 * @param {import('./page.mjs').Block} block
 * @returns {boolean}
 */
function isProgram({ language, notRun, text }) {
  if (!['js', 'ts'].includes(language) || notRun !== undefined) return false;
  return onBun || !/Bun\.|'bun:/.test(text);
}

/**
 * @param {string} folder
 * @param {string} file
 */
function runToEnd(folder, file) {
  const { CARETDB_PATH, ...env } = process.env;
  const ran = spawnSync(process.execPath, [file], { cwd: folder, env, encoding: 'utf8', timeout: 120_000 });
  assert.equal(ran.status, 0, `${file} ended with ${ran.status ?? ran.signal}\n${ran.stdout}${ran.stderr}`);
  return ran.stdout;
}

/**
 * @param {string} folder
 * @param {string} file
 * @param {number} port
 */
async function runServer(folder, file, port) {
  const child = spawn(process.execPath, [file], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      output += text;
    });
  try {
    while (!(await answers(port))) {
      const ending = child.exitCode ?? child.signalCode;
      assert.equal(ending, null, `${file} ended with ${ending}\n${output}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

/** @param {number} port */
async function answers(port) {
  try {
    await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

for (const page of pages) {
  const programs = blocksOf(join(root, page)).filter(isProgram);
  if (programs.length === 0) continue;
  describe(page, () => {
    const folder = projectFor(page);
    // A page may show a server before the handler that it names.
    for (const { file, text } of programs.filter(({ file }) => file !== undefined)) {
      const path = join(folder, /** @type {string} */ (file));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    for (const { line, file, text } of programs) {
      it(`line ${line}`, async () => {
        const port = await freePort();
        const program = isServer(text) ? text.replaceAll(/\b3000\b/g, String(port)) : text;
        const name = file ?? `line-${line}.mjs`;
        writeFileSync(join(folder, name), program);
        if (isServer(program)) return runServer(folder, name, port);
        const printed = runToEnd(folder, name).split('\n');
        let from = 0;
        for (const expected of promisedLines(program)) {
          const at = printed.indexOf(expected, from);
          assert.notEqual(at, -1, `it does not print ${expected} after line ${from}:\n${printed.join('\n')}`);
          from = at + 1;
        }
      });
    }
  });
}
