// The requests that the pages make of the server.

/** An answer that is an error, in words for the person. `status` is 0 when there was no answer; `reason` is the server's fixed word. */
export class ReplyError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {string} [reason]
   */
  constructor(status, message, reason = '') {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/**
 * The names of the store's globals, without the caret.
 *
 * @returns {Promise<string[]>}
 */
export async function globalDirectory() {
  const { names } = await request('GET', '/viewer/globaldirectory');
  return names;
}

/**
 * A node as the viewer's routes tell it. An entry with `moreSiblings` or `morePreviousSiblings` stands for the siblings from
 * `seed` on, which a further request brings.
 *
 * @typedef {object} ViewedNode
 * @property {string} path what names the node in a request
 * @property {string} subscript
 * @property {boolean} leafNode
 * @property {unknown} [value] what the node holds; bytes as `{ bytes, hex }`
 * @property {boolean} [moreSiblings]
 * @property {boolean} [morePreviousSiblings]
 * @property {string} [seed]
 */

/**
 * @param {string} name of the global
 * @returns {Promise<ViewedNode>}
 */
export async function globalNode(name) {
  const { node } = await request('GET', `/viewer/documentNode/${encodeURIComponent(name)}`);
  return node;
}

/**
 * Some children of a node, the first ones or those from a seed on.
 *
 * @param {string} path
 * @param {number} maxSubscripts how many at most
 * @param {string} [seed]
 * @returns {Promise<ViewedNode[]>}
 */
export async function childNodes(path, maxSubscripts, seed) {
  const from = seed === undefined ? {} : { moreSiblings: true, seed };
  const body = { path, parentId: 1, idCounter: 1, maxSubscripts, ...from };
  const { nodes } = await request('POST', '/viewer/getChildNodes', body);
  return nodes;
}

/**
 * Runs a benchmark; the answer comes when it is done.
 *
 * @param {{ documentName: string, json: string, noOfRecords: string, run: string, confirm?: boolean }} body
 */
export function runBenchmark(body) {
  return request('POST', '/benchmark', body);
}

/** @param {string} run */
export function cancelBenchmark(run) {
  return request('DELETE', `/benchmark/${encodeURIComponent(run)}`);
}

/**
 * Follows how far a run is.
 *
 * @param {string} run
 * @param {(progress: { phase: string, done: number, total: number }) => void} onProgress
 * @returns {() => void} stops following
 */
export function followBenchmark(run, onProgress) {
  const events = new EventSource(`/benchmark/${encodeURIComponent(run)}/events`);
  events.addEventListener('progress', (event) => onProgress(JSON.parse(event.data)));
  events.addEventListener('done', () => events.close());
  return () => events.close();
}

/** A name for a run that no other has. */
export function newRunName() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 */
async function request(method, path, body) {
  const reply = await fetch(path, {
    method,
    headers: body ? { 'content-type': 'application/json' } : {},
    body: body && JSON.stringify(body),
    // A run is cancelled also when its page is being closed.
    keepalive: method === 'DELETE',
  }).catch(() => {
    throw new ReplyError(0, 'The server does not answer. Is it still running?');
  });
  const answer = await reply.json().catch(() => undefined);
  if (reply.ok && answer) return answer;
  const said = answer?.error ?? `The server answered with status ${reply.status} and no explanation`;
  throw new ReplyError(reply.status, String(said), answer?.reason);
}
