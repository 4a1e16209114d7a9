// The document workload of the showcase: one document stored under 1…N, then read back in the ways that a store has.
//
// A store has `write(n, document)` and `read(n)`; with `waits` true, `write` answers a promise. CaretDB's has `global`, an
// mglobal on the documents, and `cursor()`, an mcursor over their leaves.

import { isDeepStrictEqual } from 'node:util';

/**
 * The documents, and for each a comparison of all its leaves that takes next to no time beside a read.
 *
 * @type {Record<string, { document: Record<string, any>, same: (found: any) => boolean }>}
 */
export const DOCUMENTS = {
  A: { document: { hello: 'world' }, same: (found) => found?.hello === 'world' },
  B: {
    document: {
      name: 'Rob',
      address: { houseNo: 9, city: 'Redhill', county: 'Surrey' },
      telephone: '0790123456',
    },
    same: (found) =>
      found?.name === 'Rob' &&
      found.telephone === '0790123456' &&
      found.address?.houseNo === 9 &&
      found.address.city === 'Redhill' &&
      found.address.county === 'Surrey',
  },
};

/** @typedef {{ records: number, name: string }} Settings */

/** @param {Settings} settings */
const writeStep = ({ records, name }) => ({
  name: 'write',
  /** @param {any} store */
  run(store) {
    const { document } = DOCUMENTS[name];
    if (store.waits) return writeWaiting(store, records, document);
    for (let n = 1; n <= records; n++) store.write(n, document);
    return records;
  },
});

/** @param {any} store @param {number} records @param {Record<string, any>} document */
async function writeWaiting(store, records, document) {
  for (let n = 1; n <= records; n++) await store.write(n, document);
  return records;
}

/** @param {Settings} settings */
const readStep = ({ records, name }) => ({
  name: 'read',
  /** @param {any} store */
  run(store) {
    const { document, same } = DOCUMENTS[name];
    for (let n = 1; n <= records; n++) {
      const found = store.read(n);
      // Members that should not be there are looked for in one document of a hundred.
      if (!same(found) || (n % 100 === 0 && !isDeepStrictEqual(found, document))) {
        throw new Error(`document ${n} is wrong: ${JSON.stringify(found)}`);
      }
    }
    return records;
  },
});

/** @param {Settings} settings */
const nextStep = ({ records, name }) => ({
  name: 'leaves by nested next',
  needs: ['global'],
  /** @param {any} store */
  run({ global }) {
    const expected = leavesOf(DOCUMENTS[name].document);
    let leaves = 0;
    for (let n = global.next(''); n !== ''; n = global.next(n)) {
      /** @type {string[]} */
      const found = [];
      visit(global, [n], found);
      for (let at = 0; at < expected.length; at++) {
        if (found[at] !== expected[at].value)
          throw new Error(`leaf ${at + 1} of document ${n} is ${found[at]}`);
      }
      leaves += found.length;
    }
    return checkLeaves(leaves, expected.length * records);
  },
});

/**
 * As the showcase walks: what is the node, its value, its children one `next` each.
 *
 * @param {any} global
 * @param {string[]} path
 * @param {string[]} found the values of leaves, in order
 */
function visit(global, path, found) {
  const defined = global.defined(...path);
  if (defined === '1' || defined === '11') found.push(global.get(...path));
  if (defined !== '10' && defined !== '11') return;
  for (let key = global.next(...path, ''); key !== ''; key = global.next(...path, key)) {
    visit(global, [...path, key], found);
  }
}

/** @param {Settings} settings */
const cursorStep = ({ records, name }) => ({
  name: 'leaves by cursor',
  needs: ['cursor'],
  /** @param {any} store */
  run(store) {
    const expected = leavesOf(DOCUMENTS[name].document);
    const cursor = store.cursor();
    let leaves = 0;
    for (let found = cursor.next(); found !== null; found = cursor.next()) {
      const { path, value } = expected[leaves % expected.length];
      if (found.data !== value || found.key.at(-1) !== path.at(-1)) {
        throw new Error(`leaf ${leaves + 1} is ${JSON.stringify(found)}`);
      }
      leaves++;
    }
    return checkLeaves(leaves, expected.length * records);
  },
});

/** @param {number} found @param {number} expected */
function checkLeaves(found, expected) {
  if (found !== expected) throw new Error(`${found} leaves instead of ${expected}`);
  return found;
}

/**
 * The leaves of a document as the mg-dbx face shows them, in collation order.
 *
 * @param {any} document
 * @param {string[]} [path]
 * @returns {{ path: string[], value: string }[]}
 */
function leavesOf(document, path = []) {
  if (typeof document !== 'object') return [{ path, value: String(document) }];
  return Object.keys(document)
    .sort()
    .flatMap((key) => leavesOf(document[key], [...path, key]));
}

export const parts = {
  /** @param {Settings} settings */
  documents: (settings) => [
    writeStep(settings),
    readStep(settings),
    nextStep(settings),
    cursorStep(settings),
  ],
};
