// The promise: each line of docs/security.md names tests that are there.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

/** @param {string} path in the repository */
const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('every defence in docs/security.md has a test of the name that it gives', () => {
  const rows = [...read('docs/security.md').matchAll(/^\| (.+) \| (.+) \| (.+) \|$/gm)]
    .map(([, threat, , tests]) => ({ threat, tests: tests.split('; ') }))
    .filter(({ threat }) => threat !== 'threat' && !threat.startsWith('---'));
  assert.ok(rows.length > 20, `${rows.length} rows`);
  for (const { threat, tests } of rows) {
    for (const named of tests) {
      const [, file, name] = /^([\w/-]+): (.{10,})$/.exec(named) ?? assert.fail(`${threat}: ${named}`);
      const source = read(`__test__/${file.includes('/') ? file : `servers/${file}`}.test.mjs`);
      const titles = [...source.matchAll(/\b(?:test|it|describe)\(\s*(['`])(.*?)\1,/gs)].map(
        ([, , title]) => title,
      );
      assert.ok(
        titles.some((title) => title.includes(name)),
        `${threat}: no test of ${file} is named '${name}'`,
      );
    }
  }
});
