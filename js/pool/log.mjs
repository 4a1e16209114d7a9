// The console of a server: a banner and one line per step of the worker pool, or nothing. Every line of the pool goes
// through here, those of the workers too (they send theirs to the main thread), so that the order on the console is the order
// in which things happened.

const RULE = '='.repeat(64);

/** Header fields whose value would give somebody access: never printed. */
const SECRET_HEADERS = ['authorization', 'cookie', 'proxy-authorization', 'x-api-key'];

/** Names in a query or a form whose value would. */
const SECRET_NAMES =
  /^(.*[-_.])?(token|secret|password|passwd|pwd|session|auth|authorization|signature|sig|(api|access)[-_.]?key)$/i;

/** The same, where a name stands in a text: `?access_token=…`, `&key=…`. */
const SECRET_PAIRS =
  /([?&;\s]|^)([\w.-]*(?:token|secret|password|passwd|pwd|session|auth|signature|sig|(?:api|access)[-_.]?key))=[^&;\s"']*/gi;

const HIDDEN = '(hidden)';

/**
 * A text without what would give somebody access.
 * @param {string} text
 * @param {string} [secret] the server's token, which is hidden wherever it stands
 * @returns {string}
 */
export function hideSecrets(text, secret) {
  const hidden = text
    .replace(SECRET_PAIRS, (_, before, name) => `${before}${name}=${HIDDEN}`)
    .replace(/\b(Bearer|Basic) +[\w.~+/=-]+/gi, (_, scheme) => `${scheme} ${HIDDEN}`);
  return secret === undefined ? hidden : hidden.replaceAll(secret, HIDDEN);
}

/**
 * @typedef {object} Log
 * @property {boolean} enabled whether lines are printed at all; ask before building an expensive one
 * @property {(name: string, version: string, poolSize: number) => void} banner
 * @property {(text: string) => void} line prints `<epoch ms>: text`
 * @property {(text: string) => void} error prints a fault on standard error, also when `enabled` is false
 * @property {(text: string, fields?: Record<string, unknown>) => void} [say] prints what happens to the server as a whole
 * @property {(request: RequestLine) => void} [request] prints a line for a request that was answered
 *
 * @typedef {object} RequestLine
 * @property {string} method
 * @property {string} url path and query
 * @property {string} route as configured
 * @property {number} status
 * @property {number} milliseconds
 * @property {string} ip the caller's address
 */

/**
 * Makes the log of one server.
 * @param {boolean} enabled false: only faults are printed
 * @param {string} [secret] a token that no line may have
 * @returns {Log}
 */
export function createLog(enabled, secret) {
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
      if (enabled) console.log(`${Date.now()}: ${hideSecrets(text, secret)}`);
    },
    error(text) {
      console.error(`${Date.now()}: ${hideSecrets(text, secret)}`);
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
    if (name in headers) headers[name] = HIDDEN;
  }
  const cookies = Object.fromEntries(Object.keys(data.cookies ?? {}).map((name) => [name, HIDDEN]));
  const shown = {
    ...data,
    headers,
    cookies,
    query: withoutSecrets(data.query),
    body: withoutSecrets(data.body),
  };
  return inline({ ...message, data: shown });
}

/** @param {any} pairs @returns {any} */
function withoutSecrets(pairs) {
  if (pairs === null || typeof pairs !== 'object' || Array.isArray(pairs) || pairs instanceof Uint8Array)
    return pairs;
  return Object.fromEntries(
    Object.entries(pairs).map(([name, value]) => [name, SECRET_NAMES.test(name) ? HIDDEN : value]),
  );
}

/**
 * The body of a reply as the log prints it.
 * @param {import('./reply.mjs').Reply} reply
 * @returns {string} JSON on one line; of anything else how long it is
 */
export function shownBody({ headers, body }) {
  const type = String(headers?.['content-type'] ?? 'application/json');
  if (typeof body === 'string' && type.startsWith('application/json')) return inline(JSON.parse(body));
  return `${body?.length ?? 0} ${typeof body === 'string' ? 'characters' : 'bytes'}`;
}
