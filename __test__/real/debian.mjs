// Programs of the real world that tests drive: a browser, a database server, a proxy. They come from the machine, or, on
// a CI machine of ours, from Debian's packages.

import { spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';

/**
 * Finds a program, and under `CI=true` as root installs its Debian package when it is missing.
 *
 * @param {{ package: string, programs: string[], variable?: string }} wanted `package`: the name for apt-get;
 *   `programs`: absolute paths, in which a folder may be `*`, or names on the PATH; the first that exists is taken; `variable`: an environment
 *   variable with which a developer names another one
 * @returns {{ path: string, skip: false } | { path: undefined, skip: string }} `skip` is the reason when there is none
 * @throws {Error} under `CI=true`, where a missing program would hide tests
 *
 * @example
 * const nginx = debianProgram({ package: 'nginx', programs: ['nginx', '/usr/sbin/nginx'] });
 * test('behind a proxy', { skip: nginx.skip }, () => { … nginx.path … });
 */
export function debianProgram(wanted) {
  const { package: name, variable } = wanted;
  const named = variable === undefined ? undefined : process.env[variable];
  if (named) {
    if (isExecutable(named)) return { path: named, skip: false };
    return missing(`${variable} is ${named}, which is not a program`);
  }
  const mayInstall = process.env.CI === 'true' && process.getuid?.() === 0;
  // A package that another file's test is installing has its program before it has all that the program needs.
  if (mayInstall) alone('true');
  const present = firstProgram(wanted.programs);
  if (present) return { path: present, skip: false };
  if (!mayInstall) {
    const hint = variable ? `, or name one in ${variable}` : '';
    return missing(`needs ${wanted.programs[0]}: apt-get install ${name}${hint}`);
  }
  const failure = aptInstall(name);
  const installed = failure ? undefined : firstProgram(wanted.programs);
  return installed
    ? { path: installed, skip: false }
    : missing(failure ?? `package ${name} brought no ${wanted.programs[0]}`);
}

/**
 * @param {string} reason
 * @returns {{ path: undefined, skip: string }}
 */
function missing(reason) {
  if (process.env.CI === 'true') throw new Error(reason);
  return { path: undefined, skip: reason };
}

/**
 * @param {string[]} programs
 */
function firstProgram(programs) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return programs
    .flatMap((program) =>
      isAbsolute(program) ? expand(program) : folders.map((folder) => join(folder, program)),
    )
    .find(isExecutable);
}

/**
 * A package may keep its programs in a folder named by its version or the machine.
 *
 * @param {string} path
 * @returns {string[]} the paths that it stands for, the highest version first
 */
function expand(path) {
  const star = path.indexOf('/*/');
  if (star < 0) return [path];
  const folder = path.slice(0, star) || '/';
  return subfolders(folder).flatMap((name) => expand(join(folder, name) + path.slice(star + 2)));
}

/**
 * @param {string} folder
 */
function subfolders(folder) {
  try {
    return readdirSync(folder).sort().reverse();
  } catch {
    return [];
  }
}

/**
 * @param {string} path
 */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {string} name
 * @returns {string | undefined} what went wrong
 */
function aptInstall(name) {
  console.log(`installing Debian's ${name}`);
  const install = ['install', '-y', '--no-install-recommends', name];
  // A fresh machine has no package lists, an older one has stale ones; with current ones the update is saved.
  return aptGet(...install) && (aptGet('update') ?? aptGet(...install));
}

/**
 * @param {string[]} args
 * @returns {string | undefined} what went wrong
 */
function aptGet(...args) {
  // Another apt-get on the machine is waited for; a question on the terminal would wait for ever.
  const result = alone('apt-get', '-q', '-o', 'DPkg::Lock::Timeout=300', ...args);
  if (result.error) return `apt-get: ${result.error.message}`;
  if (result.status !== 0) return `apt-get ${args.join(' ')} failed: ${result.stderr.trim()}`;
}

/**
 * Runs a program while no other test does so.
 *
 * @param {string[]} command
 */
function alone(...command) {
  return spawnSync('flock', [join(tmpdir(), 'caretdb-installing'), ...command], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
}
