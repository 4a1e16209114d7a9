// Who may ask: the checks that come before anything else of a request is looked at. They keep web pages of other sites from
// using a browser as a bridge to a server that listens on this machine only (DNS rebinding, cross-site posts), and
// strangers from a server that listens to others.

import { isIP } from 'node:net';
import { errorReply } from '../pool/reply.mjs';
import { hostnameOf } from './request.mjs';
import { comparisonWith } from './token.mjs';

/**
 * @typedef {object} GuardOptions
 * @property {string[]} [allowedHosts] names that the Host header may have besides those of this machine's loopback
 * @property {string} [token] when given, each request needs `authorization: Bearer <token>` or a session; Host may then be any
 *   address (not any name): a page of another site does not know the token
 * @property {import('./login.mjs').Login} [login] the sessions, where there are any
 * @property {string[]} [openPaths] paths that need no token
 *
 * @typedef {(method: string, headers: Record<string, any>, url: string) => import('../pool/reply.mjs').Reply | undefined} Guard
 *   answers the refusal, or undefined where the request may go on
 */

const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

const READING_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether only this machine can reach an address.
 * @param {string} host an address or a name to listen on
 * @returns {boolean}
 */
export function isLoopback(host) {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * @param {string} token
 * @returns {(authorization: string | undefined) => boolean}
 */
function tokenCheck(token) {
  const isToken = comparisonWith(token);
  return (authorization) => {
    const given = /^Bearer +(\S+)$/i.exec(authorization ?? '');
    return given !== null && isToken(given[1]);
  };
}

/** @param {string} url @returns {string} */
function pathOf(url) {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

/**
 * A body that has to be unpacked may be a thousand times as large as it looks: none is.
 * @param {Record<string, any>} headers
 * @returns {import('../pool/reply.mjs').Reply | undefined}
 */
function refusalOfEncoding(headers) {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity') return undefined;
  return errorReply(415, 'Bodies are taken as they are, without content-encoding');
}

/**
 * Node.js looks at this itself; Bun does not.
 * @param {Record<string, any>} headers
 * @returns {import('../pool/reply.mjs').Reply | undefined}
 */
function refusalOfExpectation({ expect }) {
  if (expect === undefined || expect.toLowerCase() === '100-continue') return undefined;
  return errorReply(417, 'Nothing can be expected but 100-continue');
}

/** A type, a subtype, and perhaps parameters. */
const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;.*)?$/s;

/**
 * What a body is must be said so that it can be understood, or not at all.
 * @param {string} method
 * @param {Record<string, any>} headers
 * @returns {import('../pool/reply.mjs').Reply | undefined}
 */
function refusalOfType(method, headers) {
  const type = headers['content-type'];
  if (type === undefined || READING_METHODS.has(method) || MEDIA_TYPE.test(type)) return undefined;
  return errorReply(415, 'content-type must be a media type, such as application/json');
}

/**
 * Whether a request that changes something comes from a page of this server, or from no page at all.
 * @param {Record<string, any>} headers
 * @returns {boolean}
 */
function isFromHere(headers) {
  const { origin, host } = headers;
  if (origin !== undefined) return origin === `http://${host}` || origin === `https://${host}`;
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin' || site === 'none';
}

/** How many Host headers are remembered as allowed. */
const KEPT_HOSTS = 100;

/**
 * Makes the check of the Host header.
 * @param {Set<string>} names
 * @param {boolean} anyAddress whether any IP address may stand for this server
 * @returns {(host: unknown) => boolean}
 */
function hostCheck(names, anyAddress) {
  /** @type {Set<unknown>} */
  const known = new Set();
  return (host) => {
    if (known.has(host)) return true;
    const name = hostnameOf(String(host ?? '')).toLowerCase();
    if (!names.has(name) && !(anyAddress && isIP(name.replace(/^\[|\]$/g, '')) !== 0)) return false;
    if (known.size < KEPT_HOSTS) known.add(host);
    return true;
  };
}

/**
 * Makes the check of one server.
 * @param {GuardOptions} options
 * @returns {Guard}
 */
export function createGuard({ allowedHosts = [], token, login, openPaths = [] }) {
  const names = new Set([...LOOPBACK_NAMES, ...allowedHosts.map((name) => name.toLowerCase())]);
  const hasToken = token === undefined ? undefined : tokenCheck(token);
  const isAllowedHost = hostCheck(names, token !== undefined);
  const open = new Set(openPaths);

  return (method, headers, url) => {
    if (!isAllowedHost(headers.host)) {
      const name = hostnameOf(String(headers.host ?? ''));
      return errorReply(
        403,
        `This server does not answer for the host '${name}' (allowedHosts names those it does)`,
      );
    }
    if (!READING_METHODS.has(method) && !isFromHere(headers)) {
      return errorReply(403, 'This request comes from a page of another site');
    }
    if (
      hasToken !== undefined &&
      !hasToken(headers.authorization) &&
      !login?.hasSession(headers.cookie) &&
      !open.has(pathOf(url))
    ) {
      return (
        login?.refusal(method, headers, url) ??
        errorReply(401, 'This server needs a token: authorization: Bearer …', {
          'www-authenticate': 'Bearer',
        })
      );
    }
    return refusalOfExpectation(headers) ?? refusalOfEncoding(headers) ?? refusalOfType(method, headers);
  };
}
