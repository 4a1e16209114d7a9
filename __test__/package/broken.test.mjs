// Promise: an install that is not whole says so when it is imported, with a code and with what to do, and harms no process. The
// story: Linux kills a process that loads a library whose end is missing, so the length is looked at first.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { packageOf, platformsHere } from '../../js/platforms.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const whole = readFileSync(join(root, 'caretdb.node'));
const folder = mkdtempSync(join(tmpdir(), 'caretdb-broken-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const PROGRAM = `import('caretdb').then(
  ({ open }) => console.log(typeof open),
  ({ code, message }) => console.log(code, message),
);`;

/**
 * @param {string} name of the program's folder
 * @param {Record<string, Buffer | string>} addons by the name of their package
 * @param {string} [version] what the JavaScript takes itself for
 * @returns {string} what a program that imports the package prints
 */
function importWith(name, addons, version) {
  const app = join(folder, name);
  const main = join(app, 'node_modules', 'caretdb');
  cpSync(join(root, 'js'), join(main, 'js'), { recursive: true });
  cpSync(join(root, 'package.json'), join(main, 'package.json'));
  if (version !== undefined)
    writeFileSync(join(main, 'js', 'version.mjs'), `export const VERSION = '${version}';\n`);
  for (const [addon, bytes] of Object.entries(addons)) {
    const place = join(app, 'node_modules', addon);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'package.json'), JSON.stringify({ name: addon, main: 'caretdb.node' }));
    writeFileSync(join(place, 'caretdb.node'), bytes);
  }
  writeFileSync(join(app, 'program.mjs'), PROGRAM);
  const ran = spawnSync(process.execPath, ['program.mjs'], { cwd: app, encoding: 'utf8' });
  assert.equal(ran.status, 0, `${ran.signal}\n${ran.stderr}`);
  return ran.stdout.trim();
}

const names = platformsHere().map(packageOf);
const [here] = names;

describe('an install', {
  skip: here === undefined && 'SKIPPED: there is no package for this platform',
}, () => {
  it('that is whole can be imported', () => {
    assert.equal(importWith('whole', { [here]: whole }), 'function');
  });

  it('without the package of this platform', () => {
    const told = importWith('missing', {});
    assert.match(told, /^ERR_UNSUPPORTED CaretDB cannot start: none of its packages for /);
    assert.match(told, new RegExp(`${here}.*install caretdb again without --omit=optional`));
  });

  it('with an addon of another version', () => {
    const told = importWith('version', { [here]: whole }, '0.0.9');
    assert.match(
      told,
      /^ERR_UNSUPPORTED CaretDB cannot start: it has version 0\.0\.9 and its addon .+ version /,
    );
    assert.match(told, /install caretdb again/);
  });

  it('with something else in place of the addon', () => {
    for (const [at, bytes] of ['', 'not a library', 'x'.repeat(5000)].entries()) {
      const told = importWith(`text-${at}`, { [here]: bytes });
      assert.match(
        told,
        /^ERR_IO CaretDB cannot start: .+caretdb\.node does not load: install caretdb again/,
      );
    }
  });
});

const onLinux = process.platform === 'linux' && here !== undefined;
describe('an install on Linux', { skip: !onLinux && 'SKIPPED: these files are those of Linux' }, () => {
  it('with an addon whose end is missing', () => {
    for (const length of [100, 4096, whole.length >> 1, whole.length - 2000]) {
      const told = importWith(`length-${length}`, { [here]: whole.subarray(0, length) });
      assert.match(
        told,
        /^ERR_IO CaretDB cannot start: .+ does not load: install caretdb again.+it is cut off/,
      );
    }
  });

  // What the addon of the other C library looks like to the loader.
  const other = Buffer.from(whole);
  for (const name of ['libc.so.6', 'libc.musl'])
    for (let at = other.indexOf(name); at >= 0; at = other.indexOf(name, at)) other.write('libx', at);

  it('with the addon of another C library', () => {
    const told = importWith('libc', { [here]: other });
    assert.match(told, /^ERR_IO CaretDB cannot start: .+ does not load: install caretdb again.+libx/);
  });

  it('with the addons of both C libraries takes the one that loads', () => {
    assert.equal(importWith('both', { [names[0]]: other, [names[1]]: whole }), 'function');
    assert.equal(importWith('both-turned', { [names[0]]: whole, [names[1]]: other }), 'function');
  });
});

it('all that names the version names the same', () => {
  const read = (/** @type {string} */ path) => readFileSync(join(root, path), 'utf8');
  const { version } = JSON.parse(read('package.json'));
  assert.equal(/VERSION = '(.+)'/.exec(read('js/version.mjs'))?.[1], version);
  assert.equal(/^version = "(.+)"$/m.exec(read('Cargo.toml'))?.[1], version);
  assert.equal(JSON.parse(read('package-lock.json')).version, version);
});
