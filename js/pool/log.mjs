// The console of a server: a banner and one line per step of the worker pool, or nothing. Every line of the pool goes
// through here, those of the workers too (they send theirs to the main thread), so that the order on the console is the order
// in which things happened.

const RULE = '='.repeat(64);

/** Header fields whose value would give somebody access: never printed. */
const SECRET_HEADERS = ['authorization', 'cookie', 'proxy-authorization', 'x-api-key'];

/**
 * @typedef {object} Log
 * @property {boolean} enabled whether lines are printed at all; ask before building an expensive one
 * @property {(name: string, version: string, poolSize: number) => void} banner
 * @property {(text: string) => void} line prints `<epoch ms>: text`
 * @property {(text: string) => void} error prints a fault on standard error, also when `enabled` is false
 */

/**
 * Makes the log of one server.
 * @param {boolean} enabled false: only faults are printed
 * @returns {Log}
 */
export function createLog(enabled) {
  return {
    enabled,
    banner(name, version, poolSize) {
      if (!enabled) return;
      console.log(RULE);
      console.log(`${name} ${version} running in process ${process.pid}`);
      console.log(`Max worker pool size: ${poolSize}`);
      console.log(RULE);
    },
    line(text) {
      if (enabled) console.log(`${Date.now()}: ${text}`);
    },
    error(text) {
      console.error(`${Date.now()}: ${text}`);
    },
  };
}

/**
 * A value on one line, as the log prints it: `{"pid": 17}`.
 * @param {unknown} value
 * @returns {string}
 */
export function inline(value) {
  const text = JSON.stringify(value, null, 1);
  return text === undefined ? 'undefined' : text.replace(/,\n */g, ', ').replace(/\n */g, '');
}

/**
 * A message as the log may print it: without passwords, tokens and cookies.
 * @param {any} message `{type, data}`
 * @returns {string}
 */
export function inlineMessage(message) {
  const data = message?.data;
  if (data === null || typeof data !== 'object') return inline(message);
  const headers = { ...data.headers };
  for (const name of SECRET_HEADERS) {
    if (name in headers) headers[name] = '(hidden)';
  }
  const cookies = Object.fromEntries(Object.keys(data.cookies ?? {}).map((name) => [name, '(hidden)']));
  return inline({ ...message, data: { ...data, headers, cookies } });
}
