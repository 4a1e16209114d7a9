// Promises of the package: it holds everything that its entries name, the licences and the addon, and none of what only a
// checkout needs.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/**
 * @param {unknown} entry a part of "exports"
 * @returns {string[]} the files it names
 */
function targets(entry) {
  if (typeof entry === 'string') return [entry.replace(/^\.\//, '')];
  return Object.values(/** @type {object} */ (entry)).flatMap(targets);
}

/** @returns {string[]} */
function packedFiles() {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' });
  assert.ok(stdout, stderr);
  // One package as an object by name, or as the one element of an array: npm's major versions differ.
  const [packed] = Object.values(JSON.parse(stdout));
  return packed.files.map((/** @type {{ path: string }} */ file) => file.path);
}

test('the package holds the file behind each of its entries', () => {
  const packed = packedFiles();
  for (const file of new Set(targets(manifest.exports))) {
    assert.ok(existsSync(join(root, file)), `${file} does not exist`);
    assert.ok(packed.includes(file), `${file} is not packed`);
  }
});

test('the package holds the addon, the servers, the licences and the README', () => {
  const packed = packedFiles();
  const wanted = ['caretdb.node', 'nws.mjs', 'bws.js', 'LICENSE-MIT', 'LICENSE-APACHE', 'README.md'];
  assert.deepEqual(
    wanted.filter((file) => !packed.includes(file)),
    [],
  );
});

test('the package holds nothing that only a checkout needs', () => {
  const allowed =
    /^(caretdb\.node|package\.json|index\.d\.ts|nws\.mjs|bws\.js|[A-Z-]+(\.md)?|js\/.*\.(d\.[cm]?ts|[cm]?js|html|css|svg|png|ico|json))$/;
  const packed = packedFiles();
  assert.deepEqual(
    packed.filter((file) => !allowed.test(file) || file === 'js/build.mjs'),
    [],
  );
});
