// The promise of everything on the pages that is no program in JavaScript: each fenced block is held by a test, which the ledger
// names, and each command in the text could be typed. A new block that no test reads is a failure here.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { readCommands } from '../../.ci/readme.mjs';
import { open } from '../../js/index.mjs';
import { terminal } from '../cli/terminal.mjs';
import { NODE, ROOT, startProgram } from '../servers/programs.mjs';
import { checkCommand } from './commands.mjs';
import { blocksOf } from './page.mjs';

const HERE = '__test__/docs/blocks.test.mjs';
const CURL = '__test__/docs/curl.test.mjs';
const PROGRAMS = '__test__/docs/programs.test.mjs';

/** @type {Record<string, string>} page and language: the test that reads these blocks */
const LEDGER = {
  'README.md sh': '.ci/readme.mjs',
  'bench/README.md sh': HERE,
  'docs/benchmark.md sh': CURL,
  'docs/cli.md sh': '__test__/cli/examples.test.mjs',
  'docs/cli.md json': HERE,
  'docs/cli.md ': HERE,
  'docs/design.md ': HERE,
  'docs/documents.md json': '__test__/documents/page.rs',
  'docs/documents.md ': '__test__/documents/page.rs',
  'docs/engines.md sh': HERE,
  'docs/http.md sh': CURL,
  'docs/indexes.md ': HERE,
  'docs/keys.md ': '__test__/key/keys.rs',
  'docs/migration.md json': '__test__/package/install.test.mjs',
  'docs/operations.md json': HERE,
  'docs/servers.md sh': HERE,
  'docs/viewer.md sh': HERE,
};

const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'bench/README.md', 'examples/README.md'],
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const folder = mkdtempSync(join(tmpdir(), 'caretdb-blocks-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** @param {string} page @param {string} language */
function blocks(page, language) {
  return blocksOf(join(ROOT, page)).filter((block) => block.language === language);
}

/** @param {string} path @param {string} text */
function write(path, text) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
  return join(folder, path);
}

it('each block is read by a test', () => {
  const found = new Set(
    pages.flatMap((page) =>
      blocksOf(join(ROOT, page)).map(({ language }) =>
        language === 'js' && /^(README|docs\/\w+)\.md$/.test(page) ? PROGRAMS : `${page} ${language}`,
      ),
    ),
  );
  assert.ok(found.delete(PROGRAMS));
  assert.deepEqual([...found].sort(), Object.keys(LEDGER).sort());
  for (const [block, keeper] of Object.entries(LEDGER)) {
    assert.ok(existsSync(join(ROOT, keeper)), keeper);
    const page = /** @type {string} */ (block.split(' ')[0]);
    assert.ok(
      readFileSync(join(ROOT, keeper), 'utf8').includes(page.replace(/^.*\//, '')),
      `${keeper} does not read ${page}`,
    );
  }
});

describe('a command in the text could be typed', () => {
  for (const page of pages) {
    const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```.*?^```/gms, '');
    const spans = [...text.matchAll(/`((?:npm|npx|node|bun|bash|cargo|caretdb) [^`]+)`/g)].map(
      (match) => match[1],
    );
    const place = page.startsWith('bench/') ? 'bench' : '';
    if (spans.length > 0)
      it(page, () => {
        for (const span of spans) checkCommand(span, place);
      });
  }
});

it('a command that is not run, and why, is one that could be typed', () => {
  const left = pages.flatMap((page) => blocks(page, 'sh').filter(({ notRun }) => notRun !== undefined));
  assert.ok(left.length >= 3);
  for (const { text } of left)
    for (const { script } of readCommands(`\`\`\`sh\n${text}\n\`\`\``)) checkCommand(script);
  for (const { text } of blocks('bench/README.md', 'sh'))
    for (const line of text.split('\n')) checkCommand(line, 'bench');
});

it('what is not there is noticed', () => {
  for (const wrong of [
    'npm run nothing',
    'npm --prefix bench run nothing',
    'node js/nothing.mjs',
    'node nws.mjs --nothing',
    'cargo test --features nothing',
    'cargo test --test nothing',
    'caretdb nothing',
    'caretdb export --nothing',
    'cd nothing && npm install',
    'nothing',
  ])
    assert.throws(() => checkCommand(wrong), Error, wrong);
});

it('the help of the servers', () => {
  for (const page of ['docs/servers.md', 'docs/viewer.md'])
    for (const { text } of blocks(page, 'sh').filter(({ text }) => !text.includes('curl'))) {
      assert.match(text, /^node (.+ --help)$/);
      const [, args] = /** @type {RegExpExecArray} */ (/^node (.+)$/.exec(text));
      const { status, stdout } = spawnSync(NODE, args.split(' '), {
        cwd: ROOT,
        encoding: 'utf8',
      });
      assert.equal(status, 0);
      assert.match(stdout, /--port/);
    }
});

it('the files of docs/operations.md: a server starts with them and has the route', async () => {
  const [{ text }] = blocks('docs/operations.md', 'json');
  const config = write('server/caretdb.json', text);
  write('server/token', 'an-example-of-a-token-that-is-long-enough\n');
  write('server/handlers/person.mjs', 'export default ({ data }) => ({ id: data.params.id });\n');
  const args = ['nws.mjs', '--config', config, '--port', '0', '--data', join(folder, 'server/store')];
  const server = await startProgram(NODE, args);
  try {
    const headers = { authorization: 'Bearer an-example-of-a-token-that-is-long-enough' };
    const answer = await fetch(`http://127.0.0.1:${server.port}/person/7`, { headers });
    assert.deepEqual(await answer.json(), { id: '7' });
  } finally {
    await server.stop();
  }
});

it('what docs/design.md says is where', () => {
  const [{ text }] = blocks('docs/design.md', '');
  const paths = text.split('\n').flatMap((line) => {
    const [first, ...others] = line.split(/ {2,}/).slice(0, -1).join(', ').split(', ');
    const place = first.endsWith('/') ? '' : dirname(first);
    return [first, ...others.map((other) => join(place, other))];
  });
  assert.ok(paths.length > 15);
  assert.deepEqual(
    paths.filter((path) => !existsSync(join(ROOT, path)) && !existsSync(join(ROOT, `${path}.rs`))),
    [],
  );
});

it('the entries of docs/indexes.md', () => {
  const [{ text }] = blocks('docs/indexes.md', '');
  const db = open(join(folder, 'indexes'));
  try {
    const person = db.global('Person');
    person.createIndex('city', ['address', 'city']);
    person.setDocument(1, { address: { city: 'Redhill' } });
    person.setDocument(2, { address: { city: 'Leeds' } });
    const stored = [...db.global('%caretdb').leaves()].map(([subscripts, value]) => {
      const node = `^%caretdb(${subscripts.map((/** @type {unknown} */ key) => JSON.stringify(key)).join(',')})`;
      return `${node} ${value === '' ? '""' : value}`;
    });
    for (const line of text.split('\n'))
      assert.ok(stored.includes(line.replace(/ {2,}/, ' ')), stored.join('\n'));
  } finally {
    db.close();
  }
});

describe('the formats of docs/cli.md', () => {
  it('a node in JSON', () => {
    const { caretdb } = terminal();
    caretdb('set', '^Person(1,"name")', 'Rob');
    const [{ text }] = blocks('docs/cli.md', 'json');
    assert.deepEqual(JSON.parse(caretdb('get', '^Person(1,"name")', '--json').out), JSON.parse(text));
  });

  const [glsdb, zwr, go] = blocks('docs/cli.md', '');
  const [, jsonl] = blocks('docs/cli.md', 'json');
  for (const [format, { text }, heading] of /** @type {const} */ ([
    ['jsonl', jsonl, 0],
    ['glsdb', glsdb, 1],
    ['zwr', zwr, 0],
    ['go', go, 0],
  ])) {
    it(`${format}: what the page shows is read, and written again as it stands`, () => {
      const { caretdb, fed } = terminal();
      const read = fed(`${text}\n`, 'import', '-', '--format', format);
      assert.equal(read.status, 0, read.err);
      const lines = text.split('\n').slice(heading);
      const { out } = caretdb('export', '--format', format);
      assert.ok(out.includes(`${lines.join('\n')}\n`), out);
    });
  }
});
