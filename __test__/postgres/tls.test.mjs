// What each `sslmode` claims is what it does: who asks for a verified server is connected to no other one.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { open } from 'caretdb';
import { withCode } from '../mg-dbx/store.mjs';
import { skip, startServer, user } from '../real/postgres.mjs';

const openssl = spawnSync('openssl', ['version']).status === 0;

/** @param {string} folder an authority, and a certificate of it for localhost */
function makeCertificates(folder) {
  const run = (/** @type {string[]} */ ...args) => {
    const done = spawnSync('openssl', args, { cwd: folder, encoding: 'utf8' });
    assert.equal(done.status, 0, done.stderr);
  };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const authority = ['-addext', 'basicConstraints=critical,CA:TRUE', '-days', '2'];
  for (const name of ['authority', 'stranger']) {
    run(
      'req',
      '-x509',
      ...key,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
      '-subj',
      `/CN=${name}`,
      ...authority,
    );
  }
  run('req', ...key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost');
  writeFileSync(join(folder, 'extensions'), 'subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n');
  const signed = ['-CA', 'authority.pem', '-CAkey', 'authority.key', '-CAcreateserial', '-days', '2'];
  run('x509', '-req', '-in', 'server.csr', ...signed, '-extfile', 'extensions', '-out', 'server.pem');
}

test('sslmode', { skip: skip || (openssl ? false : 'needs openssl') }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'caretdb-tls-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  makeCertificates(folder);
  chmodSync(folder, 0o755);
  const [key, certificate] = [join(folder, 'server.key'), join(folder, 'server.pem')];
  chmodSync(key, 0o600);
  if (user !== undefined) chownSync(key, user.uid, user.gid);
  const secured = await startServer({
    fsync: 'off',
    ssl: 'on',
    ssl_key_file: key,
    ssl_cert_file: certificate,
  });
  after(() => secured.stop());
  const plain = await startServer();
  after(() => plain.stop());

  /** @param {number} port @param {string} host @param {string} query */
  const ask = (port, host, query) => {
    const db = open({
      engine: 'postgres',
      url: `postgres://caretdb@${host}:${port}/postgres?${query}`,
      timeout: 5,
    });
    db.global('x').set(1, 'stored');
    const value = db.global('x').get(1);
    db.close();
    return value;
  };
  const root = (/** @type {string} */ name) => `sslrootcert=${encodeURIComponent(join(folder, name))}`;
  const refused = (/** @type {number} */ port, /** @type {string} */ host, /** @type {string} */ query) =>
    assert.throws(() => ask(port, host, query), withCode('ERR_IO'), `${host} ${query}`);

  for (const mode of ['disable', 'prefer', 'require'])
    assert.equal(ask(secured.port, '127.0.0.1', `sslmode=${mode}`), 'stored');
  assert.equal(ask(secured.port, 'localhost', `sslmode=verify-full&${root('authority.pem')}`), 'stored');
  assert.equal(ask(secured.port, '127.0.0.1', `sslmode=verify-ca&${root('authority.pem')}`), 'stored');
  refused(secured.port, '127.0.0.1', `sslmode=verify-full&${root('authority.pem')}`);
  refused(secured.port, 'localhost', `sslmode=verify-full&${root('stranger.pem')}`);
  refused(secured.port, 'localhost', `sslmode=verify-ca&${root('stranger.pem')}`);
  refused(secured.port, 'localhost', 'sslmode=verify-full');
  for (const mode of ['disable', 'prefer'])
    assert.equal(ask(plain.port, '127.0.0.1', `sslmode=${mode}`), 'stored');
  for (const mode of ['require', 'verify-ca', 'verify-full'])
    refused(
      plain.port,
      'localhost',
      `sslmode=${mode}&${mode === 'require' ? 'application_name=x' : root('authority.pem')}`,
    );
});
