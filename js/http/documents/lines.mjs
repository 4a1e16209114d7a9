// NDJSON out of the store: documents one a line, page by page. Each page is made when the one before is on its way, so that a
// reply of any length takes the memory of a page, and a slow reader holds up nobody.

/**
 * @typedef {import('../streams.mjs').StreamData} StreamData
 * @typedef {import('../streams.mjs').StreamReply} StreamReply
 * @typedef {import('../../pool/reply.mjs').Reply} Reply
 *
 * @typedef {{first: string[], rest: AsyncGenerator<string[], void, void> | undefined}} Lines those of the first page, and where it is
 *   not all, the others, some at a time
 */

import { setTimeout as sleep } from 'node:timers/promises';

/** How many documents a page may have. */
export const LARGEST_PAGE = 1000;

/** How often a page that could not be read is asked for again, and after how many milliseconds each time. */
const TRIES = 10;
const BETWEEN_TRIES = 1000;

/** @param {StreamData} data @returns {string} what a request brings in its body, in lower case */
export function mediaType({ headers }) {
  return String(headers['content-type'] ?? '')
    .split(';', 1)[0]
    .trim()
    .toLowerCase();
}

/** @param {string} type a media type */
export function isLines(type) {
  return type === 'application/x-ndjson' || type === 'application/ndjson';
}

/** What `isLines` is spelt like in replies. */
export const LINES = 'application/x-ndjson; charset=utf-8';

/** @param {StreamData} data @returns {boolean} whether the caller wants one document a line, and not rather JSON */
export function wantsLines({ headers }) {
  let lines = 0;
  let json = 0;
  for (const range of String(headers.accept ?? '').split(',')) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1);
    if (isLines(type)) lines = Math.max(lines, weight);
    else if (['application/json', 'application/*', '*/*'].includes(type)) json = Math.max(json, weight);
  }
  return lines > 0 && lines >= json;
}

/**
 * Reads the first page of documents.
 * @param {import('../streams.mjs').Ask} ask
 * @param {Record<string, any>} page what to ask a handler for
 * @param {number} skip how many documents to leave out
 * @param {number} [limit] how many to give; all without one
 * @returns {Promise<Reply | Lines>} or the refusal
 */
export async function startLines(ask, page, skip, limit = Number.POSITIVE_INFINITY) {
  const wanted = Math.min(skip + limit, LARGEST_PAGE);
  /** @param {string | undefined} after */
  const read = (after) => ask({ ...page, form: 'lines', limit: wanted, query: { ...page.query, after } });
  const reply = await read(page.query.after);
  if (reply.statusCode !== 200) return reply;
  const all = linesOf(reply);
  const first = all.slice(skip, skip + limit);
  const next = reply.headers?.['x-next'];
  if (next === undefined || first.length === limit) return { first, rest: undefined };
  const toSkip = Math.max(0, skip - all.length);
  return { first, rest: further(String(next), read, toSkip, limit - first.length) };
}

/** @param {Reply} reply a page */
function linesOf({ body }) {
  return /** @type {string} */ (body).split('\n').slice(0, -1);
}

/**
 * @param {string} after where the first page ended
 * @param {(after: string) => Promise<Reply>} read
 * @param {number} skip
 * @param {number} limit
 * @returns {AsyncGenerator<string[], void, void>}
 */
async function* further(after, read, skip, limit) {
  let toSkip = skip;
  let left = limit;
  /** @type {unknown} */
  let next = after;
  while (next !== undefined && left > 0) {
    const reply = await readInTheEnd(() => read(String(next)));
    // What was sent cannot be taken back: the connection breaks off, so that nobody takes the part for the whole.
    if (reply.statusCode !== 200) throw new Error(`a page of documents failed: ${reply.body}`);
    const all = linesOf(reply);
    const shown = all.slice(toSkip, toSkip + left);
    toSkip = Math.max(0, toSkip - all.length);
    left -= shown.length;
    if (shown.length > 0) yield shown;
    next = reply.headers?.['x-next'];
  }
}

/**
 * Reads a page that follows others. The caller can no longer be told to come again, and would have to begin at the first page: one
 * that fails because the queue is full, a writer holds the store or its worker died is asked for again.
 * @param {() => Promise<Reply>} read
 * @returns {Promise<Reply>}
 */
async function readInTheEnd(read) {
  for (let tries = 1; ; tries += 1) {
    const reply = await read();
    if (reply.statusCode < 500 || tries === TRIES) return reply;
    await sleep(BETWEEN_TRIES);
  }
}

/**
 * @param {Reply | Lines} started
 * @returns {started is Reply} whether there are no lines to send
 */
function isRefusal(started) {
  return 'statusCode' in started;
}

/**
 * @param {Lines & {rest: object}} started
 * @returns {AsyncGenerator<string[], void, void>} all that there is to send
 */
async function* allOf({ first, rest }) {
  if (first.length > 0) yield first;
  yield* rest;
}

/**
 * @param {Reply | Lines} started from `startLines`
 * @returns {StreamReply} one document a line
 */
export function sendLines(started) {
  if (isRefusal(started)) return started;
  const { first, rest } = started;
  const text = (/** @type {string[]} */ shown) => shown.map((line) => `${line}\n`).join('');
  async function* pieces(/** @type {AsyncGenerator<string[]>} */ all) {
    for await (const shown of all) yield text(shown);
  }
  const body = rest === undefined ? text(first) : pieces(allOf({ first, rest }));
  return { statusCode: 200, headers: { 'content-type': LINES }, body };
}

/**
 * @param {Reply | Lines} started from `startLines`
 * @returns {StreamReply} one JSON array
 */
export function sendArray(started) {
  if (isRefusal(started)) return started;
  const { first, rest } = started;
  async function* pieces(/** @type {AsyncGenerator<string[]>} */ all) {
    let before = '[';
    for await (const shown of all) {
      yield `${before}${shown.join(',')}`;
      before = ',';
    }
    yield before === '[' ? '[]' : ']';
  }
  const body = rest === undefined ? `[${first.join(',')}]` : pieces(allOf({ first, rest }));
  return { statusCode: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, body };
}
