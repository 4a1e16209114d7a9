// Promise: at the prompt a person types nodes as in M and commands as in the shell, Tab offers what is there, and a script
// of lines tells by its exit status whether all of them were done.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { complete } from '../../js/cli/complete.mjs';
import { words } from '../../js/cli/words.mjs';
import { temporaryStore } from '../exchange/store.mjs';
import { terminal } from './terminal.mjs';

test('a script of nodes and commands', () => {
  const shell = terminal();
  const script = `^Person(1,"full name")="Rob Smith"
^Person(1,"full name")
set ^Person(1,"a b") "two words"
^Person(1)

delete ^Person(1,"full name")
list ^Person --depth 2
exit
^Never(1)=1
`;
  const { status, out, err } = shell.fed(script, 'repl');
  assert.equal(err, '');
  assert.equal(status, 0);
  assert.deepEqual(out.split('\n'), [
    'Rob Smith',
    '^Person(1,"a b")="two words"',
    '^Person(1,"full name")="Rob Smith"',
    '^Person(1,"a b")="two words"',
    '',
  ]);
  assert.equal(shell.caretdb('globals').out, '^Person\n');
});

test('a line that fails is explained, the others are done, and the status tells', () => {
  const shell = terminal();
  const { status, out, err } = shell.fed('nonsense\n^A(1\n^A(1)=1\n^A(1)\nhelp get\n', 'repl');
  assert.equal(status, 3);
  assert.match(err, /nonsense is no command/);
  assert.match(err, /a subscript ends with/);
  assert.match(out, /^1\nUsage: caretdb get/);
});

test('with --json each answer is JSON', () => {
  const shell = terminal();
  const { out } = shell.fed('^A(1)=1\n^A(1)\nglobals\n', 'repl', '--json');
  assert.deepEqual(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
    [
      { global: 'A', subscripts: [1], value: 1, children: false },
      { global: 'A', subscripts: [1], value: 1, children: false },
      ['A'],
    ],
  );
});

test('Tab completes commands, globals and subscripts', () => {
  const { db } = temporaryStore();
  db.global('Person').set(1, 'address', 'city', 'Redhill');
  db.global('Person').set(12, 'x');
  db.global('Person').set('a,"b(', 'x');
  db.global('Pet').set('x');
  assert.deepEqual(complete(db, 'ex'), [['export ', 'exit '], 'ex']);
  assert.deepEqual(complete(db, '^Pe'), [['^Person(', '^Pet'], '^Pe']);
  assert.deepEqual(complete(db, 'get ^Person('), [
    ['^Person(1,', '^Person(12)', '^Person("a,""b(")'],
    '^Person(',
  ]);
  assert.deepEqual(complete(db, '^Person(1'), [['^Person(1,', '^Person(12)'], '^Person(1']);
  assert.deepEqual(complete(db, '^Person("a,""'), [['^Person("a,""b(")'], '^Person("a,""']);
  assert.deepEqual(complete(db, '^Person(1,"add'), [['^Person(1,"address",'], '^Person(1,"add']);
  assert.deepEqual(complete(db, '^Person(1,"address",'), [
    ['^Person(1,"address","city")'],
    '^Person(1,"address",',
  ]);
  for (const line of ['^Person(1,zzz', '^Person(1,zzz,', '^9', '^Nobody(', '^Person("",']) {
    assert.deepEqual(complete(db, line)[0], []);
  }
});

test('a line is split into words around nodes and quotes', () => {
  assert.deepEqual(words('set ^A("x y", 2) "v w"  --type string'), [
    'set',
    '^A("x y", 2)',
    'v w',
    '--type',
    'string',
  ]);
  assert.deepEqual(words("  set ^A 'it' "), ['set', '^A', 'it']);
  assert.deepEqual(words(''), []);
});
