// Iterators of the native face. Entries come in pages, one native call for many; a page is dropped as soon as anything in
// the store has changed, so an iterator sees writes ahead of it, pins nothing, and may be left early.

/** What an iterator shows: the number the native call takes, and how many members of a page make one entry. */
export const SHAPES = {
  keys: { number: 0, width: 1 },
  entries: { number: 1, width: 2 },
  leaves: { number: 2, width: 2 },
};

const FIRST_PAGE = 16;
const LARGEST_PAGE = 512;

/**
 * @typedef {{ from?: any, to?: any, after?: any, before?: any, prefix?: string, reverse?: boolean, limit?: number, as?: 'string' }} Range
 */

/**
 * @param {any} global the bare node
 * @param {any} server its connection
 * @param {{ number: number, width: number }} shape
 * @param {Range} [range]
 * @returns {IterableIterator<any>}
 */
export function iterate(global, server, shape, range = {}) {
  check(range);
  return entries(global, server, shape, range);
}

/**
 * @param {any} global
 * @param {any} server
 * @param {{ number: number, width: number }} shape
 * @param {Range} range
 * @returns {Generator<any>}
 */
function* entries(global, server, shape, range) {
  const { reverse = false, prefix } = range;
  const strings = range.as === 'string';
  const lower = bound(range.from, range.after);
  const upper = bound(range.to, range.before);
  let start = reverse ? upper : lower;
  const end = reverse ? lower : upper;
  let left = range.limit ?? Number.POSITIVE_INFINITY;
  let size = FIRST_PAGE;
  while (left > 0) {
    const version = server.changes();
    const wanted = Math.min(size, left);
    const page = global.scan(
      shape.number,
      wanted,
      reverse,
      start.subscript,
      start.inclusive,
      end.subscript,
      end.inclusive,
      strings,
      prefix,
    );
    let last;
    for (let at = 0; at < page.length; at += shape.width) {
      last = page[at];
      left -= 1;
      yield shape.width === 1 ? last : [last, page[at + 1]];
      if (left > 0 && server.changes() !== version) break;
    }
    const complete = page.length < wanted * shape.width;
    if (last === undefined || (complete && server.changes() === version)) return;
    start = { subscript: last, inclusive: false };
    size = Math.min(size * 4, LARGEST_PAGE);
  }
}

/**
 * @param {any} inclusive
 * @param {any} exclusive
 */
function bound(inclusive, exclusive) {
  return exclusive === undefined
    ? { subscript: inclusive, inclusive: true }
    : { subscript: exclusive, inclusive: false };
}

/** @param {Range} range */
function check(range) {
  if (typeof range !== 'object' || range === null) throw wrong('a range must be an object');
  const { limit, prefix, as } = range;
  if (limit !== undefined && !(typeof limit === 'number' && limit >= 0))
    throw wrong('limit must be a number of entries');
  if (prefix !== undefined && (typeof prefix !== 'string' || prefix === ''))
    throw wrong('prefix must be a non-empty string');
  if (as !== undefined && as !== 'string') throw wrong("as must be 'string'");
}

/**
 * @param {string} message
 * @returns {TypeError & { code: string }}
 */
function wrong(message) {
  return Object.assign(new TypeError(message), { code: 'ERR_ARG' });
}
