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

  /** @param {string[]} files */
  function count(files) {
    const runtime = currentRuntime();
    return runSuite(runtime, files, { cwd: folder, quiet: true });
  }

  it('counts tests, not suites, and not what tests print', () => {
    assert.deepEqual(count([write('mixed', mixed)]), { passed: 3, failed: 1, skipped: 1 });
  });

  it('takes a file without a test for a failure', () => {
    assert.deepEqual(count([write('empty', 'console.log("nothing here");')]), {
      passed: 0,
      failed: 1,
      skipped: 0,
    });
  });

  it('takes a file that does not load for a failure', () => {
    assert.equal(count([write('broken', 'throw new Error("at load");')]).failed, 1);
  });

  it('takes a process that dies for a failure, and goes on with the next file', () => {
    const dies =
      "import { test } from 'node:test';\ntest('dies', () => process.kill(process.pid, 'SIGKILL'));";
    const lives = "import { test } from 'node:test';\ntest('lives', () => {});";
    assert.deepEqual(count([write('dies', dies), write('lives', lives)]), {
      passed: 1,
      failed: 1,
      skipped: 0,
    });
  });

  it('takes an exit code for a failure even when every test passed', () => {
    const source =
      "import { test } from 'node:test';\ntest('passes', () => {});\nprocess.on('exit', () => { process.exitCode = 3; });";
    assert.deepEqual(count([write('exit', source)]), { passed: 1, failed: 1, skipped: 0 });
  });

  it('takes a failing hook for a failure', () => {
    const source =
      "import { after, describe, it } from 'node:test';\ndescribe('group', () => {\n  after(() => { throw new Error('hook'); });\n  it('passes', () => {});\n});";
    assert.ok(count([write('hook', source)]).failed > 0);
  });

  it('adds runtimes up', () => {
    const one = { passed: 1, failed: 2, skipped: 3 };
    assert.deepEqual(sum([one, one]), { passed: 2, failed: 4, skipped: 6 });
    assert.deepEqual(sum([]), { passed: 0, failed: 0, skipped: 0 });
  });
});
