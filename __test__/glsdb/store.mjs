// A store of its own for a test file, removed when the file is done.

import { after } from 'node:test';
import { glsDB } from '../../js/glsdb.mjs';
import { chosenStore } from '../mg-dbx/store.mjs';

/**
 * @param {import('../../js/types/glsdb.d.mts').GlsDBOptions} [options]
 * @returns {{ glsdb: import('../../js/types/glsdb.d.mts').glsDB, store: import('caretdb').OpenOptions }} an open glsDB,
 *   and what opens its store again
 */
export function openStore(options) {
  const chosen = chosenStore();
  /** @type {import('caretdb').OpenOptions} */
  const store = { ...chosen, ...(chosen.engine === 'lmdb' ? { durability: 'process' } : {}) };
  /** @type {import('../../js/types/glsdb.d.mts').glsDB} */
  const glsdb = new glsDB(options);
  glsdb.open({ type: 'CaretDB', ...store });
  after(() => {
    glsdb.close();
  });
  return { glsdb, store };
}

/** @returns {any} the person of the tutorials */
export function rob() {
  return {
    firstName: 'Rob',
    lastName: 'Tweed',
    title: 'Dr',
    address: {
      houseNumber: 5,
      streetName: 'High Street',
      city: 'Redhill',
      county: 'Surrey',
      postCode: 'RH1 2AB',
      country: 'UK',
    },
    telephone: { mobile: '07654 987654', landline: '01737 123456' },
    favouriteColours: ['blue', 'green'],
  };
}

/**
 * Collects what a visiting method passes to its callback.
 *
 * @template T
 * @param {(callback: (found: any) => void) => void} visit
 * @param {(found: any) => T} pick
 * @returns {T[]}
 */
export function collect(visit, pick) {
  /** @type {T[]} */
  const found = [];
  visit((each) => {
    found.push(pick(each));
  });
  return found;
}
