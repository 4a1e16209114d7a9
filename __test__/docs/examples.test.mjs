// The promise of the reference, whose pages are made from the types: every example in them runs as it stands, and a line with a
// remark `// 'Rob'` behind it gives that.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'caretdb-examples-'));
after(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, 'node_modules'));
symlinkSync(root, join(folder, 'node_modules', 'caretdb'), 'dir');
writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');

/** @param {string} file @returns {{ line: number, text: string }[]} the examples in its remarks */
function examplesOf(file) {
  const source = readFileSync(join(root, file), 'utf8');
  return [...source.matchAll(/^ *\* ```js\n(.*?)^ *\* ```$/gms)].map((match) => ({
    line: source.slice(0, match.index).split('\n').length,
    text: match[1].replaceAll(/^ *\* ?/gm, ''),
  }));
}

/**
 * @param {string} example
 * @returns {string} a program: the words that the example takes for granted, and the example in a block of its own, in which it may
 *   make them anew
 */
function completed(example) {
  const onServer = /new m(global|cursor)\(db\b/.test(example);
  const body = example
    .replaceAll(/^import (\{.*\}) from ('.*');$/gm, 'const $1 = await import($2);')
    .replaceAll(/^(\w.*); +\/\/ ('.*')$/gm, 'assert.equal($1, $2);');
  return `import assert from 'node:assert/strict';
import { mcursor, mglobal, open, server } from 'caretdb';
import { glsDB } from 'caretdb/glsdb';
const native = open('./data');
const older = new server();
older.open({ path: './data' });
const db = ${onServer ? 'older' : 'native'};
const [account, global, person] = ['Account', 'Person', 'Person'].map((name) => native.global(name));
const bytes = new Uint8Array(3);
const socket = process.stdout;
const neighbour = setInterval(() => person.increment(1, 'visits', 1), 10);
{
${body}
}
clearInterval(neighbour);
`;
}

const names = readdirSync(join(root, 'js/types')).filter((name) => /\.d\.mts$/.test(name));
const files = ['index.d.ts', ...names.map((name) => `js/types/${name}`)].map((file) => ({
  file,
  examples: examplesOf(file),
}));

it('the types have examples', () => {
  assert.ok(files[0].examples.length >= 12);
});

for (const { file, examples } of files) {
  if (examples.length === 0) continue;
  describe(file, () => {
    for (const { line, text } of examples)
      it(`line ${line}`, () => {
        // Node.js 20 does not know `using`.
        const { outputText } = ts.transpileModule(completed(text), {
          compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 },
        });
        writeFileSync(join(folder, 'example.mjs'), outputText);
        const ran = spawnSync(process.execPath, ['example.mjs'], {
          cwd: folder,
          encoding: 'utf8',
          timeout: 60_000,
        });
        assert.equal(ran.status, 0, `${ran.stdout}${ran.stderr}`);
      });
  });
}
