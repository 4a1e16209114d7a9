// Loads the native addon once: the one built in this folder, or the one of the package for this platform.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const built = fileURLToPath(new URL('../caretdb.node', import.meta.url));

/** @returns {string} the C library, where a platform has more than one */
function libc() {
  if (process.platform !== 'linux') return '';
  const report = /** @type {{ header?: { glibcVersionRuntime?: string } }} */ (
    process.report?.getReport() ?? {}
  );
  return report.header?.glibcVersionRuntime === undefined ? '-musl' : '-gnu';
}

/** @returns {any} the addon's exports */
function load() {
  if (existsSync(built)) return require(built);
  const platform = `caretdb-${process.platform}-${process.arch}${libc()}`;
  try {
    return require(platform);
  } catch (cause) {
    throw new Error(
      `CaretDB has no addon for this platform (${platform}): install that package, or build it in a checkout with ` +
        '`npm install`, which needs Rust and a C compiler',
      { cause },
    );
  }
}

/** What `src/node` exports: the classes of the mg-dbx face, and the native face's `Global` in its bare form. */
export const addon = load();
