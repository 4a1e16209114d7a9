// The declared types of `caretdb/glsdb` and the classes themselves must not drift apart: `tsc` compares them where the
// class is assigned to its declaration, and the tests see that no declared member is missing at run time.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { glsDB } from '../../js/glsdb.mjs';
import { openStore } from './store.mjs';

/** @typedef {typeof import('../../js/types/glsdb.d.mts')} Surface */

const declarations = readFileSync(new URL('../../js/types/glsdb.d.mts', import.meta.url), 'utf8');

/**
 * @param {string} header how the class or interface begins
 * @returns {string[]} the names of its members
 */
function declaredMembers(header) {
  const start = declarations.indexOf(header);
  assert.ok(start >= 0, header);
  const body = declarations.slice(start, declarations.indexOf('\n}\n', start));
  const names = [...body.matchAll(/^ {2}(?:readonly |get |set )?([$\w]+)\??[<(:]/gm)].map(
    (match) => match[1],
  );
  return [...new Set(names)].filter((name) => name !== 'constructor');
}

test('the class is what its declaration says', () => {
  /** @type {Surface['glsDB']} */
  const declared = glsDB;
  const glsdb = new declared({ legacyValues: false });
  for (const name of declaredMembers('export class glsDB {'))
    assert.ok(name in glsdb, `glsDB has no ${name}`);
});

test('a node is what its declaration says', () => {
  const { glsdb } = openStore();
  const node = new glsdb.node('Person.1');
  const declared = declaredMembers('export interface Node {');
  for (const name of declared) assert.ok(name in node, `node has no ${name}`);
  const written = Object.getOwnPropertyNames(Object.getPrototypeOf(node)).filter((name) =>
    /^[^_]|^_$/.test(name),
  );
  for (const name of written)
    assert.ok(name === 'constructor' || declared.includes(name), `${name} is not declared`);
});

test('every public member of the published glsdb is there', () => {
  const { glsdb } = openStore();
  const members =
    'open close dbx on off emit document node function forEachGlobal transaction version directory';
  for (const name of members.split(' ')) assert.ok(name in glsdb, `glsDB has no ${name}`);
  const ofNode = `name keys subscripts path key proxy rawSet value getValue delete defined exists hasChildren isLeafNode
    hasValue isArray isArrayMember increment firstChild lastChild parent nextSibling previousSibling getChild
    getChildAfter childAfter getChildBefore childBefore $ _ push at concat includes indexOf pop shift slice splice unshift
    forEachChildNode length childNodes children properties lock unlock import forEachLeafNode leafNodes document
    document_q`;
  const node = new glsdb.node('Person');
  for (const name of ofNode.split(/\s+/)) assert.ok(name in node, `node has no ${name}`);
});
