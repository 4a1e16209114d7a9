// The JavaScript runtimes that the suite runs on besides the one at hand: pinned versions, installed on demand from the
// npm registry into the git-ignored `.tools/` folder.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const tools = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), '.tools');

/**
 * @typedef {{ kind: 'node' | 'bun', title: string, path: string, skip: false }} Runtime
 * @typedef {{ kind: 'node' | 'bun', title: string, path: undefined, skip: string }} MissingRuntime
 */

/** The version of each runtime that can be installed. */
export const versions = { node: '24.22.3', bun: '1.4.5' };

/**
 * The runtime that executes this program.
 *
 * @returns {Runtime}
 */
export function currentRuntime() {
  const bun = process.versions.bun;
  return {
    kind: bun ? 'bun' : 'node',
    title: bun ? `Bun ${bun}` : `Node.js ${process.versions.node}`,
    path: process.execPath,
    skip: false,
  };
}

/**
 * Finds a pinned runtime, and installs it when it is not there yet.
 *
 * @param {'node' | 'bun'} kind
 * @returns {Runtime | MissingRuntime} with `skip` saying why when it cannot be had
 *
 * @example
 * const bun = pinnedRuntime('bun');
 * test('the same on Bun', { skip: bun.skip }, () => { … bun.path … });
 */
export function pinnedRuntime(kind) {
  const version = versions[kind];
  const title = `${kind === 'bun' ? 'Bun' : 'Node.js'} ${version}`;
  const folder = join(tools, `${kind}-${version}`);
  const name = packageName(kind);
  const path = join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? `${kind}.exe` : kind);
  const problem = existsSync(path) ? undefined : install(`${name}@${version}`, folder);
  if (problem) return { kind, title, path: undefined, skip: problem };
  const started = spawnSync(path, ['--version'], { encoding: 'utf8' });
  if (started.status !== 0 || started.stdout.trim().replace(/^v/, '') !== version) {
    return { kind, title, path: undefined, skip: `${path} does not start on this machine` };
  }
  return { kind, title, path, skip: false };
}

/**
 * The registry's packages `node` and `bun` fetch their programs in install scripts; the packages for one platform, which
 * they choose from, hold the program itself.
 *
 * @param {'node' | 'bun'} kind
 */
function packageName(kind) {
  const platform = process.platform === 'win32' && kind === 'bun' ? 'windows' : process.platform;
  if (kind === 'node') return `node-${platform === 'win32' ? 'win' : platform}-${process.arch}`;
  const arch = process.arch === 'arm64' ? 'aarch64' : process.arch;
  return `@oven/bun-${platform}-${arch}${usesMusl() ? '-musl' : ''}`;
}

function usesMusl() {
  if (process.platform !== 'linux') return false;
  const report = /** @type {{ header?: { glibcVersionRuntime?: string } }} */ (
    process.report?.getReport() ?? {}
  );
  return report.header !== undefined && report.header.glibcVersionRuntime === undefined;
}

/**
 * @param {string} specifier
 * @param {string} folder
 * @returns {string | undefined} what went wrong
 */
function install(specifier, folder) {
  // Built aside and renamed, so that an interrupted download is never taken for a runtime.
  const partial = `${folder}.${process.pid}.tmp`;
  console.log(`installing ${specifier} into .tools/`);
  try {
    mkdirSync(partial, { recursive: true });
    writeFileSync(join(partial, 'package.json'), '{"private":true}\n');
    const failure = runNpm(
      ['install', '--ignore-scripts', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', specifier],
      partial,
    );
    if (failure) return `npm could not install ${specifier}: ${failure}`;
    if (!existsSync(folder)) renameSync(partial, folder);
  } catch (error) {
    return `${specifier} could not be installed: ${error instanceof Error ? error.message : error}`;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/**
 * @param {string[]} args
 * @param {string} cwd
 * @returns {string | undefined} the first line of npm's complaint
 */
function runNpm(args, cwd) {
  // Under `npm test` these variables point npm at the repository instead of `cwd`.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(config_local_prefix|package_)/.test(name)),
  );
  const result = spawnSync('npm', args, { cwd, env, encoding: 'utf8', shell: process.platform === 'win32' });
  if (result.error) return result.error.message;
  if (result.status !== 0)
    return result.stderr.trim().split('\n').slice(0, 2).join(' ') || `status ${result.status}`;
}
