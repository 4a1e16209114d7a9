// The routes of logging in and out with a browser: a form that works without scripts, a session cookie for the right token, and
// 429 for those who guess.

import { readFileSync } from 'node:fs';
import { errorReply } from '../pool/reply.mjs';
import { parseCookies } from './request.mjs';
import { Attempts, SESSION_LIFETIME, Sessions } from './sessions.mjs';
import { comparisonWith } from './token.mjs';

const PAGE = readFileSync(new URL('./login-page/index.html', import.meta.url), 'utf8');

/** What the page is made of, with its media type. @type {[string, string, Buffer][]} */
const PARTS = [
  [
    '/login/login.css',
    'text/css; charset=utf-8',
    readFileSync(new URL('./login-page/login.css', import.meta.url)),
  ],
  ['/login/caret.svg', 'image/svg+xml', readFileSync(new URL('../www/caret.svg', import.meta.url))],
];

/** The only paths, besides /health, that need no token: the way in, and out for whose session is over. */
export const LOGIN_PATHS = ['/login', '/logout', ...PARTS.map(([url]) => url)];

/** @param {string} text */
function escaped(text) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Where to go after the login: a path of this server, whatever the caller says.
 * @param {unknown} next
 * @returns {string}
 */
export function localPath(next) {
  if (typeof next !== 'string' || !/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(next)) return '/';
  return next.startsWith('/login') || next.startsWith('/logout') ? '/' : next;
}

/** @param {number} statusCode @param {string} next @param {string} [problem] @param {Record<string, string>} [more] */
function page(statusCode, next, problem = '', more = {}) {
  const html = PAGE.replace('{{next}}', () => escaped(next)).replace('{{problem}}', () => escaped(problem));
  return {
    http_response: {
      statusCode,
      headers: { 'content-type': 'text/html; charset=utf-8', ...more },
      body: Buffer.from(html),
    },
  };
}

/**
 * The route by which a page learns whether there is a session that it could end. It is there without a login too.
 * @param {Login | undefined} login
 * @returns {import('./service.mjs').RouteOptions}
 */
export function sessionRoute(login) {
  return {
    method: 'get',
    url: '/login/session',
    mainHandler: ({ data }) => ({ session: login?.hasSession(data.headers.cookie) ?? false }),
  };
}

/** The sessions of a server that needs a token, and their routes. */
export class Login {
  /**
   * @param {string} token
   * @param {boolean} secure whether browsers reach the server by https
   */
  constructor(token, secure) {
    this.isToken = comparisonWith(token);
    this.secure = secure;
    this.sessions = new Sessions();
    this.attempts = new Attempts();
    // The prefix is a promise that browsers keep: no other host or path can have set it.
    this.cookie = secure ? '__Host-caretdb-session' : 'caretdb-session';
  }

  /** @param {string | undefined} cookieHeader @returns {boolean} whether it has a session */
  hasSession(cookieHeader) {
    return cookieHeader !== undefined && this.sessions.has(parseCookies(cookieHeader)[this.cookie]);
  }

  /** @param {string} value @param {number} seconds */
  cookieField(value, seconds) {
    const secure = this.secure ? '; Secure' : '';
    return `${this.cookie}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
  }

  /** @param {any} message */
  logIn({ data }) {
    const { ip, body, headers } = data;
    const fields = body !== null && typeof body === 'object' ? body : {};
    const next = localPath(fields.next);
    const isForm = String(headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded');
    const wait = this.attempts.waitFor(ip);
    if (wait > 0) {
      const problem = `Too many wrong tokens from this address: wait ${wait} seconds`;
      const field = { 'retry-after': String(wait) };
      return isForm
        ? page(429, next, problem, field)
        : { error: problem, errorCode: 429, http_response: { statusCode: 429, headers: field } };
    }
    if (typeof fields.token !== 'string' || !this.isToken(fields.token.trim())) {
      this.attempts.failed(ip);
      const problem = 'That is not the token of this server';
      return isForm ? page(401, next, problem) : { error: problem, errorCode: 401 };
    }
    this.attempts.succeeded(ip);
    const cookie = this.cookieField(this.sessions.begin(), SESSION_LIFETIME / 1000);
    const headersBack = isForm ? { 'set-cookie': cookie, location: next } : { 'set-cookie': cookie };
    return { ok: true, http_response: { statusCode: isForm ? 303 : 200, headers: headersBack } };
  }

  /** @param {any} message */
  logOut({ data }) {
    this.sessions.end(data.cookies[this.cookie]);
    const headers = { 'set-cookie': this.cookieField('', 0), location: '/login' };
    return { ok: true, http_response: { statusCode: 303, headers } };
  }

  /** @returns {import('./service.mjs').RouteOptions[]} */
  routes() {
    return [
      {
        method: 'get',
        url: '/login',
        mainHandler: ({ data }) => page(200, localPath(data.query.next)),
      },
      ...PARTS.map(([url, type, body]) => ({
        method: 'get',
        url,
        mainHandler: () => ({ http_response: { headers: { 'content-type': type }, body } }),
      })),
      { method: 'post', url: '/login', mainHandler: (message) => this.logIn(message) },
      { method: 'post', url: '/logout', mainHandler: (message) => this.logOut(message) },
    ];
  }

  /**
   * What somebody without a token or session gets: a browser that wants a page is sent to the login.
   * @param {string} method
   * @param {Record<string, any>} headers
   * @param {string} url
   * @returns {import('../pool/reply.mjs').Reply}
   */
  refusal(method, headers, url) {
    if ((method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(String(headers.accept ?? ''))) {
      const next = localPath(url);
      const location = next === '/' ? '/login' : `/login?next=${encodeURIComponent(next)}`;
      return { statusCode: 303, headers: { location }, body: undefined };
    }
    return errorReply(401, 'This server needs a token: authorization: Bearer …, or a login at /login', {
      'www-authenticate': 'Bearer',
    });
  }
}
