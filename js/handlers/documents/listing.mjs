// Pages of documents: all of a collection by id, or those that a query finds. A page says where the next one begins, so that a
// reader sees every document that stays in place once, whatever is written meanwhile.

import { RequestError } from '../../http/errors.mjs';
import { indexesOf } from './indexes.mjs';
import { planOf } from './query.mjs';

/** A page ends behind the document with which it gets this long, in characters of JSON. */
const PAGE_TEXT = 256 * 1024;
/** How many documents a query looks at for one page, where further fields leave out many. */
const LOOKED_AT = 10_000;
/** How many documents one native call gives. */
const STEP = 64;

/**
 * @typedef {object} Page
 * @property {string[]} documents JSON texts
 * @property {string | undefined} next where the next page begins; undefined at the end
 *
 * @typedef {{stretch: number, behind: string | undefined}} Position which stretch of the plan, and the place in it
 */

/** @param {Position} position @returns {string} */
function tokenOf({ stretch, behind }) {
  return Buffer.from(`${stretch}:${behind ?? ''}`, 'latin1').toString('base64url');
}

/** @param {string | undefined} token @param {number} stretches how many there are @returns {Position} */
function positionOf(token, stretches) {
  if (token === undefined) return { stretch: 0, behind: undefined };
  const [, stretch, behind] = /^(\d):(.*)$/s.exec(Buffer.from(token, 'base64url').toString('latin1')) ?? [];
  if (behind === undefined || Number(stretch) >= stretches) {
    throw new RequestError(
      400,
      'after: this is no place in this list; take it from `next` of the page before',
    );
  }
  return { stretch: Number(stretch), behind: behind === '' ? undefined : behind };
}

/**
 * A document of a list. One that does not say its id gets it in front.
 * @param {string} id
 * @param {string} text
 */
function withId(id, text) {
  const document = JSON.parse(text);
  if (document === null || typeof document !== 'object' || Array.isArray(document)) {
    return JSON.stringify({ id, value: document });
  }
  if (Object.hasOwn(document, 'id')) return text;
  return `{"id":${JSON.stringify(id)}${text === '{}' ? '' : ','}${text.slice(1)}`;
}

/**
 * @param {any} db
 * @param {import('./collection.mjs').Collection} collection
 * @param {Record<string, string | string[]>} query
 * @param {{limit: number, withIds: boolean, indexes?: import('./indexes.mjs').Index[]}} options the collection's `indexes`, where they
 *   are known already
 * @returns {Page}
 */
export function readPage(db, collection, query, { limit, withIds, indexes }) {
  const plan = planOf(query, () => indexes ?? indexesOf(db, collection), collection.name);
  const token = query.after === undefined ? undefined : String(query.after);
  const position = positionOf(token, plan?.stretches.length ?? 1);
  const stretches = plan?.stretches.length ?? 1;
  const documents = [];
  let length = 0;
  let lookedAt = 0;
  for (;;) {
    const wanted = Math.min(STEP, limit - documents.length);
    const { stretch, behind } = position;
    const step =
      plan === undefined
        ? collection.byId(behind, wanted)
        : collection.byIndex(plan.index, plan.stretches[stretch], behind, wanted);
    let seen = 0;
    for (const { id, text, place } of step) {
      seen += 1;
      position.behind = place;
      if (text !== '' && (plan === undefined || passes(plan.tests, text))) {
        const shown = withIds ? withId(id, text) : text;
        documents.push(shown);
        length += shown.length;
      }
      if (length >= PAGE_TEXT) return { documents, next: tokenOf(position) };
    }
    lookedAt += seen;
    if (seen < wanted) {
      position.stretch += 1;
      position.behind = undefined;
      if (position.stretch >= stretches) return { documents, next: undefined };
    }
    if (documents.length >= limit || lookedAt >= LOOKED_AT) return { documents, next: tokenOf(position) };
  }
}

/** @param {import('./query.mjs').Test[]} tests @param {string} text */
function passes(tests, text) {
  if (tests.length === 0) return true;
  const document = JSON.parse(text);
  return tests.every((test) => test(document));
}
