// Schemathesis, which makes requests up from an OpenAPI document: the one on the PATH, else, on a CI machine of ours, one from PyPI in
// a virtual environment of the git-ignored `.tools/` folder.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSION = '4.32.5';
const folder = fileURLToPath(new URL(`../../.tools/schemathesis-${VERSION}`, import.meta.url));

/**
 * Finds schemathesis.
 *
 * @returns {{ path: string, skip: false } | { path: undefined, skip: string }} `skip` is the reason when there is none
 * @throws {Error} under `CI=true`, where a missing one would hide tests
 *
 * @example
 * const schemathesis = findSchemathesis();
 * test('finds no server error', { skip: schemathesis.skip }, () => { … schemathesis.path … });
 */
export function findSchemathesis() {
  for (const path of [join(folder, 'bin', 'schemathesis'), 'schemathesis']) {
    if (spawnSync(path, ['--version']).status === 0) return { path, skip: false };
  }
  if (process.env.CI !== 'true') {
    return { path: undefined, skip: 'needs schemathesis: pip install schemathesis' };
  }
  const problem = install();
  if (problem !== undefined) throw new Error(problem);
  return { path: join(folder, 'bin', 'schemathesis'), skip: false };
}

/** @returns {string | undefined} what went wrong */
function install() {
  const steps = [
    ['python3', '-m', 'venv', folder],
    [join(folder, 'bin', 'pip'), 'install', '--quiet', `schemathesis==${VERSION}`],
  ];
  for (const [program, ...args] of steps) {
    const { status, error, stderr } = spawnSync(program, args, { encoding: 'utf8' });
    if (status !== 0) return `${program} ${args.join(' ')} failed: ${error?.message ?? stderr}`;
  }
  return existsSync(join(folder, 'bin', 'schemathesis')) ? undefined : 'PyPI brought no schemathesis';
}
