// GET /vendor/json5.mjs: the json5 package that the server itself uses, for the pages. They load nothing from elsewhere, and what the
// benchmark page calls JSON5 is what the benchmark takes as JSON5.

import { readFile } from 'node:fs/promises';

const MODULE = new URL(import.meta.resolve('json5/dist/index.min.mjs'));

/** @returns {Promise<{ http_response: { headers: Record<string, string>, body: Uint8Array } }>} */
export async function answerJson5() {
  const headers = {
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=3600',
  };
  return { http_response: { headers, body: await readFile(MODULE) } };
}
