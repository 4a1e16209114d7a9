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
 * What the server says of its routes.
 *
 * @returns {Promise<import('./pages/api/groups.mjs').Api>}
 */
export function openApiDocument() {
  return request('GET', '/openapi.json');
}

/**
 * A subscript; bytes that are no text come as hexadecimal digits.
 *
 * @typedef {string | { bytes: string }} Subscript
 *
 * A value, or its beginning where it is `cut`. `text` of bytes are hexadecimal digits.
 *
 * @typedef {object} ShownValue
 * @property {'string' | 'number' | 'boolean' | 'null' | 'bytes' | 'mark'} type
 * @property {string} text
 * @property {number} [length] of a string or of bytes
 * @property {boolean} [cut]
 * @property {string} [media] of bytes that are a picture
 *
 * @typedef {object} Children some children of a node, in order, and whether there are more on either side
 * @property {{ subscript: Subscript, hasChildren: boolean, value?: ShownValue }[]} children
 * @property {boolean} before
 * @property {boolean} after
 *
 * @typedef {{ type: 'string' | 'number' | 'boolean' | 'null' | 'document', text: string, isNew?: boolean }} NewValue
 */

/** @returns {Promise<boolean>} whether the server knows the browser by a login, which can be ended */
export async function hasSession() {
  const { session } = await request('GET', '/login/session');
  return session;
}

/** @returns {Promise<{ edit: boolean }>} whether globals may be changed */
export function viewerOptions() {
  return request('GET', '/viewer/options');
}

/**
 * @param {string} global
 * @param {readonly Subscript[]} subscripts
 * @param {{ limit: number, reverse?: boolean, from?: Subscript, after?: Subscript, find?: string }} where
 * @returns {Promise<Children>}
 */
export function childNodes(global, subscripts, where) {
  return request('POST', '/viewer/children', { global, subscripts, ...where });
}

/**
 * @param {string} global
 * @param {readonly Subscript[]} subscripts
 * @returns {Promise<{ exists: boolean, hasChildren: boolean, value?: ShownValue }>}
 */
export function oneNode(global, subscripts) {
  return request('POST', '/viewer/node', { global, subscripts });
}

/**
 * @param {string} global
 * @param {readonly Subscript[]} subscripts
 * @returns {Promise<{ json: string, editable: boolean }>}
 */
export function documentOf(global, subscripts) {
  return request('POST', '/viewer/document', { global, subscripts });
}

/**
 * @param {string} global
 * @param {readonly Subscript[]} subscripts
 * @returns {Promise<ArrayBuffer>}
 */
export async function nodeBytes(global, subscripts) {
  const reply = await ask('POST', '/viewer/bytes', { global, subscripts });
  if (!reply.ok) throw new ReplyError(reply.status, 'The bytes could not be read');
  return reply.arrayBuffer();
}

/**
 * @typedef {object} Attachment
 * @property {string} name
 * @property {string} type its media type
 * @property {number} size in bytes
 */

/**
 * @param {string} collection
 * @param {string} id
 * @returns {Promise<Attachment[]>} those of a document, in the order of their names
 */
export async function attachmentsOf(collection, id) {
  const { attachments } = await request('GET', attachmentUrl(collection, id));
  return attachments;
}

/**
 * @param {string} collection
 * @param {string} id
 * @param {...string} name none: of all attachments of the document
 */
export function attachmentUrl(collection, id, ...name) {
  return `/documents/${[collection, id, 'attachments', ...name].map(encodeURIComponent).join('/')}`;
}

/**
 * @param {string} url of an attachment that is not empty
 * @param {number} length how many bytes at most
 * @returns {Promise<Uint8Array>} its first bytes
 */
export async function attachmentBeginning(url, length) {
  const reply = await ask('GET', url, undefined, { range: `bytes=0-${length - 1}` });
  if (!reply.ok) throw new ReplyError(reply.status, 'The bytes could not be read');
  return new Uint8Array(await reply.arrayBuffer()).subarray(0, length);
}

/**
 * @param {string} global
 * @param {readonly Subscript[]} subscripts
 * @returns {Promise<{ values: number, more: boolean }>} how many values the subtree has
 */
export function countBelow(global, subscripts) {
  return request('POST', '/viewer/count', { global, subscripts });
}

/**
 * @param {string} global
 * @param {readonly Subscript[]} subscripts
 * @param {NewValue} value
 */
export function setNode(global, subscripts, value) {
  return request('POST', '/viewer/set', { global, subscripts, ...value });
}

/**
 * @param {string} global
 * @param {readonly Subscript[]} subscripts
 * @param {'subtree' | 'value'} what
 */
export function deleteNode(global, subscripts, what) {
  return request('POST', '/viewer/delete', { global, subscripts, what });
}

/**
 * Runs a benchmark; the answer comes when it is done.
 *
 * @param {{ kind: 'run' | 'scale', documentName: string, json: string, noOfRecords: string, run: string, confirm?: boolean }} body
 */
export function runBenchmark(body) {
  return request('POST', '/benchmark', body);
}

/** @param {string} run */
export function cancelBenchmark(run) {
  return request('DELETE', `/benchmark/${encodeURIComponent(run)}`);
}

/** @returns {Promise<import('./pages/benchmark/sections.mjs').Run[]>} the runs that the store has kept, the newest first */
export async function benchmarkHistory() {
  const { runs } = await request('GET', '/benchmark/history');
  return runs;
}

/** @param {number} id */
export function forgetBenchmark(id) {
  return request('DELETE', `/benchmark/history/${id}`);
}

export function forgetBenchmarks() {
  return request('DELETE', '/benchmark/history');
}

/**
 * How far a run is: the section at work and its records; of a scale run the step, which part of the work the steps before and
 * this one are, and the points so far.
 *
 * @typedef {object} Progress
 * @property {string} phase
 * @property {number} done
 * @property {number} total
 * @property {number} [step] 0 while it warms up
 * @property {number} [steps]
 * @property {{ before: number, now: number }} [part]
 * @property {import('./pages/benchmark/sections.mjs').Point[]} [points]
 */

/**
 * Follows how far a run is.
 *
 * @param {string} run
 * @param {(progress: Progress) => void} onProgress
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
 * @param {Record<string, string>} [headers]
 * @returns {Promise<Response>}
 */
async function ask(method, path, body, headers = {}) {
  try {
    const reply = await fetch(path, {
      method,
      headers: body ? { ...headers, 'content-type': 'application/json' } : headers,
      body: body && JSON.stringify(body),
      // A run is cancelled also when its page is being closed.
      keepalive: method === 'DELETE',
    });
    tell('server-answered');
    if (reply.status === 401) tell('login-needed');
    return reply;
  } catch {
    tell('server-gone');
    throw new ReplyError(0, 'The server does not answer. Is it still running?');
  }
}

/** @param {string} event for whoever shows whether the server is there */
function tell(event) {
  document.dispatchEvent(new Event(event));
}

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 */
async function request(method, path, body) {
  const reply = await ask(method, path, body);
  const answer = await reply.json().catch(() => undefined);
  if (reply.ok && answer) return answer;
  if (reply.status === 401) throw new ReplyError(401, 'Your login is over: log in again.');
  const said = answer?.error ?? `The server answered with status ${reply.status} and no explanation`;
  throw new ReplyError(reply.status, String(said), answer?.reason);
}
