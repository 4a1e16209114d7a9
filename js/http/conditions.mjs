// Conditional requests (RFC 9110): entity tags, and what If-Match and If-None-Match say about one.

import { createHash } from 'node:crypto';
import { RequestError } from './errors.mjs';

const ENTITY_TAG = /(W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;

/**
 * The strong entity tag of content.
 * @param {string} content
 * @returns {string} in quotes
 */
export function entityTag(content) {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`;
}

/**
 * @param {string} list the value of If-Match or If-None-Match
 * @param {string} tag
 * @param {boolean} strong whether a weak tag in the list matches nothing
 */
function names(list, tag, strong) {
  for (const [, weak, quoted] of list.matchAll(ENTITY_TAG)) {
    if (quoted === tag && !(strong && weak !== undefined)) return true;
  }
  return false;
}

/**
 * Whether a request may change what it names.
 * @param {Record<string, any>} headers of the request
 * @param {() => string | undefined} currentTag the entity tag of what is there, undefined where nothing is; asked only when needed
 * @throws {RequestError} 412
 */
export function checkPreconditions(headers, currentTag) {
  const ifMatch = headers['if-match'];
  const ifNoneMatch = headers['if-none-match'];
  if (ifMatch === undefined && ifNoneMatch === undefined) return;
  const tag = currentTag();
  if (ifMatch !== undefined) {
    if (tag === undefined) throw new RequestError(412, 'if-match: there is nothing here');
    if (ifMatch.trim() !== '*' && !names(ifMatch, tag, true)) {
      throw new RequestError(412, `if-match: it is ${tag} by now; read it again`);
    }
  }
  if (ifNoneMatch !== undefined && tag !== undefined) {
    if (ifNoneMatch.trim() === '*') throw new RequestError(412, 'if-none-match: there is one already');
    if (names(ifNoneMatch, tag, false)) throw new RequestError(412, `if-none-match: it is ${tag}`);
  }
}

/**
 * Whether a reader has already what it asks for.
 * @param {Record<string, any>} headers of the request
 * @param {string} tag the entity tag of what is there
 * @returns {boolean} true: the reply is 304
 * @throws {RequestError} 412 where If-Match names something else
 */
export function isFresh(headers, tag) {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch !== undefined) checkPreconditions({ 'if-match': ifMatch }, () => tag);
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.trim() === '*' || names(ifNoneMatch, tag, false);
}
