// Promises of the README check: it finds every command a reader would type, and knows which of them keep running.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf, readCommands, serverOf } from '../../.ci/readme.mjs';

const readme = `# A product

\`\`\`sh
npm install && npm start
\`\`\`

\`\`\`js
console.log('not a command');
\`\`\`

\`\`\`sh
# a remark
cd bench
npm install
node set.mjs --records 10 \\
  --quick
\`\`\`

<!-- not run: it needs a machine of its own -->
\`\`\`sh
npm run torture
\`\`\`
`;

test('each line of each sh block is a command, with its line number', () => {
  const commands = readCommands(readme);
  assert.deepEqual(
    commands.map(({ line, text }) => [line, text]),
    [
      [4, 'npm install && npm start'],
      [14, 'npm install'],
      [16, 'node set.mjs --records 10 --quick'],
      [21, 'npm run torture'],
    ],
  );
});

test('a change of folder holds until the end of its block', () => {
  const scripts = readCommands(readme).map(({ script }) => script);
  assert.equal(scripts[1], 'cd bench\nnpm install');
  assert.equal(scripts[3], 'npm run torture');
});

test('a block is passed over only with a reason', () => {
  assert.deepEqual(
    readCommands(readme).map(({ notRun }) => notRun),
    [undefined, undefined, undefined, 'it needs a machine of its own'],
  );
  const bare = readme.replace(': it needs a machine of its own', '');
  assert.equal(readCommands(bare)[3].notRun, undefined);
});

test('a block that does not end is an error', () => {
  assert.throws(() => readCommands('```sh\nnpm test\n'), /README\.md:1/);
});

test('servers are known by their commands, with their ports', () => {
  assert.deepEqual(serverOf('npm install && npm start'), { port: 3000 });
  assert.deepEqual(serverOf('node nws.mjs true 4 --port 8080'), { port: 8080 });
  assert.deepEqual(serverOf('bun bws.js true'), { port: 3000 });
  assert.equal(serverOf('node nws.mjs --help'), undefined);
  assert.equal(serverOf('npm install && npm test'), undefined);
});

test('a command that talks to a server gets one', () => {
  assert.deepEqual(clientOf('curl http://127.0.0.1:3000/local'), { port: 3000 });
  assert.equal(clientOf('node example.mjs'), undefined);
});

test('a remark behind a command is no part of it', () => {
  const [command] = readCommands('```sh\nnode nws.mjs true   # see also --help\n```\n');
  assert.equal(command.text, 'node nws.mjs true');
  assert.deepEqual(serverOf(command.text), { port: 3000 });
});
