// Builds the native addon of a repository checkout: compiles the crate and puts the result at `caretdb.node` in the
// repository root, where js/addon.mjs looks for it. npm runs it as the checkout's own `prepare` script; an installed
// package brings its addon along and has no Rust source, so there it does nothing.

import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * A build that could not be done, with a message that says to a person what is missing and how to get it.
 */
export class BuildError extends Error {
  /** @override */
  name = 'BuildError';
}

/**
 * Compiles the crate in release mode and installs its shared library as `caretdb.node`. Cargo decides what has to be
 * compiled again, so a second call with nothing changed takes a moment. A changed addon is renamed into place, never
 * written over: a running process keeps the file that it has mapped.
 *
 * @param {{ root?: string, env?: NodeJS.ProcessEnv, quiet?: boolean }} [options] `root`: the folder of Cargo.toml,
 *   default this repository; `env`: the environment for cargo (`CARGO_TARGET_DIR` and cargo's other variables count);
 *   `quiet`: keep cargo's progress off the terminal
 * @returns {Promise<'built' | 'current' | 'no source'>} whether `caretdb.node` is new, was up to date, or the folder
 *   has no Rust source
 * @throws {BuildError} no cargo, no C compiler, or a compilation that failed
 *
 * @example
 * const outcome = await buildAddon();
 * console.log(`addon: ${outcome}`);
 */
export async function buildAddon({ root = repository, env = process.env, quiet = false } = {}) {
  if (!existsSync(join(root, 'Cargo.toml'))) return 'no source';
  const cargo = findCargo(root, env);
  requireCCompiler(env);
  const library = await compile(cargo, root, env, quiet);
  return install(library, join(root, 'caretdb.node')) ? 'built' : 'current';
}

/**
 * @param {string} root
 * @param {NodeJS.ProcessEnv} env
 * @returns {string} a cargo that starts and is new enough
 */
function findCargo(root, env) {
  const needed = /^rust-version *= *"([\d.]+)"/m.exec(readFileSync(join(root, 'Cargo.toml'), 'utf8'))?.[1];
  const rust = needed ? `Rust ${needed} or newer` : 'Rust';
  // A shell opened before Rust was installed does not have ~/.cargo/bin on its PATH yet.
  const installed = join(env.CARGO_HOME ?? join(env.HOME ?? homedir(), '.cargo'), 'bin', 'cargo');
  let found = '';
  for (const candidate of [env.CARGO, 'cargo', installed]) {
    const version = candidate && /\d+\.\d+\.\d+/.exec(versionOf(candidate, env))?.[0];
    if (!version) continue;
    if (!needed || isAtLeast(version, needed)) return candidate;
    found ||= version;
  }
  // Distributions package Rust too, but mostly an older one.
  throw new BuildError(
    found
      ? `CaretDB is built from source here, and that needs ${rust}: this is ${found}.\n` +
          'Run `rustup update`, or install Rust from https://rustup.rs, then run `npm run build`.'
      : `CaretDB is built from source here, and that needs ${rust}: no \`cargo\` was found.\n` +
          'Install Rust from https://rustup.rs, then run `npm run build` in a new terminal.',
  );
}

/**
 * @param {string} version
 * @param {string} needed
 */
function isAtLeast(version, needed) {
  return version.localeCompare(needed, 'en', { numeric: true }) >= 0;
}

/**
 * Cargo finds out about a missing C compiler late, in the middle of a build, and says it in terms of a linker.
 *
 * @param {NodeJS.ProcessEnv} env
 */
function requireCCompiler(env) {
  if (process.platform === 'win32') return; // Visual Studio's compiler is found through the registry, not the PATH
  for (const candidate of [env.CC, 'cc', 'gcc', 'clang']) {
    // CC may carry arguments or a wrapper: `ccache gcc`
    const program = candidate?.trim().split(/\s+/)[0];
    if (program && versionOf(program, env)) return;
  }
  const advice =
    process.platform === 'darwin'
      ? 'Install it with `xcode-select --install`,'
      : 'Install it with `apt-get install build-essential` (Debian, Ubuntu), `dnf install gcc` (Fedora), `apk add build-base` (Alpine),';
  throw new BuildError(
    [
      'CaretDB is built from source here, and that needs a C compiler: neither `cc` nor `gcc` nor `clang` was found.',
      advice,
      'then run `npm run build`.',
    ].join('\n'),
  );
}

/**
 * @param {string} program
 * @param {NodeJS.ProcessEnv} env
 * @returns {string} what it answers to `--version`, or nothing when it does not start
 */
function versionOf(program, env) {
  const { status, stdout } = spawnSync(program, ['--version'], { env, encoding: 'utf8' });
  return status === 0 ? stdout : '';
}

/**
 * @param {string} cargo
 * @param {string} root
 * @param {NodeJS.ProcessEnv} env
 * @param {boolean} quiet
 * @returns {Promise<string>} the path of the shared library
 */
async function compile(cargo, root, env, quiet) {
  // Cargo's own report names the file, wherever the target folder or a cross-compilation target put it. Progress and
  // diagnostics still go to the terminal as text.
  const args = ['build', '--release', '--locked', '--message-format=json-render-diagnostics'];
  const path = [env.PATH, dirname(cargo)].filter((part) => part && part !== '.').join(delimiter);
  const child = spawn(cargo, args, {
    cwd: root,
    env: { ...env, PATH: path },
    stdio: ['ignore', 'pipe', quiet ? 'ignore' : 'inherit'],
  });
  let report = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    report += text;
  });
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) {
    throw new BuildError(
      `\`cargo ${args.slice(0, 3).join(' ')}\` failed in ${root}; the reason is printed above.`,
    );
  }
  const library = report
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(
      (message) => message.reason === 'compiler-artifact' && message.target.crate_types.includes('cdylib'),
    )
    .flatMap((message) => message.filenames)
    .findLast((name) => /\.(so|dylib|dll)$/.test(name));
  if (!library)
    throw new BuildError(`The crate in ${root} built no shared library: its crate-type has no "cdylib".`);
  return library;
}

/**
 * @param {string} library
 * @param {string} addon
 * @returns {boolean} whether the addon had to be replaced
 */
function install(library, addon) {
  if (existsSync(addon) && readFileSync(addon).equals(readFileSync(library))) return false;
  const temporary = `${addon}.${process.pid}.tmp`;
  try {
    copyFileSync(library, temporary);
    renameSync(temporary, addon);
  } finally {
    rmSync(temporary, { force: true });
  }
  return true;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    await buildAddon();
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(`\n${error.message}\n`);
    process.exitCode = 1;
  }
}
