// Logging in with a browser: who has shown the token once gets a session, a random secret of its own in a cookie that no script
// can read. The token itself is never in a cookie. Guessing is slowed down by address.

import { createHash, randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';

/** How long a session lasts, in milliseconds. */
export const SESSION_LIFETIME = 12 * 60 * 60 * 1000;

/** How many there may be; beyond it the oldest ends. */
const MOST_SESSIONS = 1000;

/** How many wrong tokens an address may try within the window before it has to wait. */
export const FREE_ATTEMPTS = 5;

/** Milliseconds. */
const WINDOW = 60_000;

/** How many addresses are remembered. */
const MOST_ADDRESSES = 10_000;

/** @param {string} secret what is kept in memory is not what the cookie has */
function digest(secret) {
  return createHash('sha256').update(secret).digest('base64');
}

/** The sessions of one server. They end with it. */
export class Sessions {
  constructor() {
    /** When each ends, by the digest of its secret, oldest first. @type {Map<string, number>} */
    this.ends = new Map();
  }

  /** @returns {string} the secret of a new session */
  begin() {
    const secret = randomBytes(32).toString('base64url');
    if (this.ends.size >= MOST_SESSIONS) this.ends.delete(String(this.ends.keys().next().value));
    this.ends.set(digest(secret), Date.now() + SESSION_LIFETIME);
    return secret;
  }

  /** @param {string | undefined} secret @returns {boolean} whether it is a session that goes on */
  has(secret) {
    if (secret === undefined || secret === '') return false;
    const key = digest(secret);
    const end = this.ends.get(key);
    if (end !== undefined && end > Date.now()) return true;
    this.ends.delete(key);
    return false;
  }

  /** @param {string | undefined} secret */
  end(secret) {
    if (secret !== undefined) this.ends.delete(digest(secret));
  }
}

/**
 * Whose attempts count together: an address, or for IPv6 the network of 64 bits that one customer usually has.
 * @param {string} address
 */
function neighbourhood(address) {
  if (!isIPv6(address)) return address;
  if (address.startsWith('::ffff:')) return address.slice(7);
  const [head, tail] = address.split('::');
  const front = head.split(':').filter((part) => part !== '');
  const back = (tail ?? '').split(':').filter((part) => part !== '');
  const zeros = tail === undefined ? [] : new Array(Math.max(0, 8 - front.length - back.length)).fill('0');
  return [...front, ...zeros, ...back].slice(0, 4).join(':');
}

/** The wrong tokens that were tried, by address. */
export class Attempts {
  /** @param {() => number} [now] milliseconds, for tests */
  constructor(now = () => performance.now()) {
    this.now = now;
    /** @type {Map<string, {count: number, until: number}>} */
    this.byAddress = new Map();
  }

  /**
   * @param {string} address
   * @returns {number} for how many seconds it must not try again; 0: it may
   */
  waitFor(address) {
    const entry = this.byAddress.get(neighbourhood(address));
    if (entry === undefined || entry.count < FREE_ATTEMPTS) return 0;
    return Math.max(0, Math.ceil((entry.until - this.now()) / 1000));
  }

  /** @param {string} address one that has tried a wrong token */
  failed(address) {
    const key = neighbourhood(address);
    const now = this.now();
    const known = this.byAddress.get(key);
    const count = known !== undefined && known.until > now ? known.count + 1 : 1;
    // The oldest are in front: an entry that changes goes to the end.
    this.byAddress.delete(key);
    if (this.byAddress.size >= MOST_ADDRESSES)
      this.byAddress.delete(String(this.byAddress.keys().next().value));
    this.byAddress.set(key, { count, until: now + WINDOW });
  }

  /** @param {string} address one that has shown the right token */
  succeeded(address) {
    this.byAddress.delete(neighbourhood(address));
  }
}
