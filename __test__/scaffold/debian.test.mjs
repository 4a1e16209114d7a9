// Promises about the programs that tests drive: the machine's own is taken first, a named one is believed only when it
// runs, and a missing one is a reason to skip, but a failure in CI.

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { debianProgram } from '../real/debian.mjs';

describe('finding a program', () => {
  /** @type {string} */
  let folder;
  const ci = process.env.CI;
  const variable = 'CARETDB_TEST_PROGRAM';

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'caretdb-program-'));
    writeFileSync(join(folder, 'present'), '#!/bin/sh\n');
    chmodSync(join(folder, 'present'), 0o755);
    writeFileSync(join(folder, 'text'), '');
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  beforeEach(() => {
    process.env.CI = 'false';
  });

  afterEach(() => {
    if (ci === undefined) delete process.env.CI;
    else process.env.CI = ci;
    delete process.env[variable];
  });

  it('takes the first that exists', () => {
    const programs = [join(folder, 'absent'), join(folder, 'present')];
    assert.deepEqual(debianProgram({ package: 'any', programs }), {
      path: join(folder, 'present'),
      skip: false,
    });
  });

  it('prefers the one that the developer names', () => {
    process.env[variable] = join(folder, 'present');
    const found = debianProgram({ package: 'any', programs: ['sh'], variable });
    assert.equal(found.path, join(folder, 'present'));
  });

  it('says so when the named one is no program', () => {
    process.env[variable] = join(folder, 'text');
    const found = debianProgram({ package: 'any', programs: ['sh'], variable });
    assert.equal(found.path, undefined);
    assert.match(String(found.skip), /CARETDB_TEST_PROGRAM is .*text/);
  });

  it('gives a reason to skip when there is none', () => {
    const found = debianProgram({ package: 'any', programs: [join(folder, 'absent')], variable });
    assert.match(String(found.skip), /apt-get install any, or name one in CARETDB_TEST_PROGRAM/);
  });

  it('fails in CI instead of skipping', () => {
    process.env.CI = 'true';
    process.env[variable] = join(folder, 'text');
    assert.throws(() => debianProgram({ package: 'any', programs: ['sh'], variable }), /is not a program/);
  });
});
