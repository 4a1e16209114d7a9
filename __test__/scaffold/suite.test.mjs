// Promises of the test command: it counts what happened on each runtime, and neither a file without a test nor a process
// that dies passes unseen.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { currentRuntime } from '../runner/runtimes.mjs';
import { runSuite, sum } from '../runner/suite.mjs';

const mixed = `
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
describe('group', () => {
  it('passes', () => {});
  it('waits', async () => { await new Promise((resolve) => setTimeout(resolve, 5)); });
  it('is skipped', { skip: 'for a reason' }, () => assert.fail());
});
test('passes too', () => console.log('99 passed, 99 failed, 99 skipped'));
test('fails', () => assert.equal(1, 2));
`;

describe('the test command', () => {
  /** @type {string} */
  let folder;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'caretdb-suite-'));
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  /**
   * @param {string} name
   * @param {string} source
   */
  function write(name, source) {
    const path = join(folder, `${name}.test.mjs`);
    writeFileSync(path, source);
    return path;
  }

  /** @param {string[]} files @param {number} [atOnce] */
  function count(files, atOnce) {
    return runSuite(currentRuntime(), files, { cwd: folder, quiet: true, atOnce });
  }

  it('counts tests, not suites, and not what tests print', async () => {
    assert.deepEqual(await count([write('mixed', mixed)]), { passed: 3, failed: 1, skipped: 1 });
  });

  it('takes a file without a test for a failure', async () => {
    assert.deepEqual(await count([write('empty', 'console.log("nothing here");')]), {
      passed: 0,
      failed: 1,
      skipped: 0,
    });
  });

  it('takes a file that does not load for a failure', async () => {
    assert.equal((await count([write('broken', 'throw new Error("at load");')])).failed, 1);
  });

  it('takes a process that dies for a failure, and goes on with the next file', async () => {
    const dies =
      "import { test } from 'node:test';\ntest('dies', () => process.kill(process.pid, 'SIGKILL'));";
    const lives = "import { test } from 'node:test';\ntest('lives', () => {});";
    assert.deepEqual(await count([write('dies', dies), write('lives', lives)]), {
      passed: 1,
      failed: 1,
      skipped: 0,
    });
  });

  it('takes an exit code for a failure even when every test passed', async () => {
    const source =
      "import { test } from 'node:test';\ntest('passes', () => {});\nprocess.on('exit', () => { process.exitCode = 3; });";
    assert.deepEqual(await count([write('exit', source)]), { passed: 1, failed: 1, skipped: 0 });
  });

  it('takes a failing hook for a failure', async () => {
    const source =
      "import { after, describe, it } from 'node:test';\ndescribe('group', () => {\n  after(() => { throw new Error('hook'); });\n  it('passes', () => {});\n});";
    assert.ok((await count([write('hook', source)])).failed > 0);
  });

  it('runs two files at a time, and counts both', async () => {
    // Each waits until the other one has begun.
    const waits = (/** @type {string} */ own, /** @type {string} */ other) => `
import { existsSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
test('meets the other one', async () => {
  writeFileSync(${JSON.stringify(join(folder, own))}, '');
  while (!existsSync(${JSON.stringify(join(folder, other))})) await sleep(10);
});`;
    const files = [write('here', waits('here', 'there')), write('there', waits('there', 'here'))];
    const last = write(
      'last',
      "import { test } from 'node:test';\ntest('fails', () => { throw new Error('x'); });",
    );
    assert.deepEqual(await count([...files, last], 2), { passed: 2, failed: 1, skipped: 0 });
  });

  it('says that a program which does not start is a failure', async () => {
    for (const kind of /** @type {const} */ (['node', 'bun'])) {
      const runtime = { kind, path: join(folder, 'no-such-runtime') };
      const counts = await runSuite(runtime, [write('any', '')], { cwd: folder, quiet: true });
      assert.deepEqual(counts, { passed: 0, failed: 1, skipped: 0 });
    }
  });

  it('adds runtimes up', () => {
    const one = { passed: 1, failed: 2, skipped: 3 };
    assert.deepEqual(sum([one, one]), { passed: 2, failed: 4, skipped: 6 });
    assert.deepEqual(sum([]), { passed: 0, failed: 0, skipped: 0 });
  });
});
