// The requests of the static pages' benchmark: files of the browser page, compared byte by byte.

import { readFileSync } from 'node:fs';
import { requestBytes } from '../http/client.mjs';

/** @param {string} path @param {string} file below js/www/ */
const page = (path, file) => () => {
  const request = requestBytes('GET', path);
  const expected = readFileSync(new URL(`../../js/www/${file}`, import.meta.url));
  return {
    request: () => request,
    /** @param {number} _number @param {Buffer} body */
    check: (_number, body) => body.equals(expected),
  };
};

export const scenarios = {
  'index.html': page('/', 'index.html'),
  'main.mjs': page('/main.mjs', 'main.mjs'),
  'caret.svg': page('/caret.svg', 'caret.svg'),
};
