// Static files for Bun.serve, with the validators and the caching that @fastify/static gives them on Fastify.

import { stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What the pages consist of; anything else is sent as bytes. @type {Record<string, string>} */
const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/vnd.microsoft.icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.woff2': 'font/woff2',
};

/**
 * @typedef {object} Page
 * @property {string} file its path
 * @property {Record<string, string>} headers
 * @property {boolean} fresh whether the caller has it already
 */

/**
 * Where a path leads, within the folder and never out of it.
 * @param {string} root an absolute path
 * @param {string} pathname the path of the URL, percent-encoded
 * @returns {string | undefined}
 */
function locate(root, pathname) {
  let decoded;
  try {
    decoded = decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
  // A name that starts with a dot is no page: that covers '..' too.
  if (
    decoded.includes('\0') ||
    decoded.includes('\\') ||
    decoded.split('/').some((part) => part.startsWith('.'))
  ) {
    return undefined;
  }
  const file = join(root, decoded.endsWith('/') ? `${decoded}index.html` : decoded);
  return file.startsWith(root.endsWith(sep) ? root : root + sep) ? file : undefined;
}

/**
 * @param {Record<string, string>} headers of the request
 * @param {string} etag a weak one
 * @param {number} modified milliseconds
 * @returns {boolean} whether the caller has it already
 */
function isFresh({ 'if-none-match': noneMatch = '', 'if-modified-since': since = '' }, etag, modified) {
  if (noneMatch === '') return Date.parse(since) >= Math.trunc(modified / 1000) * 1000;
  const tags = noneMatch.split(',').map((tag) => tag.trim());
  return tags.some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag.slice(2));
}

/**
 * Makes the look-up of pages in a folder.
 * @param {string} folder a path or a file URL
 * @returns {(pathname: string, headers: Record<string, string>) => Promise<Page | undefined>}
 */
export function createPages(folder) {
  const root = folder.startsWith('file:') ? fileURLToPath(folder) : folder;
  return async (pathname, headers) => {
    const file = locate(root, pathname);
    if (file === undefined) return undefined;
    const found = await stat(file).catch(() => undefined);
    if (!found?.isFile()) return undefined;
    const etag = `W/"${found.size.toString(16)}-${Math.trunc(found.mtimeMs).toString(16)}"`;
    return {
      file,
      fresh: isFresh(headers, etag, found.mtimeMs),
      headers: {
        'content-type': TYPES[extname(file).toLowerCase()] ?? 'application/octet-stream',
        'cache-control': 'public, max-age=0',
        'last-modified': found.mtime.toUTCString(),
        etag,
      },
    };
  };
}
