// The log as JSON, one object a line, for whoever collects logs: a line for each request, each fault, the start and the end. A
// request's line has its path without the query, and nothing of its header fields: there is no secret in it to begin with.

import pino from 'pino';
import { hideSecrets } from '../pool/log.mjs';

/**
 * Makes the log of one server.
 * @param {string} [secret] a token that no line may have
 * @returns {import('../pool/log.mjs').Log}
 */
export function createJsonLog(secret) {
  const options = { base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime };
  // Not pino's own way to the console, which puts a line that found the pipe busy behind the next one when the process ends.
  const logger = pino(options, process.stdout);
  const clean = (/** @type {string} */ text) => hideSecrets(text, secret);
  return {
    enabled: false,
    banner(name, version, poolSize) {
      logger.info({ name, version, poolSize }, 'starting');
    },
    line() {},
    error(text) {
      logger.error(clean(text));
    },
    say(text, fields = {}) {
      logger.info(fields, clean(text));
    },
    request({ method, url, route, status, milliseconds, ip }) {
      const mark = url.indexOf('?');
      const path = clean(mark < 0 ? url : url.slice(0, mark));
      const level = status >= 500 ? 'warn' : 'info';
      logger[level](
        { method, path, route, status, ms: Math.round(milliseconds * 1000) / 1000, ip },
        'request',
      );
    },
  };
}
