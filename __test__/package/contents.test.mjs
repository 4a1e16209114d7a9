// Promises of the package: it holds everything that its entries name, the licences and the servers, and none of what only a
// checkout needs.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { packageOf, platforms } from '../../js/platforms.mjs';
import { pack } from './packed.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'caretdb-contents-'));
const tarballs = pack(folder);
const packed = contents(/caretdb-\d[^/\\]*$/);

after(() => rmSync(folder, { recursive: true, force: true }));

/**
 * @param {RegExp} name
 * @returns {string[]} the files in the tarball of that name
 */
function contents(name) {
  const tarball = /** @type {string} */ (tarballs.find((path) => name.test(path)));
  const { stdout, stderr } = spawnSync('tar', ['tzf', tarball], { encoding: 'utf8' });
  assert.ok(stdout, stderr);
  return stdout
    .trim()
    .replace(/\r/g, '')
    .replace(/^package\//gm, '')
    .split('\n');
}

/**
 * @param {string | undefined} tarball
 * @param {string} file in it
 * @returns {string}
 */
function read(tarball, file) {
  assert.ok(tarball);
  return spawnSync('tar', ['xzOf', tarball, `package/${file}`], { encoding: 'utf8' }).stdout;
}

/**
 * @param {unknown} entry a part of "exports"
 * @returns {string[]} the files it names
 */
function targets(entry) {
  if (typeof entry === 'string') return [entry.replace(/^\.\//, '')];
  return Object.values(/** @type {object} */ (entry)).flatMap(targets);
}

test('the package holds the file behind each of its entries', () => {
  const missing = [...new Set(targets(manifest.exports))].filter((file) => !packed.includes(file));
  assert.deepEqual(missing, []);
});

test('the package holds the servers, the licences and the README', () => {
  const wanted = ['nws.mjs', 'bws.js', 'LICENSE-MIT', 'LICENSE-APACHE', 'README.md'];
  assert.deepEqual(
    wanted.filter((file) => !packed.includes(file)),
    [],
  );
});

test('the package holds nothing that only a checkout or one platform needs', () => {
  const allowed =
    /^(package\.json|index\.d\.c?ts|nws\.mjs|bws\.js|[A-Z-]+(\.md)?|js\/.*\.(d\.[cm]?ts|[cm]?js|html|css|svg|png|ico|json)|docs\/.*\.(md|png|svg)|examples\/.*|bench\/RESULTS\.md)$/;
  assert.deepEqual(
    packed.filter((file) => !allowed.test(file) || /^js\/(build|packing)\.mjs$/.test(file)),
    [],
  );
});

test('what the README of the package links to is in the package', () => {
  const links = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/\]\((?!https?:)([^)#]+)/g)];
  assert.ok(links.length > 20);
  assert.deepEqual(
    links.map(([, path]) => path).filter((path) => !packed.includes(path)),
    [],
  );
});

test('the package brings no scripts, which npm would warn of, and names its addons in its own version', () => {
  const about = JSON.parse(
    read(
      tarballs.find((path) => /caretdb-\d[^/\\]*$/.test(path)),
      'package.json',
    ),
  );
  assert.equal(about.scripts, undefined);
  assert.equal(about.devDependencies, undefined);
  const addons = Object.entries(about.optionalDependencies);
  assert.ok(addons.length > 0);
  for (const [name, version] of addons) {
    assert.match(name, /^caretdb-/);
    assert.equal(version, manifest.version);
  }
});

describe('a release', () => {
  const addons = Object.fromEntries(platforms.map(({ name }) => [name, `the addon of ${name}`]));

  it('has a package for each platform, which names the system that it is for', () => {
    const made = pack(join(folder, 'release'), addons);
    assert.equal(made.length, platforms.length + 1);
    for (const { name, os, cpu, libc } of platforms) {
      const tarball = made.find((path) => path.endsWith(`caretdb-${name}-${manifest.version}.tgz`));
      const about = JSON.parse(read(tarball, 'package.json'));
      assert.deepEqual([about.os, about.cpu, about.libc], [[os], [cpu], libc && [libc]]);
      assert.equal(read(tarball, 'caretdb.node'), addons[name]);
    }
    const main = made.find((path) => /caretdb-\d[^/\\]*$/.test(path));
    assert.deepEqual(
      Object.keys(JSON.parse(read(main, 'package.json')).optionalDependencies),
      platforms.map(packageOf),
    );
  });

  it('is refused where one is missing', () => {
    const { 'darwin-arm64': _, ...others } = addons;
    assert.throws(
      () => pack(join(folder, 'refused'), others),
      /a release needs .+; missing: npm\/darwin-arm64/,
    );
  });
});

test('packing leaves the checkout as it was', () => {
  const copy = join(folder, 'checkout');
  assert.equal(
    readFileSync(join(copy, 'package.json'), 'utf8'),
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  assert.ok(!existsSync(join(copy, 'index.d.cts')));
  assert.ok(!existsSync(join(copy, 'npm', 'package.json')));
});

test("this platform's package holds the addon, what chooses it, and the licences", () => {
  const files = contents(/caretdb-[a-z][^/\\]*$/).sort();
  assert.deepEqual(files, ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'caretdb.node', 'package.json']);
});

test('the addon, with all engines in it, stays below 8 MB', () => {
  assert.ok(statSync(join(root, 'caretdb.node')).size < 8e6);
});
