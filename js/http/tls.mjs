// The certificate and the key of a server that speaks https: read and tried before it listens, so that what is wrong with them
// is said in words.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { readOptionFile, UsageError } from './options.mjs';

/** @typedef {{cert: string, key: string}} Tls both PEM */

/**
 * @param {string} problem in front of what the system says
 * @param {() => T} make
 * @returns {T}
 * @throws {UsageError}
 * @template T
 */
function named(problem, make) {
  try {
    return make();
  } catch (error) {
    throw new UsageError(`${problem} (${/** @type {Error} */ (error).message})`);
  }
}

/** @param {X509Certificate} certificate @param {string} label @param {number} now milliseconds since 1970 */
function checkTime({ validFrom, validTo }, label, now) {
  // A server with one that no caller accepts serves nobody, and looks as if it did.
  if (now > Date.parse(validTo))
    throw new UsageError(`${label}: the certificate was valid until ${validTo}; renew it`);
  if (now < Date.parse(validFrom))
    throw new UsageError(`${label}: the certificate is not valid before ${validFrom}; is the clock right?`);
}

/**
 * Reads the two files.
 * @param {{path: string, label: string} | undefined} cert
 * @param {{path: string, label: string} | undefined} key
 * @returns {Tls | undefined} undefined where neither is given
 * @throws {UsageError}
 */
export function readTls(cert, key) {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    const missing = cert === undefined ? '--tls-cert' : '--tls-key';
    throw new UsageError(`${(cert ?? key)?.label} needs ${missing} beside it`);
  }
  const tls = { cert: readOptionFile(cert.path, cert.label), key: readOptionFile(key.path, key.label) };
  const certificate = named(`${cert.label} is not a certificate in PEM form`, () => {
    if (!tls.cert.includes('-----BEGIN')) throw new Error('no line -----BEGIN CERTIFICATE-----');
    return new X509Certificate(tls.cert);
  });
  const privateKey = named(`${key.label} is not an unencrypted key in PEM form`, () =>
    createPrivateKey(tls.key),
  );
  if (!certificate.checkPrivateKey(privateKey))
    throw new UsageError(`${key.label}: the key does not belong to the certificate`);
  checkTime(certificate, cert.label, Date.now());
  named(`${cert.label} and ${key.label} cannot be served`, () => createSecureContext(tls));
  return tls;
}
