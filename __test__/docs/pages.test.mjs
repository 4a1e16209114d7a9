// Promises of the documentation as a whole: no link leads nowhere, every page can be reached from the README, and every code
// that an error may have is explained.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const outside = [
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'bench/README.md',
  'examples/README.md',
  '__test__/long-runs.md',
];
const pages = ['README.md', ...outside, ...pagesIn('docs')];

/**
 * @param {string} folder
 * @returns {string[]} its Markdown files, those of deeper folders included
 */
function pagesIn(folder) {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.md')).map((name) => join(folder, name));
}

/**
 * @param {string} page
 * @returns {string[]} the files that its links name, from the root
 */
function linksOf(page) {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```.*?^```/gms, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1].replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target))
    .map((target) => normalize(join(dirname(page), target)));
}

test('every link leads to a file', () => {
  const lost = pages.flatMap((page) =>
    linksOf(page)
      .filter((target) => !existsSync(join(root, target)))
      .map((target) => `${page}: ${target}`),
  );
  assert.deepEqual(lost, []);
});

/** @param {string} page @returns {Set<string>} what a link may name behind `#`, as sites that show Markdown make it */
function anchorsOf(page) {
  const headings = readFileSync(join(root, page), 'utf8')
    .replaceAll(/^```.*?^```/gms, '')
    .matchAll(/^#+ +(.+)$/gm);
  return new Set(
    [...headings].map(([, text]) =>
      text
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test('every link into a page leads to a heading', () => {
  const written = pages.filter((page) => !page.startsWith(join('docs', 'api')));
  const lost = written.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/\]\(([\w./-]*)#([^)\s]+)\)/g)]
      .filter(
        ([, target, anchor]) => !anchorsOf(target === '' ? page : join(dirname(page), target)).has(anchor),
      )
      .map(([link]) => `${page}: ${link}`),
  );
  assert.deepEqual(lost, []);
});

test('every page can be reached from the README', () => {
  const reached = new Set(['README.md']);
  for (const page of reached) {
    if (page.endsWith('.md')) for (const target of linksOf(page)) reached.add(target);
  }
  assert.deepEqual(
    pages.filter((page) => !reached.has(page)),
    [],
  );
});

test("every error's code is explained", () => {
  const types = readFileSync(join(root, 'index.d.ts'), 'utf8');
  const codes = [...types.matchAll(/^ {2}\| '(ERR_[A-Z_]+)'/gm)].map((match) => match[1]);
  assert.ok(codes.length > 10);
  const explained = readFileSync(join(root, 'docs', 'troubleshooting.md'), 'utf8');
  assert.deepEqual(
    codes.filter((code) => !explained.includes(`\n## ${code}\n`)),
    [],
  );
});

test('the tests that durability.md names are there', () => {
  const page = readFileSync(join(root, 'docs', 'durability.md'), 'utf8');
  const [rust, files] = [/`(\w+)::(\w+)`/g, /`([\w/-]+\.test\.mjs)`/g].map((names) => [
    ...page.matchAll(names),
  ]);
  assert.ok(rust.length > 30 && files.length > 5);
  const lost = rust.filter(([, module, name]) => {
    const source = readFileSync(join(root, '__test__', 'crash', `${module}.rs`), 'utf8');
    return !source.includes(`fn ${name}()`);
  });
  const away = files.filter(
    ([, path]) => !existsSync(join(root, '__test__', path.replace(/^__test__\//, ''))),
  );
  assert.deepEqual(
    [...lost, ...away].map(([name]) => name),
    [],
  );
});

test('the rows of a table stand together', () => {
  const torn = pages.filter((page) =>
    /^\|.*\|\n\n\|(?!.*\|\n\| ?:?-)/m.test(readFileSync(join(root, page), 'utf8')),
  );
  assert.deepEqual(torn, []);
});
