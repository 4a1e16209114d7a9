// Packs the repository as `npm pack` does and installs the tarballs into an empty folder, as a user without Rust would.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Makes the tarballs in a copy of the checkout without its Rust source: packing writes into the folder that it packs, and
 * other tests read this one.
 *
 * @param {string} folder an empty one
 * @param {Record<string, string>} [addons] what lies where the release workflow puts the addons of all platforms, by platform
 * @returns {string[]} the paths of the tarballs: the main package and that of this platform, or of all
 */
export function pack(folder, addons) {
  const copy = join(folder, 'checkout');
  mkdirSync(copy, { recursive: true });
  const parts = ['package.json', 'caretdb.node', 'index.d.ts', 'js', 'nws.mjs', 'bws.js', 'docs', 'examples'];
  const texts = ['CHANGELOG.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md', 'bench/RESULTS.md'];
  const licences = ['LICENSE-MIT', 'LICENSE-APACHE'];
  for (const part of [...parts, ...texts, ...licences])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  for (const [platform, addon] of Object.entries(addons ?? {})) {
    mkdirSync(join(copy, 'npm', platform), { recursive: true });
    writeFileSync(join(copy, 'npm', platform, 'caretdb.node'), addon);
  }
  const env = { ...cleanEnvironment(), ...(addons && { CARETDB_RELEASE: '1' }) };
  run('npm', ['pack', '--silent', '--pack-destination', folder], copy, env);
  return readdirSync(folder)
    .filter((name) => name.endsWith('.tgz'))
    .map((name) => join(folder, name));
}

/**
 * @param {string} folder an empty one
 * @param {string[]} tarballs
 * @param {'npm' | 'bun'} tool what installs them
 * @param {Record<string, string>} [more] further dependencies, by name
 * @returns {string | undefined} why it could not be done
 */
export function install(folder, tarballs, tool, more = {}) {
  const dependencies = Object.fromEntries(
    tarballs.map((tarball) => [basename(tarball).replace(/-\d.*/, ''), `file:${tarball}`]),
  );
  const about = { private: true, type: 'module', dependencies: { ...dependencies, ...more } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(about));
  const env = environmentWithoutRust(folder);
  const args =
    tool === 'npm' ? ['install', '--no-audit', '--no-fund', '--no-package-lock'] : ['install', '--no-save'];
  const ran = spawnSync(tool === 'npm' ? 'npm' : process.execPath, args, {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  if (ran.error) return ran.error.message;
  return ran.status === 0 ? undefined : `${ran.stdout}\n${ran.stderr}`.trim();
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 * @returns {string} what it printed
 * @throws {Error} with all of its output when it fails
 */
export function run(program, args, cwd, env) {
  const ran = spawnSync(program, args, { cwd, env, encoding: 'utf8', timeout: 300_000 });
  if (ran.status !== 0) {
    const ending = ran.error?.message ?? ran.status ?? ran.signal;
    throw new Error(`${program} ${args.join(' ')} ended with ${ending}\n${ran.stdout}\n${ran.stderr}`);
  }
  return ran.stdout;
}

/**
 * The environment of a machine that has a runtime and a shell, and no Rust.
 *
 * @param {string} folder one that is kept as long as the environment is used
 * @returns {NodeJS.ProcessEnv}
 */
export function environmentWithoutRust(folder) {
  const programs = join(folder, '.programs');
  if (!existsSync(programs)) {
    mkdirSync(programs);
    for (const name of ['sh', 'env', 'npm', 'node']) {
      const path = onPath(name);
      if (path !== undefined) symlinkSync(path, join(programs, name));
    }
  }
  const { CARGO, CARGO_HOME, ...rest } = cleanEnvironment();
  return {
    ...rest,
    HOME: folder,
    PATH: [dirname(process.execPath), programs].filter(hasNoCargo).join(delimiter),
  };
}

/** @param {string} folder */
function hasNoCargo(folder) {
  return !existsSync(join(folder, 'cargo'));
}

/** @param {string} name */
function onPath(name) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Under `npm test` these variables point npm at the repository instead of the folder it stands in. */
function cleanEnvironment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(config_local_prefix|package_|lifecycle_)/.test(name),
    ),
  );
}
