// Promise: every code that an error of the product can have is one of the type `ErrorCode`, has its heading on the page about
// trouble, and is provoked by a test.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * @param {string} folder
 * @param {RegExp} name of the files
 * @param {RegExp} pattern whose first group is a code
 * @returns {Set<string>} the codes in all of them
 */
function codesIn(folder, name, pattern) {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  const texts = files
    .filter((file) => name.test(file) && !file.endsWith('codes.test.mjs'))
    .map((file) => readFileSync(join(root, folder, file), 'utf8'));
  return new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, code]) => code)));
}

const types = readFileSync(join(root, 'index.d.ts'), 'utf8');
const [, union] = /** @type {RegExpExecArray} */ (/^export type ErrorCode =\n(.*?);$/ms.exec(types));
const typed = [...union.matchAll(/'(ERR_\w+)'/g)].map(([, code]) => code).sort();

it('is one of the type', () => {
  assert.ok(typed.length > 15);
  const thrown = new Set([
    ...codesIn('src', /\.rs$/, /"(ERR_[A-Z_]+)"/g),
    ...codesIn('js', /^(?!www).*\.mjs$/, /failure\(\s*'(ERR_[A-Z_]+)'/g),
  ]);
  assert.deepEqual([...thrown].sort(), typed);
});

it('has its heading', () => {
  const page = readFileSync(join(root, 'docs', 'troubleshooting.md'), 'utf8');
  assert.deepEqual([...page.matchAll(/^## (ERR_\w+)$/gm)].map(([, code]) => code).sort(), typed);
});

it('is provoked by a test', () => {
  const tested = codesIn('__test__', /\.(test\.mjs|rs)$/, /\b(ERR_[A-Z_]+)\b/g);
  assert.deepEqual(
    typed.filter((code) => !tested.has(code)),
    [],
  );
});
