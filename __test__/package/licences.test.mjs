// Promise: what an install brings along may be used wherever CaretDB may.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const permissive = new Set([
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  '0BSD',
]);

test('every dependency of the package has a permissive licence', () => {
  const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'));
  const installed = Object.entries(lock.packages).filter(([path, about]) => path !== '' && !about.dev);
  assert.ok(installed.length > 5);
  assert.deepEqual(
    installed
      .filter(([, { license }]) => !permissive.has(license))
      .map(([path, { license }]) => `${path}: ${license}`),
    [],
  );
});
