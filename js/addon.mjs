// Loads the native addon once: the one built in this folder, or the one of the package for this platform. Why none can be
// loaded is said in words, with a code.

import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { failure } from './failure.mjs';
import { packageOf, platforms, platformsHere } from './platforms.mjs';
import { VERSION } from './version.mjs';

// A bundler that makes CommonJS leaves no import.meta.url.
const here = import.meta.url ?? pathToFileURL(__filename).href;
const require = createRequire(here);

/** @returns {any} the addon's exports */
function load() {
  const built = fileURLToPath(new URL('../caretdb.node', here));
  if (existsSync(built)) return loadFrom(built, 'run `npm run build`');
  const names = platformsHere().map(packageOf);
  /** @type {unknown[]} */
  const failures = [];
  // Where both of Linux' C libraries have their package, the one for the other does not load.
  for (const path of names.map(find)) {
    try {
      if (path !== undefined) return loadFrom(path, 'install caretdb again, on the machine that runs it');
    } catch (error) {
      failures.push(error);
    }
  }
  throw failures[0] ?? missing(names);
}

/**
 * @param {string} name
 * @returns {string | undefined} where the addon of an installed package lies
 */
function find(name) {
  try {
    return require.resolve(name);
  } catch {
    return undefined;
  }
}

/**
 * @param {string} path
 * @param {string} advice
 * @returns {any}
 */
function loadFrom(path, advice) {
  let loaded;
  try {
    checkLength(path);
    loaded = require(path);
  } catch (/** @type {any} */ cause) {
    const error = failure(
      'ERR_IO',
      `CaretDB cannot start: ${path} does not load: ${advice} (${cause.message})`,
    );
    throw Object.assign(error, { cause });
  }
  const version = loaded.version?.() ?? 'another';
  if (version === VERSION) return loaded;
  throw failure(
    'ERR_UNSUPPORTED',
    `CaretDB cannot start: it has version ${VERSION} and its addon ${path} version ${version}: ${advice}`,
  );
}

/** Where an ELF file says how many section headers of which size begin where; they are the last thing in it. */
const HEADER = { length: 64, magic: 0x7f454c46, offset: 0x28, size: 0x3a, count: 0x3c };

/**
 * Linux maps a library whose end is missing as if it were whole, and kills the process where it reads on.
 *
 * @param {string} path
 */
function checkLength(path) {
  if (process.platform !== 'linux') return;
  const file = openSync(path, 'r');
  try {
    const header = new DataView(new ArrayBuffer(HEADER.length));
    if (readSync(file, header) < HEADER.length || header.getUint32(0) !== HEADER.magic)
      throw new Error('it is no shared library');
    const sections = header.getUint16(HEADER.size, true) * header.getUint16(HEADER.count, true);
    const length = Number(header.getBigUint64(HEADER.offset, true)) + sections;
    const { size } = fstatSync(file);
    if (size < length) throw new Error(`it is cut off: ${size} of ${length} bytes are there`);
  } finally {
    closeSync(file);
  }
}

/**
 * @param {string[]} names the packages that would fit
 */
function missing(names) {
  const platform = `${process.platform} on ${process.arch}`;
  const advice =
    names.length > 0
      ? `none of its packages for ${platform} is installed (${names.join(', ')}): install caretdb again without ` +
        '--omit=optional, on the machine that runs it'
      : `it has no addon for ${platform}, only for ${platforms.map(({ name }) => name).join(', ')}`;
  return failure(
    'ERR_UNSUPPORTED',
    `CaretDB cannot start: ${advice}; or build it in a checkout of its repository with \`npm install\`, which needs ` +
      'Rust and a C compiler',
  );
}

/** What `src/node` exports: the classes of the mg-dbx face, and the native face's `Global` in its bare form. */
export const addon = load();
