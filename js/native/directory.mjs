// The directory of a store: the names of its globals within a range.

import { addon } from '../addon.mjs';
import { failure } from '../failure.mjs';
import { checkRange } from '../iterate.mjs';

/**
 * @param {any} server
 * @param {any} range
 * @returns {Generator<string>}
 */
export function* names(server, range) {
  const { reverse = false, prefix = '' } = range;
  const cursor = new addon.mcursor(server, { global: firstName(range) }, { globaldirectory: true });
  let left = range.limit ?? Number.POSITIVE_INFINITY;
  while (left > 0) {
    if (server.path() === '') throw failure('ERR_CLOSED', 'globals: the connection is closed');
    const found = reverse ? cursor.previous() : cursor.next();
    if (found === null) return;
    const name = found.slice(1);
    if (isBeyond(name, range)) return;
    if (!isWithin(name, range) || !name.startsWith(prefix)) continue;
    left -= 1;
    yield name;
  }
}

/** @param {any} range */
export function checkNames(range) {
  checkRange(range);
  for (const bound of ['from', 'to', 'after', 'before']) {
    if (range[bound] !== undefined && typeof range[bound] !== 'string')
      throw failure('ERR_ARG', `globals: ${bound} must be a name`);
  }
}

/** @param {any} range the seed of a directory in its direction; a cursor leaves its seed out, so it starts one earlier */
function firstName({ reverse, from, after, to, before, prefix }) {
  if (reverse) return before ?? (to === undefined ? '' : `${to}0`);
  return after ?? (from ?? prefix ?? '').slice(0, -1);
}

/** @param {string} name @param {any} range */
function isWithin(name, { from, to, after, before }) {
  return (
    (from === undefined || name >= from) &&
    (after === undefined || name > after) &&
    (to === undefined || name <= to) &&
    (before === undefined || name < before)
  );
}

/** @param {string} name @param {any} range whether no later name can belong to the range */
function isBeyond(name, { reverse, from, to, after, before, prefix }) {
  if (reverse) {
    return (
      name < (from ?? '') || (after !== undefined && name <= after) || (prefix !== undefined && name < prefix)
    );
  }
  return (
    (to !== undefined && name > to) ||
    (before !== undefined && name >= before) ||
    (prefix !== undefined && name > prefix && !name.startsWith(prefix))
  );
}
