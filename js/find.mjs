// Finding documents by an index. They come in pages, one native call for many, which are dropped as those of iterate.mjs are: an
// iterator sees writes ahead of it, pins nothing, and may be left early.

import { DocumentText } from './document-text.mjs';
import { failure } from './failure.mjs';
import { checkRange, Freshness } from './iterate.mjs';

const FIRST_PAGE = 8;
const LARGEST_PAGE = 128;
/** How many members of a page make one entry: subscript, document, position. */
const WIDTH = 3;

/**
 * @param {any} global the node whose children are searched
 * @param {any} server its connection
 * @param {string} index
 * @param {Record<string, any>} query
 * @returns {IterableIterator<any>}
 */
export function find(global, server, index, query) {
  check(index, query);
  return documents(global, server, index, { ...query });
}

/**
 * @param {any} global
 * @param {any} server
 * @param {string} index
 * @param {Record<string, any>} query
 * @returns {Generator<any>}
 */
function* documents(global, server, index, query) {
  const { equals, from, to, after, before, prefix, reverse = false, as } = query;
  let left = query.limit ?? Number.POSITIVE_INFINITY;
  let size = FIRST_PAGE;
  /** @type {string | undefined} */
  let behind;
  const fresh = new Freshness(server);
  while (left > 0) {
    fresh.begin();
    const wanted = Math.min(size, left);
    const page = global.findPage(
      index,
      wanted,
      reverse,
      behind,
      equals,
      after === undefined ? from : after,
      after === undefined,
      before === undefined ? to : before,
      before === undefined,
      prefix,
      as === 'string',
    );
    for (let at = 0; at < page.length; at += WIDTH) {
      behind = page[at + 2];
      left -= 1;
      yield [page[at], DocumentText.parse(page[at + 1])];
      if (left > 0 && !fresh.lasts()) break;
    }
    const complete = page.length < wanted * WIDTH;
    if (page.length === 0 || (complete && fresh.isCertain())) return;
    size = Math.min(size * 4, LARGEST_PAGE);
  }
}

/**
 * @param {any} index
 * @param {any} query
 */
function check(index, query) {
  if (typeof index !== 'string') throw failure('ERR_ARG', 'find: the name of an index must be a string');
  if (typeof query !== 'object' || query === null) {
    throw failure('ERR_ARG', 'find: the query must be an object');
  }
  const { equals, ...range } = query;
  // A value that is missing by mistake must not find everything.
  if (equals === undefined && 'equals' in query) {
    throw failure('ERR_ARG', 'find: equals must be a value, not undefined');
  }
  checkRange(range);
}
