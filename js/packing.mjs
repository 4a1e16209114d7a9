// What `npm pack` and `npm publish` do besides: a package for each platform whose addon is there, and a main package that
// names these, and only these, as optional dependencies. npm runs it before and after packing.
//
//   node js/packing.mjs before
//   node js/packing.mjs after
//
// The addon of this machine is built first, where there is Rust source. Those of other platforms are what lies at
// `npm/<platform>/caretdb.node`. With `CARETDB_RELEASE=1` nothing is built and every platform's addon must lie there,
// which is what the release workflow does with those that other machines have built.

import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildAddon } from './build.mjs';
import { packageOf, platforms, platformsHere } from './platforms.mjs';

/** @typedef {import('./platforms.mjs').Platform} Platform */

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifestPath = join(root, 'package.json');
const staged = join(root, 'npm');
/** The checkout's own manifest, while it is packed. */
const keptManifest = join(staged, 'package.json');

/** The files that TypeScript reads where a program uses require(), and what each is a copy of. */
const commonJsTypes = {
  'index.d.cts': 'index.d.ts',
  'js/types/glsdb.d.cts': 'js/types/glsdb.d.mts',
};

async function before() {
  after(); // whatever an earlier packing left that was broken off
  const isRelease = process.env.CARETDB_RELEASE === '1';
  if (!isRelease) {
    await buildAddon();
    stage(platformHere());
  }
  const present = platforms.filter((platform) => existsSync(join(root, stagedAddon(platform))));
  const absent = platforms.filter((platform) => !present.includes(platform));
  if (isRelease && absent.length > 0)
    throw new Error(`a release needs every platform's addon; missing: ${absent.map(stagedAddon).join(', ')}`);
  for (const platform of present) packPlatform(platform);
  for (const [copy, original] of Object.entries(commonJsTypes)) writeCommonJsTypes(copy, original);
  writeManifest(present);
}

/** Puts the checkout back as it was. */
function after() {
  // A packed manifest has no scripts. One that has some was put back already, by hand for instance.
  const isPacked = JSON.parse(readFileSync(manifestPath, 'utf8')).scripts === undefined;
  if (isPacked && existsSync(keptManifest)) renameSync(keptManifest, manifestPath);
  rmSync(keptManifest, { force: true });
  for (const copy of Object.keys(commonJsTypes)) rmSync(join(root, copy), { force: true });
}

/** @returns {Platform} the one that this machine builds for */
function platformHere() {
  const candidates = platformsHere();
  if (candidates.length === 0)
    throw new Error(`no package is made for ${process.platform} on ${process.arch}`);
  if (candidates.length === 1) return candidates[0];
  const report = /** @type {{ header?: { glibcVersionRuntime?: string } } | undefined} */ (
    process.report?.getReport()
  );
  const libc = report?.header?.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
  return /** @type {Platform} */ (candidates.find((platform) => platform.libc === libc));
}

/** @param {Platform} platform */
function stagedAddon(platform) {
  return `npm/${platform.name}/caretdb.node`;
}

/** @param {Platform} platform */
function stage(platform) {
  mkdirSync(join(staged, platform.name), { recursive: true });
  copyFileSync(join(root, 'caretdb.node'), join(root, stagedAddon(platform)));
}

/**
 * Makes the tarball of one platform's package beside that of the main one.
 *
 * @param {Platform} platform
 */
function packPlatform(platform) {
  const folder = join(staged, platform.name);
  const { version, license, repository } = JSON.parse(readFileSync(manifestPath, 'utf8'));
  const { name, os, cpu, libc } = platform;
  const about = {
    name: packageOf(platform),
    version,
    description: `The native addon of caretdb for ${name}`,
    license,
    repository,
    main: 'caretdb.node',
    files: ['caretdb.node', 'LICENSE-MIT', 'LICENSE-APACHE'],
    engines: { node: '>=20' },
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(about, null, 2)}\n`);
  writeFileSync(
    join(folder, 'README.md'),
    `# ${about.name}\n\nThe native addon of \`caretdb\` for ${name}. Install \`caretdb\`, which\nchooses this package where it fits.\n`,
  );
  for (const licence of ['LICENSE-MIT', 'LICENSE-APACHE'])
    copyFileSync(join(root, licence), join(folder, licence));
  if (process.env.npm_config_dry_run === 'true') return;
  const target = resolve(root, process.env.npm_config_pack_destination || '.');
  runNpm(['pack', '--silent', '--pack-destination', target], folder);
}

/**
 * The same declarations for CommonJS: TypeScript takes the kind of a module from the ending of its name.
 *
 * @param {string} copy
 * @param {string} original
 */
function writeCommonJsTypes(copy, original) {
  const text = readFileSync(join(root, original), 'utf8');
  const result = text.replaceAll(/(from|import\()( ?)'(\.[^']+)\.mjs'/g, "$1$2'$3.cjs'");
  writeFileSync(join(root, copy), result);
}

/**
 * The manifest of the main package: without what only a checkout uses. npm would warn whoever installs it of the scripts.
 *
 * @param {Platform[]} present
 */
function writeManifest(present) {
  const text = readFileSync(manifestPath, 'utf8');
  const { scripts, devDependencies, ...manifest } = JSON.parse(text);
  const packed = {
    ...manifest,
    files: manifest.files.filter((/** @type {string} */ file) => file !== 'caretdb.node'),
    optionalDependencies: Object.fromEntries(
      present.map((platform) => [packageOf(platform), manifest.version]),
    ),
  };
  mkdirSync(staged, { recursive: true });
  writeFileSync(keptManifest, text);
  writeFileSync(manifestPath, `${JSON.stringify(packed, null, 2)}\n`);
}

/**
 * @param {string[]} args
 * @param {string} cwd
 */
function runNpm(args, cwd) {
  // Inside `npm pack` these variables point npm at the repository instead of `cwd`.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(config_local_prefix|package_)/.test(name)),
  );
  const { status, stderr } = spawnSync('npm', args, {
    cwd,
    env,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed in ${cwd}: ${stderr}`);
}

const moment = process.argv[2];
if (moment === 'before') await before();
else if (moment === 'after') after();
else throw new Error('say `before` or `after`');
