// Promise: every example that the help and docs/cli.md show can be typed as it stands.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readCommands } from '../../.ci/readme.mjs';
import { COMMANDS } from '../../js/cli/commands.mjs';
import { helpOn, helpOnAll } from '../../js/cli/help.mjs';
import { PROGRAM, terminal } from './terminal.mjs';

const file = (/** @type {string} */ path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** @param {string} help @returns {string[]} its examples, without the remarks beside them */
function examples(help) {
  return [...help.matchAll(/^ {2}(caretdb .*)$/gm)].map(([, line]) => line.replace(/ {3,}.*$/, ''));
}

/** @param {string[]} commands in the order in which they can follow each other */
function typeAll(commands) {
  const shell = terminal();
  writeFileSync(join(shell.folder, 'doc.json'), '{"a":[1]}');
  copyFileSync(file('__test__/oracle/sample.zwr'), join(shell.folder, 'old.zwr'));
  for (const command of commands) {
    // What goes on until Ctrl-C gets that after some seconds, and may end as one that was interrupted does.
    const isEndless = command.startsWith('caretdb watch');
    const interrupted = isEndless ? 'timeout --preserve-status -s INT 3 ' : '';
    const script = `caretdb() { ${interrupted}"${process.execPath}" "${PROGRAM}" "$@"; }\n${command}`;
    const { status, stderr } = spawnSync('bash', ['-c', script], {
      cwd: shell.folder,
      encoding: 'utf8',
      env: { ...process.env, CARETDB_PATH: shell.store },
    });
    assert.ok(status === 0 || (isEndless && status === 130), `${command}: ${status}\n${stderr}`);
  }
}

test('the examples of the help', () => {
  const minute = examples(helpOnAll());
  assert.ok(minute.length >= 5);
  const prepare = [
    'caretdb set \'^Person(1,"name")\' Rob',
    'caretdb export -o my.jsonl',
    'caretdb import my.jsonl -d my-data',
  ];
  const each = Object.keys(COMMANDS)
    // Not last, where there is nothing left to export. What `copy` shows needs a server; it has tests of its own.
    .filter((name) => name !== 'delete' && name !== 'copy')
    .concat('delete')
    .flatMap((name) => {
      const found = examples(helpOn(name));
      assert.ok(found.length > 0, name);
      return found;
    });
  typeAll([...prepare, ...minute, ...each]);
});

test('the commands of docs/cli.md', () => {
  const commands = readCommands(readFileSync(file('docs/cli.md'), 'utf8')).map(({ text }) => text);
  assert.ok(commands.length > 15);
  typeAll(commands);
});
