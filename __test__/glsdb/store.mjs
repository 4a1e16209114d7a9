// A store of its own for a test file, removed when the file is done.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { glsDB } from '../../js/glsdb.mjs';

/**
 * @param {import('../../js/types/glsdb.d.mts').GlsDBOptions} [options]
 * @returns {{ glsdb: import('../../js/types/glsdb.d.mts').glsDB, path: string }} an open glsDB and its folder
 */
export function openStore(options) {
  const path = mkdtempSync(join(tmpdir(), 'caretdb-glsdb-'));
  /** @type {import('../../js/types/glsdb.d.mts').glsDB} */
  const glsdb = new glsDB(options);
  glsdb.open({ type: 'CaretDB', path, durability: 'process' });
  after(() => {
    glsdb.close();
    rmSync(path, { recursive: true, force: true });
  });
  return { glsdb, path };
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
