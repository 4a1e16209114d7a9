// The platforms that CaretDB has an addon for, one package each; npm chooses among them by `os`, `cpu` and `libc`.

/**
 * @typedef {{ name: string, os: NodeJS.Platform, cpu: NodeJS.Architecture, libc?: 'glibc' | 'musl', target: string }} Platform
 *   `name`: as the package's name ends; `target`: what Rust calls it
 */

/** @type {readonly Platform[]} */
export const platforms = [
  { name: 'linux-x64-gnu', os: 'linux', cpu: 'x64', libc: 'glibc', target: 'x86_64-unknown-linux-gnu' },
  { name: 'linux-x64-musl', os: 'linux', cpu: 'x64', libc: 'musl', target: 'x86_64-unknown-linux-musl' },
  { name: 'linux-arm64-gnu', os: 'linux', cpu: 'arm64', libc: 'glibc', target: 'aarch64-unknown-linux-gnu' },
  { name: 'linux-arm64-musl', os: 'linux', cpu: 'arm64', libc: 'musl', target: 'aarch64-unknown-linux-musl' },
  { name: 'darwin-arm64', os: 'darwin', cpu: 'arm64', target: 'aarch64-apple-darwin' },
  { name: 'darwin-x64', os: 'darwin', cpu: 'x64', target: 'x86_64-apple-darwin' },
  { name: 'win32-x64-msvc', os: 'win32', cpu: 'x64', target: 'x86_64-pc-windows-msvc' },
];

/**
 * @param {Platform} platform
 * @returns {string} the name of its package
 * @example
 * packageOf(platforms[0]); // 'caretdb-linux-x64-gnu'
 */
export function packageOf(platform) {
  return `caretdb-${platform.name}`;
}

/**
 * @returns {Platform[]} those that this process may be on: two where Linux may have either C library
 */
export function platformsHere() {
  return platforms.filter(({ os, cpu }) => os === process.platform && cpu === process.arch);
}
