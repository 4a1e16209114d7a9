// Iterators of the native face. Entries come in pages, one native call for many; a page is dropped when anything in the store has
// changed, so an iterator sees writes ahead of it, pins nothing, and may be left early. It sees what its own thread writes at the
// next step, what others write some steps later.

import { addon } from './addon.mjs';
import { failure } from './failure.mjs';

/** What an iterator shows: the number the native call takes, and whether entries come with values and places. */
export const SHAPES = {
  keys: { number: 0, withValue: false, withPlace: false },
  entries: { number: 1, withValue: true, withPlace: false },
  leaves: { number: 2, withValue: true, withPlace: true },
};

const FIRST_PAGE = 16;
const LARGEST_PAGE = 512;

/** After so many steps it is asked whether others wrote. */
const STEPS = 16;

/** What a native call that may write adds to. */
const activity = new Uint32Array(addon.activity());

/** Tells an iterator whether the page that it has is still what the store holds. */
export class Freshness {
  /** @param {any} server a connection */
  constructor(server) {
    this.server = server;
    this.version = 0;
    this.seen = 0;
    this.steps = 0;
  }

  /** From here on: before a page is read. */
  begin() {
    this.version = this.server.changes();
    this.seen = activity[0];
    this.steps = 0;
  }

  /** @returns {boolean} whether nothing was written by this thread, nor by others as far as it was asked */
  lasts() {
    this.steps += 1;
    return (activity[0] === this.seen && this.steps % STEPS !== 0) || this.isCertain();
  }

  /** @returns {boolean} whether nothing was written by anybody */
  isCertain() {
    this.seen = activity[0];
    return this.server.changes() === this.version;
  }
}

/** How a bound is meant, as the native call takes it. */
const EXCLUSIVE = 0;
const INCLUSIVE = 1;
const PLACE = 2;

const OPTIONS = new Set(['from', 'to', 'after', 'before', 'prefix', 'reverse', 'limit', 'as']);

/**
 * @typedef {{ from?: any, to?: any, after?: any, before?: any, prefix?: string, reverse?: boolean, limit?: number, as?: 'string' }} Range
 * @typedef {{ number: number, withValue: boolean, withPlace: boolean }} Shape
 */

/**
 * @param {any} global the bare node
 * @param {any} server its connection
 * @param {Shape} shape
 * @param {Range} [range]
 * @returns {IterableIterator<any>}
 */
export function iterate(global, server, shape, range = {}) {
  checkRange(range);
  return entries(global, server, shape, range);
}

/**
 * @param {any} global
 * @param {any} server
 * @param {Shape} shape
 * @param {Range} range
 * @returns {Generator<any>}
 */
function* entries(global, server, shape, range) {
  const { reverse = false, prefix } = range;
  const { withValue } = shape;
  const strings = range.as === 'string';
  const withPlace = strings || shape.withPlace;
  const width = 1 + Number(withValue) + Number(withPlace);
  const lower = bound(range.from, range.after);
  const upper = bound(range.to, range.before);
  let start = reverse ? upper : lower;
  const end = reverse ? lower : upper;
  let left = range.limit ?? Number.POSITIVE_INFINITY;
  let size = FIRST_PAGE;
  const fresh = new Freshness(server);
  while (left > 0) {
    fresh.begin();
    const wanted = Math.min(size, left);
    const page = global.scan(
      undefined,
      shape.number,
      wanted,
      reverse,
      start.at,
      start.kind,
      end.at,
      end.kind,
      strings,
      prefix,
    );
    let last;
    for (let at = 0; at < page.length; at += width) {
      last = at;
      left -= 1;
      yield withValue ? [page[at], page[at + 1]] : page[at];
      if (left > 0 && !fresh.lasts()) break;
    }
    const isWhole = page.length < wanted * width;
    if (last === undefined || (isWhole && fresh.isCertain())) return;
    start = withPlace ? { at: page[last + width - 1], kind: PLACE } : { at: page[last], kind: EXCLUSIVE };
    size = Math.min(size * 4, LARGEST_PAGE);
  }
}

/**
 * @param {any} inclusive
 * @param {any} exclusive
 */
function bound(inclusive, exclusive) {
  return exclusive === undefined ? { at: inclusive, kind: INCLUSIVE } : { at: exclusive, kind: EXCLUSIVE };
}

/**
 * Checks what all ranges have in common.
 *
 * @param {Range} range
 */
export function checkRange(range) {
  if (typeof range !== 'object' || range === null) throw failure('ERR_ARG', 'a range must be an object');
  for (const name of Object.keys(range)) {
    if (!OPTIONS.has(name)) throw failure('ERR_ARG', `a range has no option ${JSON.stringify(name)}`);
  }
  for (const at of [range.from, range.to, range.after, range.before]) {
    // It would be the place of the node itself, which is none of its leaves.
    if (Array.isArray(at) && at.length === 0)
      throw failure('ERR_ARG', 'a bound must have at least one subscript: leave it out where there is none');
  }
  const { limit, prefix, as, reverse } = range;
  if (limit !== undefined && !(limit === Number.POSITIVE_INFINITY || (Number.isInteger(limit) && limit >= 0)))
    throw failure('ERR_ARG', 'limit must be a whole number of entries');
  if (prefix !== undefined && (typeof prefix !== 'string' || prefix === ''))
    throw failure('ERR_ARG', 'prefix must be a non-empty string');
  if (as !== undefined && as !== 'string') throw failure('ERR_ARG', "as must be 'string'");
  if (reverse !== undefined && typeof reverse !== 'boolean')
    throw failure('ERR_ARG', 'reverse must be true or false');
  if (range.from !== undefined && range.after !== undefined)
    throw failure('ERR_ARG', 'a range begins with from or with after, not with both');
  if (range.to !== undefined && range.before !== undefined)
    throw failure('ERR_ARG', 'a range ends with to or with before, not with both');
}
