// The browser for tests that do what a person does on the pages.

import { debianProgram } from './debian.mjs';

/**
 * Finds Chromium: the one named in `CHROMIUM_PATH`, else Debian's, which is installed under `CI=true` as root.
 *
 * @returns {ReturnType<typeof debianProgram>} `skip` is the reason when there is none
 *
 * @example
 * const chromium = findChromium();
 * test('the page runs the benchmark', { skip: chromium.skip }, async () => {
 *   const browser = await launch({ executablePath: chromium.path, args: ['--no-sandbox'] });
 * });
 */
export function findChromium() {
  return debianProgram({
    package: 'chromium',
    programs: ['/usr/bin/chromium', 'chromium', 'chromium-browser'],
    variable: 'CHROMIUM_PATH',
  });
}
