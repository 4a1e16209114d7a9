// The indexes of a collection: what there are, making one, dropping one.

import { addon } from '../../addon.mjs';
import { asOne } from '../../as-one.mjs';
import { RequestError } from '../../http/errors.mjs';

/**
 * @typedef {object} Index
 * @property {string} name
 * @property {(string | number)[]} path
 * @property {boolean} unique
 *
 * @typedef {import('./collection.mjs').Collection} Collection
 */

/** How many indexes one native call lists. */
const PAGE = 100;
const PLACE = 2;

/**
 * @param {any} db
 * @param {Collection} collection
 * @returns {Index[]} in the order of their names
 */
export function indexesOf(db, collection) {
  const definitions = new addon.Global(db, '%caretdb', 'index', collection.name);
  const found = [];
  /** @type {string | undefined} */
  let behind;
  for (;;) {
    /** @type {any[]} */
    const page = definitions.scan(
      undefined,
      1,
      PAGE,
      false,
      behind,
      behind === undefined ? 0 : PLACE,
      undefined,
      0,
      true,
      undefined,
    );
    for (let at = 0; at < page.length; at += 3) {
      // A child without a value leads to the indexes of a node further down.
      if (page[at + 1] === undefined) continue;
      const { path, unique } = JSON.parse(page[at + 1]);
      found.push({ name: page[at], path, unique });
    }
    if (page.length < PAGE * 3) return found;
    behind = page[page.length - 1];
  }
}

/** @param {(string | number)[]} path @returns {string} as a query names it */
export function spelt(path) {
  return path.join('.');
}

/**
 * @param {string | (string | number)[]} path text with dots between the names of members
 * @returns {(string | number)[]}
 */
function pathOf(path) {
  return Array.isArray(path)
    ? path
    : path.split('.').map((step) => (/^\d{1,15}$/.test(step) ? Number(step) : step));
}

/**
 * @param {any} db
 * @param {Collection} collection
 * @param {{name?: string, path: string | (string | number)[], unique?: boolean}} wanted
 */
export function createIndex(db, collection, wanted) {
  const path = pathOf(wanted.path);
  const index = { name: wanted.name ?? spelt(path), path, unique: wanted.unique === true };
  return asOne(db, () => {
    const known = indexesOf(db, collection).find(({ name }) => name === index.name);
    if (known !== undefined) {
      if (JSON.stringify(known.path) !== JSON.stringify(path) || known.unique !== index.unique) {
        throw new RequestError(409, `There is another index '${index.name}': ${JSON.stringify(known)}`);
      }
      return { statusCode: 200, index };
    }
    collection.global.addIndex(index.name, JSON.stringify(path), index.unique);
    return { statusCode: 201, index };
  });
}

/**
 * @param {any} db
 * @param {Collection} collection
 * @param {string} name
 */
export function dropIndex(db, collection, name) {
  asOne(db, () => {
    if (!indexesOf(db, collection).some((index) => index.name === name)) {
      throw new RequestError(404, `There is no index '${name}' in ${collection.name}`);
    }
    collection.global.removeIndex(name);
  });
}
