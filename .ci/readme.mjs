// Runs the commands of README.md, so that what a reader types keeps working: every line of every ```sh block, in order.
//
//   node .ci/readme.mjs --last 'npm install && npm test'
//
// `--last` names a command that must be there and is left to the end, because it takes longest. A command that starts a
// web server is waited for until it answers and stopped with SIGTERM. A command that talks to 127.0.0.1 gets a server to
// talk to. A block below the comment `<!-- not run: reason -->` is passed over, and the reason is printed.

import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findBun } from '../__test__/real/bun.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** A server may have to compile the addon before it listens. */
const startLimit = 20 * 60 * 1000;

/** What a server gets to finish what is in flight. */
const stopLimit = 30 * 1000;

/** The process group of the command that runs, or 0. */
let running = 0;

/**
 * @typedef {{ line: number, script: string, text: string, notRun: string | undefined }} Command `text`: as the reader
 *   sees it; `script`: with the `cd` and `export` lines that stand above it in its block
 */

/**
 * @param {string} markdown
 * @returns {Command[]} the commands of all ```sh blocks
 */
export function readCommands(markdown) {
  /** @type {Command[]} */
  const commands = [];
  const lines = markdown.split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    if (!/^\s*```sh\s*$/.test(lines[at])) continue;
    const notRun = /^\s*<!-- not run: (.*?) -->\s*$/.exec(lines[at - 1] ?? '')?.[1];
    const start = at + 1;
    const length = lines.slice(start).findIndex((line) => /^\s*```\s*$/.test(line));
    if (length < 0) throw new Error(`README.md:${at + 1}: the block does not end`);
    commands.push(...readBlock(lines.slice(start, start + length), start + 1, notRun));
    at = start + length;
  }
  return commands;
}

/**
 * @param {string[]} lines
 * @param {number} firstLine
 * @param {string | undefined} notRun
 * @returns {Command[]}
 */
function readBlock(lines, firstLine, notRun) {
  /** @type {Command[]} */
  const commands = [];
  /** @type {string[]} */
  const setting = [];
  let text = '';
  for (const [index, line] of lines.entries()) {
    text += line.trim();
    if (text.endsWith('\\')) {
      text = `${text.slice(0, -1).trimEnd()} `;
      continue;
    }
    if (text && !text.startsWith('#')) {
      if (/^(cd|export) [^&|;]*$/.test(text)) setting.push(text);
      else {
        // A remark may mention what it likes; the shell ignores it, and so does the search for servers.
        const bare = text.replace(/\s+#.*$/, '');
        commands.push({ line: firstLine + index, script: [...setting, text].join('\n'), text: bare, notRun });
      }
    }
    text = '';
  }
  return commands;
}

/**
 * @param {string} text
 * @returns {{ port: number } | undefined} where the command listens, if it starts a server that keeps running
 */
export function serverOf(text) {
  if (/--help\b/.test(text)) return undefined;
  if (!/\bnpm (run )?start\b|\b(node|bun) (\S*\/)?[nb]ws\.m?js\b/.test(text)) return undefined;
  return { port: Number(/--port[ =](\d+)/.exec(text)?.[1] ?? 3000) };
}

/**
 * @param {string} text
 * @returns {{ port: number } | undefined} the server that the command talks to, if it does
 */
export function clientOf(text) {
  const port = /\b(?:127\.0\.0\.1|localhost):(\d+)/.exec(text)?.[1];
  return port === undefined || serverOf(text) ? undefined : { port: Number(port) };
}

/**
 * @param {Command} command
 * @param {NodeJS.ProcessEnv} env
 */
async function runCommand(command, env) {
  const server = serverOf(command.text);
  const client = clientOf(command.text);
  if (server) return withServer(command.script, server.port, env, async () => {});
  if (client) {
    const script = `node nws.mjs --port ${client.port}`;
    return withServer(script, client.port, env, () => runToEnd(command.script, env));
  }
  return runToEnd(command.script, env);
}

/**
 * @param {string} script
 * @param {NodeJS.ProcessEnv} env
 */
async function runToEnd(script, env) {
  const status = await ended(start(script, env));
  if (status !== 0) throw new Error(`ended with ${status}`);
}

/**
 * @param {string} script
 * @param {number} port
 * @param {NodeJS.ProcessEnv} env
 * @param {() => Promise<void>} whileItRuns
 */
async function withServer(script, port, env, whileItRuns) {
  if (await answers(port)) throw new Error(`something else answers on port ${port}`);
  const shell = start(script, env);
  const end = ended(shell);
  try {
    await Promise.race([
      untilItAnswers(port),
      end.then((status) => {
        throw new Error(`ended with ${status} before port ${port} answered`);
      }),
    ]);
    console.log(`port ${port} answers`);
    await whileItRuns();
    process.kill(findServer(shell.pid ?? 0), 'SIGTERM');
    const status = await Promise.race([end, after(stopLimit, 'still running')]);
    if (status !== 0) throw new Error(`after SIGTERM: ${status}, expected exit code 0`);
    console.log('stopped with SIGTERM, exit code 0');
  } finally {
    killGroup(shell.pid ?? 0);
  }
}

/**
 * @param {string} script
 * @param {NodeJS.ProcessEnv} env
 */
function start(script, env) {
  // A process group of its own, so that nothing outlives a command that fails.
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: root,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  running = shell.pid ?? 0;
  shell.once('close', () => {
    running = 0;
  });
  return shell;
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<number | string>} exit code or signal
 */
function ended(child) {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'no status'));
  });
}

/** @param {number} port */
async function untilItAnswers(port) {
  for (const limit = Date.now() + startLimit; Date.now() < limit; ) {
    if (await answers(port)) return;
    await after(250, undefined);
  }
  throw new Error(`port ${port} does not answer`);
}

/** @param {number} port */
async function answers(port) {
  try {
    await (await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(5000) })).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

/**
 * @template T
 * @param {number} milliseconds
 * @param {T} value
 * @returns {Promise<T>}
 */
function after(milliseconds, value) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds, value).unref?.());
}

/**
 * The server itself below its shell and npm: it alone gets the signal, as from a process supervisor. npm would pass it on
 * a second time.
 *
 * @param {number} group the process group that the shell leads
 * @returns {number} its process id
 */
function findServer(group) {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      // The program's name in parentheses may itself hold spaces; what follows is state, parent, group.
      const status = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      const [program, ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      const isRuntime = /(^|\/)(node|bun)$/.test(program);
      if (Number(status[2]) === group && isRuntime && args.some((arg) => /[nb]ws\.m?js$/.test(arg)))
        return Number(pid);
    } catch {
      // it ended between the listing and the look
    }
  }
  throw new Error('no server process is running');
}

/** @param {number} group */
function killGroup(group) {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // nothing is left of it
  }
}

/**
 * @param {string | undefined} last
 */
async function main(last) {
  const commands = readCommands(readFileSync(join(root, 'README.md'), 'utf8'));
  if (commands.length === 0) throw new Error('README.md has no ```sh block');
  const final = commands.filter(({ text }) => text === last);
  if (last !== undefined && final.length === 0) throw new Error(`README.md does not say \`${last}\``);
  const folder = mkdtempSync(join(tmpdir(), 'caretdb-readme-'));
  const bun = findBun();
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, CARETDB_PATH: join(folder, 'store') };
  // A reader of the Bun commands has Bun.
  if (bun.path !== undefined) env.PATH = [env.PATH, dirname(bun.path)].join(delimiter);
  try {
    for (const command of [...commands.filter(({ text }) => text !== last), ...final.slice(0, 1)]) {
      console.log(`\n--- README.md:${command.line}: ${command.text}`);
      if (command.notRun !== undefined) console.log(`not run: ${command.notRun}`);
      else await runCommand(command, env);
    }
  } catch (error) {
    console.log(`README.md: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
    // Ctrl-C reaches this program only: the commands are in groups of their own.
    process.once(signal, () => {
      if (running !== 0) killGroup(running);
      process.exit(1);
    });
  }
  await main(parseArgs({ options: { last: { type: 'string' } } }).values.last);
}
