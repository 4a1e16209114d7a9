// Installs the published packages that were written for mg-dbx-napi, unmodified, into a folder in which `mg-dbx-napi` is
// this package.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const published = { glsdb: '0.2.12', 'qoper8-cp': '5.3.1' };

/**
 * @param {string} folder an empty one
 * @returns {string | undefined} why it could not be done
 */
export function installPublished(folder) {
  copyPackage(join(folder, 'caretdb'));
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({
      private: true,
      type: 'module',
      dependencies: { ...published, 'mg-dbx-napi': 'file:./caretdb' },
      // Both packages ask for the latest of what they need.
      overrides: { 'mg-dbx-napi': '$mg-dbx-napi', glsdb: '$glsdb' },
    }),
  );
  cpSync(fileURLToPath(new URL('fixtures', import.meta.url)), folder, { recursive: true });
  // Under `npm test` these variables point npm at the repository instead of the folder.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(config_local_prefix|package_)/.test(name)),
  );
  const ran = spawnSync(
    'npm',
    ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'],
    {
      cwd: folder,
      env,
      encoding: 'utf8',
      shell: process.platform === 'win32',
    },
  );
  if (ran.error) return ran.error.message;
  if (ran.status !== 0)
    return ran.stderr.trim().split('\n').slice(0, 3).join(' ') || `npm ended with ${ran.status}`;
  for (const [name, version] of Object.entries(published)) {
    const about = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'));
    if (about.version !== version) return `npm installed ${name} ${about.version} instead of ${version}`;
  }
  const alias = JSON.parse(readFileSync(join(folder, 'node_modules', 'mg-dbx-napi', 'package.json'), 'utf8'));
  return alias.name === 'caretdb' ? undefined : `mg-dbx-napi is ${alias.name}`;
}

/**
 * Copies what the package's database classes need. The servers' dependencies are left out: nothing here uses them.
 *
 * @param {string} target
 */
function copyPackage(target) {
  const { name, version, type, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  mkdirSync(target);
  writeFileSync(join(target, 'package.json'), JSON.stringify({ name, version, type, exports }));
  for (const part of ['js', 'index.d.ts', 'caretdb.node']) {
    cpSync(join(root, part), join(target, part), { recursive: true });
  }
}
