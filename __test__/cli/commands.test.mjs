// Promise: each command does what its help says, with an exit status and, where asked, JSON that a program can rely on.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { COMMANDS } from '../../js/cli/commands.mjs';
import { open } from '../../js/index.mjs';
import { terminal } from './terminal.mjs';

/** @param {import('./terminal.mjs').Terminal} terminal @param {(db: any) => void} work */
function withStore({ store }, work) {
  const db = open(store);
  try {
    work(db);
  } finally {
    db.close();
  }
}

test('set stores strings, other types, literals and documents; get reads them', () => {
  const shell = terminal();
  assert.deepEqual(shell.caretdb('set', '^Person(1,"name")', '10'), { status: 0, out: '', err: '' });
  shell.caretdb('set', '^Person(1,"age")', '-5', '--type', 'number');
  shell.caretdb('set', '^Person(1,"alive")=true');
  shell.caretdb('set', '^Person(1,"note")="He said ""hi"""_$C(10)');
  shell.caretdb('set', 'Person(2)', '{"tags":["a",{}]}', '--document');
  shell.fed('from a pipe', 'set', '^Person(3)', '-');
  shell.caretdb('set', '^Person(4)', '/wA=', '--type', 'base64');
  withStore(shell, (db) => {
    const person = db.global('Person');
    assert.deepEqual(
      ['name', 'age', 'alive', 'note'].map((key) => person.get(1, key)),
      ['10', -5, true, 'He said "hi"\n'],
    );
    assert.deepEqual(person.getDocument(2), { tags: ['a', {}] });
    assert.equal(person.get(3), 'from a pipe');
    assert.deepEqual(person.get(4), new Uint8Array([255, 0]));
  });
  assert.equal(shell.caretdb('get', '^Person(1,"age")').out, '-5\n');
  assert.deepEqual(JSON.parse(shell.caretdb('get', '^Person(1,"name")', '--json').out), {
    global: 'Person',
    subscripts: [1, 'name'],
    value: '10',
    children: false,
  });
  assert.equal(shell.caretdb('get', '^Person(2)', '--document', '--json').out, '{"tags":["a",{}]}\n');
});

test('get tells a missing value from an empty one by its exit status', () => {
  const shell = terminal();
  shell.caretdb('set', '^Person(1,"empty")', '');
  assert.deepEqual(shell.caretdb('get', '^Person(1,"empty")'), { status: 0, out: '\n', err: '' });
  const folder = shell.caretdb('get', '^Person(1)');
  assert.equal(folder.status, 1);
  assert.match(folder.err, /\^Person\(1\) has no value; it has children: caretdb list '\^Person\(1\)'/);
  assert.equal(shell.caretdb('get', '^Person(9)', '--json').status, 1);
});

test('list shows types, goes as deep as asked, and says when there is more', () => {
  const shell = terminal();
  withStore(shell, (db) => {
    const person = db.global('Person');
    person.set('root');
    person.set(1, 'name', '1');
    person.set(1, 'age', 1);
    person.set(1, 'age', 'unit', null);
    person.setDocument(2, { a: {} });
    person.set('é"', new Uint8Array([65, 255]));
  });
  assert.deepEqual(shell.caretdb('list', '^Person').out.split('\n'), [
    '^Person="root"',
    '^Person(1,"age")=1',
    '^Person(1,"age","unit")=null',
    '^Person(1,"name")="1"',
    '^Person(2,"a")=<empty object>',
    '^Person("é""")="A"_$ZCH(255)',
    '',
  ]);
  assert.deepEqual(shell.caretdb('list', '^Person(1)', '--depth', '1').out.split('\n'), [
    '^Person(1,"age")=1',
    '^Person(1,"age",*)',
    '^Person(1,"name")="1"',
    '',
  ]);
  assert.equal(shell.caretdb('list', '^Person', '--depth', '0').out, '^Person="root"\n^Person(*)\n');
  const cut = shell.caretdb('list', '^Person', '--limit', '1', '--json');
  assert.equal(cut.out, '{"global":"Person","subscripts":[],"value":"root"}\n');
  assert.match(cut.err, /there is more/);
  assert.equal(shell.caretdb('list', '^Nobody').status, 0);
});

test('globals, delete and stats', () => {
  const shell = terminal();
  shell.caretdb('set', '^Person(1)', 'x');
  shell.caretdb('set', '^Pet(1)', 'y');
  shell.caretdb('set', '^%z', 'z');
  assert.equal(shell.caretdb('globals').out, '^%z\n^Person\n^Pet\n');
  assert.deepEqual(JSON.parse(shell.caretdb('globals', '--prefix', '^Pe', '--json').out), ['Person', 'Pet']);
  assert.equal(JSON.parse(shell.caretdb('delete', '^Pet', '--json').out).deleted, true);
  assert.equal(JSON.parse(shell.caretdb('delete', '^Pet', '--json').out).deleted, false);
  assert.equal(shell.caretdb('globals').out, '^%z\n^Person\n');
  const stats = JSON.parse(shell.caretdb('stats', '--json').out);
  assert.equal(stats.path, shell.store);
  assert.ok(stats.entries >= 2);
});

test('what was mistyped is shown, with a hint, and changes nothing', () => {
  const shell = terminal();
  shell.caretdb('set', '^Person(1)', 'x');
  const unquoted = shell.caretdb('get', '^Person(1,name)');
  assert.equal(unquoted.status, 2);
  assert.match(unquoted.err, /at character 11/);
  assert.match(unquoted.err, /\n {2}\^Person\(1,name\)\n {12}\^\n/);
  assert.match(unquoted.err, /single quotes/);
  for (const [args, message] of /** @type {[string[], RegExp][]} */ ([
    [['get', '^Person(1'], /a subscript ends with/],
    [['get', '^Person("a)'], /no closing double quote/],
    [['get', '^Person("")'], /the empty string is no subscript/],
    [['get', '^Person(1)x'], /nothing more was expected/],
    [['get'], /get takes <node>/],
    [['get', '^A', '^B'], /\^B is one argument too many/],
    [['get', '^A', '--depht', '1'], /--depht/],
    [['set', '^A(1)'], /the value is missing/],
    [['set', '^A(1)', 'x', '--type', 'number'], /x is no number/],
    [['list', '^A', '--depth', 'deep'], /--depth is a whole number/],
    [['kill', '^A'], /did you mean delete\?/],
    [['exprot'], /did you mean export\?/],
    [[], /^$/],
  ])) {
    const { status, err } = shell.caretdb(...args);
    assert.equal(status, 2, args.join(' '));
    assert.match(err, message);
  }
  const refused = shell.caretdb('set', '^Bad$name(1)', 'x', '--json');
  assert.equal(refused.status, 3);
  assert.equal(JSON.parse(refused.err).error.code, 'ERR_BAD_NAME');
  assert.equal(shell.caretdb('globals').out, '^Person\n');
});

test('reading makes no store, and says how to name one', () => {
  const shell = terminal();
  for (const args of [['globals'], ['get', '^A'], ['export'], ['stats']]) {
    const { status, err } = shell.caretdb(...args);
    assert.equal(status, 3);
    assert.match(err, /there is no store at .*--data or CARETDB_PATH/);
  }
  assert.equal(existsSync(shell.store), false);
  assert.equal(shell.caretdb('set', '^A', '1', '--data', join(shell.folder, 'other')).status, 0);
  assert.equal(existsSync(shell.store), false);
});

test('help teaches each command with examples that the command takes', () => {
  const shell = terminal();
  const all = shell.caretdb('--help');
  assert.equal(all.status, 0);
  const names = [...all.out.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name]) => name);
  const known = [...Object.keys(COMMANDS), 'repl'];
  assert.deepEqual(names.slice(0, known.length), known);
  for (const name of known) {
    const help = shell.caretdb(name, '--help');
    assert.equal(help.status, 0);
    assert.match(help.out, new RegExp(`^Usage: caretdb ${name}`));
    assert.match(help.out, /--data/);
    assert.equal(shell.caretdb('help', name).out, help.out);
  }
});

test('export writes a file or the standard output, and import reads both', () => {
  const shell = terminal();
  shell.caretdb('set', '^Person(1,"n")=1');
  shell.caretdb('set', '^Pet(1)', 'y');
  assert.equal(shell.caretdb('export', '^Person(1)').out, '["Person",[1,"n"],1]\n');
  const toFile = shell.caretdb('export', '--output', 'all.zwr', '--json');
  assert.deepEqual(JSON.parse(toFile.out), { nodes: 2, renamed: {} });
  const zwr = readFileSync(join(shell.folder, 'all.zwr'), 'utf8');
  assert.match(zwr, /^CaretDB export UTF-8\n\d\d-[A-Z]{3}-\d{4} {2}\d\d:\d\d:\d\d ZWR\n/);
  shell.caretdb('delete', '^Person');
  assert.equal(shell.caretdb('import', 'all.zwr').out, '2 nodes imported\n');
  assert.equal(shell.caretdb('get', '^Person(1,"n")').out, '1\n');
  const piped = shell.fed('["Pet",[2],true]\n', 'import', '-', '--json');
  assert.deepEqual(JSON.parse(piped.out), { nodes: 1, faults: 0, shown: [], renamed: {} });
  assert.equal(shell.caretdb('list', '^Pet(2)').out, '^Pet(2)=true\n');
});

test('an import with mistakes names their lines and imports nothing, or the rest when told to keep going', () => {
  const shell = terminal();
  writeFileSync(join(shell.folder, 'bad.jsonl'), '["A",[1],1]\n["A",[""],2]\nnonsense\n["A",[4],4]\n');
  const refused = shell.caretdb('import', 'bad.jsonl');
  assert.equal(refused.status, 3);
  assert.match(refused.err, /bad\.jsonl:2: .*empty string/);
  assert.match(refused.err, /bad\.jsonl:3: not JSON/);
  assert.match(refused.err, /nothing was imported/);
  assert.equal(shell.caretdb('globals').out, '');
  const dry = shell.caretdb('import', 'bad.jsonl', '--keep-going', '--dry-run');
  assert.equal(dry.out, '2 nodes could be imported, 2 lines left out\n');
  assert.equal(shell.caretdb('globals').out, '');
  const kept = shell.caretdb('import', 'bad.jsonl', '--keep-going');
  assert.equal(kept.status, 3);
  assert.equal(kept.out, '2 nodes imported, 2 lines left out\n');
  assert.equal(shell.caretdb('list', '^A').out, '^A(1)=1\n^A(4)=4\n');
});

test('a failed export leaves no file and keeps the one that was there', () => {
  const shell = terminal();
  shell.caretdb('set', '^A(1)', 'first');
  shell.caretdb('set', '^A(2)="two"_$C(10)_"lines"');
  writeFileSync(join(shell.folder, 'a.go'), 'precious');
  const { status, err } = shell.caretdb('export', '--output', 'a.go');
  assert.equal(status, 3);
  assert.match(err, /\^A\(2\).*line end: take zwr/);
  assert.equal(readFileSync(join(shell.folder, 'a.go'), 'utf8'), 'precious');
  assert.equal(shell.caretdb('export', '--output', 'no/folder/a.jsonl').status, 3);
});
