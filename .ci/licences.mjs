// Lists the licences of what is compiled into the addon, in docs/licences.md.
//
//   node .ci/licences.mjs          writes the page
//   node .ci/licences.mjs --check  fails where the page is not what would be written

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = fileURLToPath(new URL('../docs/licences.md', import.meta.url));

/**
 * @typedef {{ id: string, name: string, version: string, license: string | null }} Package
 * @typedef {{ id: string, deps: { pkg: string, dep_kinds: { kind: string | null }[] }[] }} Node
 */

/** @returns {Package[]} the crates that are linked into the addon on any platform, by name */
function linkedCrates() {
  const args = ['metadata', '--format-version', '1', '--locked'];
  const text = execFileSync('cargo', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
  const { packages, resolve } = JSON.parse(text);
  /** @type {Map<string, Node>} */
  const nodes = new Map(resolve.nodes.map((/** @type {Node} */ node) => [node.id, node]));
  const linked = new Set([resolve.root]);
  for (const id of linked) {
    for (const { pkg, dep_kinds } of nodes.get(id)?.deps ?? []) {
      if (dep_kinds.some(({ kind }) => kind === null)) linked.add(pkg);
    }
  }
  return packages
    .filter((/** @type {Package} */ { id }) => linked.has(id) && id !== resolve.root)
    .sort(
      (/** @type {Package} */ a, /** @type {Package} */ b) =>
        a.name.localeCompare(b.name, 'en') || a.version.localeCompare(b.version, 'en'),
    );
}

/** @param {Package[]} crates */
function pageOf(crates) {
  const rows = crates.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`);
  return `# Licences of what is in the addon

CaretDB itself is under MIT or Apache-2.0, as you like. These crates are compiled into its addon; the C library LMDB, which
lmdb-master-sys builds, is under the OpenLDAP Public License 2.8. This page is written by \`node .ci/licences.mjs\`, and
\`cargo deny\` keeps other kinds of licences out.

| crate | version | licence |
| --- | --- | --- |
${rows.join('\n')}
`;
}

const text = pageOf(linkedCrates());
if (!process.argv.includes('--check')) writeFileSync(page, text);
else if (readFileSync(page, 'utf8') !== text) {
  console.error('docs/licences.md is not up to date: run `node .ci/licences.mjs`');
  process.exitCode = 1;
}
