// Promises of the build script: a checkout gets its addon by one command, a second build leaves the file alone, and a
// machine without Rust or a C compiler is told so in words.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { BuildError, buildAddon } from '../../js/build.mjs';

const cargoMissing =
  spawnSync('cargo', ['--version']).status === 0
    ? false
    : 'needs cargo, and this machine has a ready addon instead';

describe('the build script', () => {
  /** @type {string} */
  let folder;
  /** @type {string} */
  let crate;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'caretdb-build-'));
    crate = join(folder, 'crate');
    mkdirSync(join(crate, 'src'), { recursive: true });
    const manifest = [
      '[package]',
      'name = "tiny"',
      'edition = "2024"',
      '[lib]',
      'crate-type = ["cdylib"]',
      '[workspace]',
    ];
    writeFileSync(join(crate, 'Cargo.toml'), `${manifest.join('\n')}\n`);
    writeFileSync(
      join(crate, 'Cargo.lock'),
      'version = 4\n\n[[package]]\nname = "tiny"\nversion = "0.0.0"\n',
    );
    writeSource(1);
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  /** @param {number} answer */
  function writeSource(answer) {
    const body = `#[unsafe(no_mangle)]\npub extern "C" fn answer() -> u32 {\n    ${answer}\n}\n`;
    writeFileSync(join(crate, 'src', 'lib.rs'), body);
  }

  /** @returns {NodeJS.ProcessEnv} an environment in which cargo works in the test's own folder */
  function environment() {
    return { ...process.env, CARGO_TARGET_DIR: join(folder, 'elsewhere') };
  }

  it('builds into the target folder that CARGO_TARGET_DIR names', { skip: cargoMissing }, async () => {
    assert.equal(await buildAddon({ root: crate, env: environment(), quiet: true }), 'built');
    assert.ok(existsSync(join(folder, 'elsewhere', 'release')));
    assert.equal(existsSync(join(crate, 'target')), false);
    assert.ok(statSync(join(crate, 'caretdb.node')).size > 0);
  });

  it('leaves a current addon alone', { skip: cargoMissing }, async () => {
    const addon = join(crate, 'caretdb.node');
    const first = statSync(addon);
    assert.equal(await buildAddon({ root: crate, env: environment(), quiet: true }), 'current');
    assert.equal(statSync(addon).ino, first.ino);
    assert.equal(statSync(addon).mtimeMs, first.mtimeMs);
  });

  it('replaces the file rather than writing into it', { skip: cargoMissing }, async () => {
    const addon = join(crate, 'caretdb.node');
    const first = statSync(addon).ino;
    writeSource(2);
    assert.equal(await buildAddon({ root: crate, env: environment(), quiet: true }), 'built');
    assert.notEqual(statSync(addon).ino, first);
    assert.deepEqual(
      readdirSync(crate).filter((name) => name.endsWith('.tmp')),
      [],
    );
  });

  it('reports source that does not compile', { skip: cargoMissing }, async () => {
    writeFileSync(join(crate, 'src', 'lib.rs'), 'not rust');
    await assert.rejects(buildAddon({ root: crate, env: environment(), quiet: true }), (error) => {
      assert.ok(error instanceof BuildError);
      assert.match(error.message, /failed in .*crate/);
      return true;
    });
    writeSource(2);
  });

  it('says where to get Rust when there is no cargo', async () => {
    const env = { HOME: folder, PATH: folder };
    await assert.rejects(
      buildAddon({ root: crate, env, quiet: true }),
      /no `cargo` was found[\s\S]*rustup\.rs/,
    );
  });

  it('says which version is needed when cargo is too old', { skip: cargoMissing }, async () => {
    const demanding = join(folder, 'demanding');
    mkdirSync(demanding);
    writeFileSync(join(demanding, 'Cargo.toml'), '[package]\nname = "tiny"\nrust-version = "999.1"\n');
    await assert.rejects(
      buildAddon({ root: demanding, env: environment(), quiet: true }),
      /needs Rust 999\.1 or newer: this is \d+\.\d+[\s\S]*rustup update/,
    );
  });

  it('says which package brings a C compiler when there is none', { skip: cargoMissing }, async () => {
    if (process.platform === 'win32') return;
    // A PATH with cargo and nothing else; rustup's cargo also needs to know where its toolchains are.
    const only = join(folder, 'only-cargo');
    mkdirSync(only);
    const found = (process.env.PATH ?? '').split(delimiter).find((entry) => existsSync(join(entry, 'cargo')));
    symlinkSync(join(found ?? '', 'cargo'), join(only, 'cargo'));
    const env = { HOME: homedir(), RUSTUP_HOME: process.env.RUSTUP_HOME, PATH: only };
    await assert.rejects(
      buildAddon({ root: crate, env, quiet: true }),
      /needs a C compiler[\s\S]*Install it with/,
    );
  });

  it('does nothing where there is no Rust source, as in an installed package', async () => {
    const empty = join(folder, 'installed');
    mkdirSync(empty);
    assert.equal(await buildAddon({ root: empty, env: {}, quiet: true }), 'no source');
    assert.deepEqual(readdirSync(empty), []);
  });
});
