// What both servers make of a request: the message that a handler gets, and its body as a value. One reading for both, so that
// a handler cannot tell them apart.

import { RequestError } from './errors.mjs';

/**
 * @typedef {object} RequestParts a request as a server gives it
 * @property {string} method
 * @property {string} url path and query
 * @property {string} protocol 'http' or 'https'
 * @property {string} ip the caller's address
 * @property {Record<string, any>} headers names in lower case
 * @property {Record<string, any>} params
 * @property {unknown} body
 */

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * @param {Uint8Array} bytes
 * @returns {string} without a byte order mark
 * @throws {RequestError} 400
 */
export function textOf(bytes) {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new RequestError(400, 'The body is not valid UTF-8');
  }
}

/** How deep JSON may be nested. Far below what would exhaust the stack of a function that calls itself for each level. */
const DEEPEST = 1000;

/**
 * Whether JSON is nested too deep. Asked of the text, before anything follows its levels.
 * @param {string} source
 * @returns {boolean}
 */
function isTooDeep(source) {
  // A level takes a bracket only; one that is never closed is no JSON, but would be followed all the same.
  if (source.length <= DEEPEST) return false;
  let depth = 0;
  let inString = false;
  for (let at = 0; at < source.length; at += 1) {
    const character = source[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '[' || character === '{') {
      depth += 1;
      if (depth > DEEPEST) return true;
    } else if (character === ']' || character === '}') depth -= 1;
  }
  return false;
}

/**
 * Parses JSON. A key `__proto__` becomes a plain own property, as JSON.parse makes it: it is data like any other, and sets no
 * prototype. Nothing in the servers copies it with an assignment that would.
 * @param {string} source
 * @returns {unknown}
 * @throws {RequestError} 400
 */
export function parseJson(source) {
  if (isTooDeep(source)) throw new RequestError(400, `The body is nested deeper than ${DEEPEST} levels`);
  try {
    return JSON.parse(source);
  } catch {
    throw new RequestError(400, 'The body is not valid JSON');
  }
}

/**
 * The pairs of a query or a form; a name that comes more than once has an array.
 * @param {string} source
 * @returns {Record<string, string | string[]>} without a prototype
 */
export function parsePairs(source) {
  const pairs = Object.create(null);
  if (source === '') return pairs;
  for (const [name, value] of new URLSearchParams(source)) {
    const earlier = pairs[name];
    if (earlier === undefined) pairs[name] = value;
    else if (Array.isArray(earlier)) earlier.push(value);
    else pairs[name] = [earlier, value];
  }
  return pairs;
}

/**
 * The value of a body.
 * @param {string | undefined | null} contentType
 * @param {Uint8Array} bytes
 * @returns {unknown} what JSON says, the pairs of a form, a string for text, bytes for anything else, undefined for an empty body
 * @throws {RequestError} 400
 */
export function parseBody(contentType, bytes) {
  if (bytes.length === 0) return undefined;
  const type = (contentType ?? '').split(';', 1)[0].trim().toLowerCase();
  if (type === 'application/json' || type.endsWith('+json')) return parseJson(textOf(bytes));
  if (type === 'application/x-www-form-urlencoded') return parsePairs(textOf(bytes));
  if (type.startsWith('text/')) return textOf(bytes);
  return bytes;
}

/**
 * The cookies of a request; of two with one name, the first counts.
 * @param {string | undefined} header
 * @returns {Record<string, string>} without a prototype
 */
export function parseCookies(header) {
  const cookies = Object.create(null);
  if (header === undefined) return cookies;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals < 1) continue;
    const name = pair.slice(0, equals).trim();
    if (name in cookies) continue;
    const value = pair.slice(equals + 1).trim();
    try {
      cookies[name] = decodeURIComponent(value);
    } catch {
      cookies[name] = value;
    }
  }
  return cookies;
}

/** A name, or an IPv6 address in brackets, and perhaps a port: nothing else, or the name in front would vouch for the rest. */
const HOST = /^(\[[^[\]]*\]|[^:[\]]+)(?::\d+)?$/;

/**
 * The name of a host without its port.
 * @param {string} host as in a Host header: `localhost:3000`, `[::1]:3000`
 * @returns {string} all of it, where it is not a name with a port
 */
export function hostnameOf(host) {
  return HOST.exec(host)?.[1] ?? host;
}

/** @param {string} url @returns {string} */
export function queryOf(url) {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}

/**
 * The message that a handler gets.
 * @param {string} type the name of the handler
 * @param {string} routerPath the route as it was configured: `/user/:id`
 * @param {RequestParts} parts
 * @returns {{type: string, data: Record<string, any>}}
 */
export function toMessage(type, routerPath, { method, url, protocol, ip, headers, params, body }) {
  return {
    type,
    data: {
      method,
      url,
      routerPath,
      hostname: hostnameOf(headers.host ?? ''),
      protocol,
      ip,
      params,
      query: parsePairs(queryOf(url)),
      headers,
      cookies: parseCookies(headers.cookie),
      body,
    },
  };
}
