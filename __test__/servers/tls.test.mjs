// The promise of --tls-cert and --tls-key: files that no caller could be served with are refused before the server listens, and the
// message says which of the two is wrong, and how.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { UsageError } from '../../js/http/options.mjs';
import { readTls } from '../../js/http/tls.mjs';
import { debianProgram } from '../real/debian.mjs';
import { temporaryFolder } from './programs.mjs';

const openssl = debianProgram({ package: 'openssl', programs: ['openssl', '/usr/bin/openssl'] });

describe('files for https', { skip: openssl.skip }, () => {
  const folder = temporaryFolder();
  after(() => folder.remove());
  /** @param {string} name */
  const at = (name) => join(folder.path, name);

  before(() => {
    const run = (/** @type {string[]} */ ...args) =>
      execFileSync(String(openssl.path), args, { cwd: folder.path, stdio: 'ignore' });
    const subject = ['-subj', '/CN=localhost', '-days', '9'];
    run('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'rsa.key', '-out', 'rsa.crt', ...subject);
    run('req', '-x509', '-newkey', 'ed25519', '-nodes', '-keyout', 'ed.key', '-out', 'ed.crt', ...subject);
    run('req', '-new', '-key', 'rsa.key', '-subj', '/CN=localhost', '-out', 'request');
    run('x509', '-req', '-in', 'request', '-signkey', 'rsa.key', '-days', '-1', '-out', 'old.crt');
    run('rsa', '-aes256', '-passout', 'pass:secret', '-in', 'rsa.key', '-out', 'locked.key');
    run('x509', '-in', 'rsa.crt', '-outform', 'DER', '-out', 'der.crt');
    writeFileSync(at('empty'), '');
    writeFileSync(at('cut.crt'), readFileSync(at('rsa.crt'), 'utf8').slice(0, 500));
    writeFileSync(at('chain.crt'), readFileSync(at('rsa.crt'), 'utf8') + readFileSync(at('ed.crt'), 'utf8'));
  });

  /** @param {string} cert @param {string} key */
  const read = (cert, key) =>
    readTls({ path: at(cert), label: '--tls-cert' }, { path: at(key), label: '--tls-key' });

  for (const [cert, key] of [
    ['rsa.crt', 'rsa.key'],
    ['ed.crt', 'ed.key'],
    ['chain.crt', 'rsa.key'],
  ]) {
    test(`${cert} and ${key} are taken`, () => {
      assert.equal(read(cert, key)?.cert, readFileSync(at(cert), 'utf8'));
    });
  }

  for (const [cert, key, words] of /** @type {[string, string, RegExp][]} */ ([
    ['rsa.crt', 'ed.key', /^--tls-key: the key does not belong to the certificate$/],
    ['ed.crt', 'rsa.key', /^--tls-key: the key does not belong to the certificate$/],
    ['old.crt', 'rsa.key', /^--tls-cert: the certificate was valid until .*; renew it$/],
    ['rsa.crt', 'locked.key', /^--tls-key is not an unencrypted key/],
    ['rsa.crt', 'rsa.crt', /^--tls-key is not an unencrypted key/],
    ['rsa.crt', 'empty', /^--tls-key is not an unencrypted key/],
    ['rsa.key', 'rsa.key', /^--tls-cert is not a certificate in PEM form/],
    ['der.crt', 'rsa.key', /^--tls-cert is not a certificate in PEM form/],
    ['cut.crt', 'rsa.key', /^--tls-cert is not a certificate in PEM form/],
    ['empty', 'rsa.key', /^--tls-cert is not a certificate in PEM form/],
    ['none.crt', 'rsa.key', /^--tls-cert: there is no file/],
  ])) {
    test(`${cert} with ${key} is refused`, () => {
      assert.throws(
        () => read(cert, key),
        (/** @type {any} */ error) => error instanceof UsageError && words.test(error.message),
      );
    });
  }
});
