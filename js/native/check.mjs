// Looking for damage in a store, in a process of its own: whatever the files hold, this one lives on.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { failure } from '../failure.mjs';
import { checkedFolder } from '../place.mjs';

/** The exit statuses with which the command has found out what it was asked for. */
const ANSWERED = [0, 4];

/**
 * @param {string} path the store's folder, which may be in use
 * @param {{ signal?: AbortSignal }} [options]
 * @returns {Promise<any>} what was found
 */
export async function check(path, options = {}) {
  checkedFolder('check', path);
  if (typeof options !== 'object' || options === null)
    throw failure('ERR_ARG', 'check: the options must be an object');
  const { signal } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw failure('ERR_ARG', 'check: signal must be an AbortSignal');
  signal?.throwIfAborted();
  const { status, out, err } = await run(['check', '--json', '--', path], signal);
  signal?.throwIfAborted();
  if (ANSWERED.includes(status)) {
    const { path: _path, ...found } = JSON.parse(out);
    return found;
  }
  throw refusal(err);
}

/**
 * @param {string[]} args
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ status: number, out: string, err: string }>}
 */
function run(args, signal) {
  return new Promise((settle, reject) => {
    // Found here and not above: a bundler that makes CommonJS leaves no import.meta.url.
    const program = fileURLToPath(new URL('../cli.mjs', import.meta.url));
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const end = () => child.kill('SIGKILL');
    signal?.addEventListener('abort', end);
    const texts = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (piece) => {
      texts.out += piece;
    });
    child.stderr.setEncoding('utf8').on('data', (piece) => {
      texts.err += piece;
    });
    child.on('error', reject);
    child.on('close', (status) => {
      signal?.removeEventListener('abort', end);
      settle({ status: status ?? -1, ...texts });
    });
  });
}

/** @param {string} text the last line that the command wrote */
function refusal(text) {
  try {
    const { code, message } = JSON.parse(text.trim().split('\n').pop() ?? '').error;
    return failure(code, message);
  } catch {
    return failure('ERR_INTERNAL', `check: its process ended: ${text.trim()}`);
  }
}
