// The requests of the document server's benchmark, and what their replies must be.

import { requestBytes } from '../http/client.mjs';

/** A document of this many bytes of JSON is the large one. */
const LARGE = 12_288;

/** Documents that a scenario adds have ids from here, so that none is there before. */
const FRESH = { small: 1e9, bare: 2e9, large: 3e9 };

/** @param {number} number @returns {string} a UUID */
export const idOf = (number) => `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;

/** @param {number} number @returns {string} about 107 bytes of JSON, 109 as an array of one */
export function smallDocument(number) {
  const digits = String(number % 1e5).padStart(5, '0');
  return `{"age":${20 + (number % 60)},"email":"u${digits}00@example.com","id":"${idOf(number)}","name":"Person ${digits}"}`;
}

const FILL = 'All work and no play makes a long document. '.repeat(300);

/** @param {number} number @returns {string} 12,288 bytes of JSON */
export function largeDocument(number) {
  const begin = `{"age":40,"email":"large@example.com","id":"${idOf(number)}","name":"Large","text":"`;
  return `${begin}${FILL.slice(0, LARGE - begin.length - 2)}"}`;
}

/** @param {Buffer} body @param {string} expected the only document of the array */
function isOnly(body, expected) {
  const found = JSON.parse(body.toString());
  return found.length === 1 && JSON.stringify(found[0]) === expected;
}

const inserted = Buffer.from('Documents inserted successfully');

/** @param {number} first @param {(number: number) => string} documentOf @param {string} path @param {Buffer} reply */
const inserting = (first, documentOf, path, reply) => ({
  /** @param {number} number */
  request: (number) => requestBytes('POST', path, `[${documentOf(first + number)}]`),
  /** @param {number} _number @param {Buffer} body */
  check: (_number, body) => body.equals(reply),
  /** What was acknowledged is there. @param {import('../http/client.mjs').Connection} connection @param {number} count */
  async after(connection, count) {
    const read = path === '/bare' ? '/bare' : '/search';
    for (let at = 0; at < count; at += Math.max(1, Math.floor(count / 100))) {
      const { body } = await connection.ask(requestBytes('GET', `${read}?id=${idOf(first + at)}`));
      if (!isOnly(body, documentOf(first + at)))
        throw new Error(`document ${at} is wrong: ${body.toString('utf8', 0, 300)}`);
    }
  },
});

/** @param {string} path @param {number} first @param {number} count @param {(number: number) => string} documentOf */
const searching = (path, first, count, documentOf) => ({
  /** @param {number} number */
  request: (number) => requestBytes('GET', `${path}?id=${idOf(first + ((number * 7919) % count))}`),
  /** @param {number} number @param {Buffer} body */
  check: (number, body) => isOnly(body, documentOf(first + ((number * 7919) % count))),
});

/** @typedef {{ documents: number }} Settings how many small documents there are before */

/** What is measured, in order. @type {Record<string, (settings: Settings) => any>} */
export const scenarios = {
  'all documents': ({ documents }) => {
    /** @type {Buffer | undefined} */
    let known;
    const request = requestBytes('GET', '/search');
    return {
      request: () => request,
      /** @param {number} _number @param {Buffer} body */
      check(_number, body) {
        // The first reply is looked at document by document, the others must be the same bytes.
        if (known !== undefined) return known.equals(body);
        const found = JSON.parse(body.toString());
        const texts = new Set(found.map((/** @type {unknown} */ document) => JSON.stringify(document)));
        const all = Array.from({ length: documents }, (_, number) => smallDocument(number));
        if (found.length !== documents || !all.every((text) => texts.has(text))) return false;
        known = Buffer.from(body);
        return true;
      },
    };
  },
  'search, no index': ({ documents }) => searching('/scan', 0, documents, smallDocument),
  'search, index': ({ documents }) => searching('/search', 0, documents, smallDocument),
  'insert, small': () => inserting(FRESH.small, smallDocument, '/insert', inserted),
  'insert, bare route': () => inserting(FRESH.bare, smallDocument, '/bare', Buffer.from('{"ok":true}')),
  // Runs behind the insert into the bare route, which put these there.
  'read, bare route': () => searching('/bare', FRESH.bare, 100, smallDocument),
  'insert, 12 KB': () => inserting(FRESH.large, largeDocument, '/insert', inserted),
  // Runs behind the insert of large documents, which put at least one for each connection there.
  'one 12 KB document': () => searching('/search', FRESH.large, 100, largeDocument),
};

/** How many documents one request brings before the measuring begins. */
const BATCH = 1000;

/** @param {import('../http/client.mjs').Connection} connection @param {Settings} settings */
export async function prepare(connection, { documents }) {
  for (let first = 0; first < documents; first += BATCH) {
    const length = Math.min(BATCH, documents - first);
    const batch = Array.from({ length }, (_, at) => smallDocument(first + at));
    const { status, body } = await connection.ask(requestBytes('POST', '/insert', `[${batch.join(',')}]`));
    if (status !== 200) throw new Error(`the documents cannot be inserted: ${status} ${body}`);
  }
}
