// Who may ask: the checks that come before anything else of a request is looked at. They keep web pages of other sites from
// using a browser as a bridge to a server that listens on this machine only (DNS rebinding, cross-site posts), and
// strangers from a server that listens to others.

import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { errorReply } from '../pool/reply.mjs';
import { hostnameOf } from './request.mjs';

/**
 * @typedef {object} GuardOptions
 * @property {string[]} [allowedHosts] names that the Host header may have besides those of this machine's loopback
 * @property {string} [token] when given, each request needs `authorization: Bearer <token>`; Host may then be any address
 *   (not any name): a page of another site does not know the token
 *
 * @typedef {(method: string, headers: Record<string, any>) => import('../pool/reply.mjs').Reply | undefined} Guard answers
 *   the refusal, or undefined where the request may go on
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

/** @param {string} text */
function digest(text) {
  return createHash('sha256').update(text).digest();
}

/**
 * @param {string} token
 * @returns {(authorization: string | undefined) => boolean} takes the same time wherever a wrong token differs
 */
function tokenCheck(token) {
  const expected = digest(token);
  return (authorization) => {
    const given = /^Bearer +(\S+)$/i.exec(authorization ?? '');
    return given !== null && timingSafeEqual(digest(given[1]), expected);
  };
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

/**
 * Makes the check of one server.
 * @param {GuardOptions} options
 * @returns {Guard}
 */
export function createGuard({ allowedHosts = [], token }) {
  const names = new Set([...LOOPBACK_NAMES, ...allowedHosts.map((name) => name.toLowerCase())]);
  const hasToken = token === undefined ? undefined : tokenCheck(token);
  /** @param {string} name */
  const isAllowedHost = (name) =>
    names.has(name) || (hasToken !== undefined && isIP(name.replace(/^\[|\]$/g, '')) !== 0);

  return (method, headers) => {
    const name = hostnameOf(String(headers.host ?? '')).toLowerCase();
    if (!isAllowedHost(name)) {
      return errorReply(
        403,
        `This server does not answer for the host '${name}' (allowedHosts names those it does)`,
      );
    }
    if (!READING_METHODS.has(method) && !isFromHere(headers)) {
      return errorReply(403, 'This request comes from a page of another site');
    }
    if (hasToken !== undefined && !hasToken(headers.authorization)) {
      return errorReply(401, 'This server needs a token: authorization: Bearer …', {
        'www-authenticate': 'Bearer',
      });
    }
    return undefined;
  };
}
