// Starts nws.mjs and bws.js: reads the command line, says where the server listens, and ends it in an orderly way.

import { traceOf } from '../failure.mjs';
import { server as Connection } from '../mg-dbx.mjs';
import { isUrl } from '../place.mjs';
import { VERSION } from '../version.mjs';
import { isLoopback } from './guard.mjs';
import { createJsonLog } from './json-log.mjs';
import { helpOf, readOptionFile, readOptions, UsageError } from './options.mjs';
import { ownRoutes } from './own-routes.mjs';
import { PAGES, showcaseRoutes } from './routes.mjs';
import { storeOptions } from './service.mjs';
import { readTls } from './tls.mjs';
import { canBeSent, HOW_TO_MAKE_A_TOKEN, isStrongEnough } from './token.mjs';

/**
 * @typedef {object} Running a server that listens
 * @property {string} url where
 * @property {() => Promise<void>} close stops accepting, finishes what is in flight, ends the workers
 *
 * @typedef {(options: import('./service.mjs').ServiceOptions, port: number, host: string,
 *   tls: import('./tls.mjs').Tls | undefined) => Promise<Running>} Listen
 */

/**
 * The token, from whichever of the two options is closer to the caller.
 * @param {import('./options.mjs').Options} options
 * @returns {string | undefined}
 */
function readToken({ values, said }) {
  const { token, tokenFile } = said;
  if (token !== undefined && token.rank === tokenFile?.rank)
    throw new UsageError(`give either ${token.label} or ${tokenFile.label}, not both`);
  if (token === undefined && tokenFile === undefined) return undefined;
  if (tokenFile === undefined || (token !== undefined && token.rank < tokenFile.rank)) {
    if (canBeSent(values.token)) return values.token;
    throw new UsageError(
      `${token?.label} must be one word of letters, digits and signs; ${HOW_TO_MAKE_A_TOKEN}`,
    );
  }
  const text = readOptionFile(values.tokenFile, tokenFile.label).trim();
  if (canBeSent(text)) return text;
  throw new UsageError(
    `${tokenFile.label}: ${values.tokenFile} must have one token, a word of letters, digits and signs, and nothing else; ${HOW_TO_MAKE_A_TOKEN}`,
  );
}

/** @param {string} host @param {string | undefined} token */
function checkExposure(host, token) {
  if (isLoopback(host)) return;
  if (token === undefined)
    throw new UsageError(
      `others can reach ${host}: give a token that they must have with --token-file, or listen on 127.0.0.1; ${HOW_TO_MAKE_A_TOKEN}`,
    );
  if (!isStrongEnough(token))
    throw new UsageError(
      `others can reach ${host}, and this token can be guessed: use a random one of 16 characters or more; ${HOW_TO_MAKE_A_TOKEN}`,
    );
}

/**
 * @param {string[]} args
 * @param {string} serverName
 */
function readCommandLine(args, serverName) {
  const read = readOptions(args, process.env);
  const { values, said } = read;
  const { host = '127.0.0.1', port = 3000, edit = false, log = 'off' } = values;
  const token = readToken(read);
  checkExposure(host, token);
  const file = (/** @type {string} */ key) =>
    values[key] === undefined ? undefined : { path: values[key], label: said[key].label };
  const tls = readTls(file('tlsCert'), file('tlsKey'));
  const store = storeOptions({ store: values.data === undefined ? {} : { path: values.data } });
  if (values.engine !== undefined) store.engine = values.engine;
  if (values.durability !== undefined) store.durability = values.durability;
  const { batchLimit, attachmentLimit } = values;
  const routes = showcaseRoutes(serverName, { edit, batchLimit, attachmentLimit });
  /** @type {import('./service.mjs').ServiceOptions} */
  const options = {
    mode: values.mode,
    logging: log === 'json' ? 'json' : log === 'text',
    poolSize: values.pool,
    maxQueue: values.queue,
    handlerTimeout: values.handlerTimeout,
    bodyLimit: values.bodyLimit,
    workerHandlersByRoute: [...routes, ...ownRoutes(values, routes)],
    store,
    operations: true,
    secure: tls !== undefined || values.secure === true,
    allowedHosts: [...(values.allowHost ?? []), ...(isLoopback(host) ? [host] : [])],
    token,
    pages: PAGES,
  };
  return { help: read.help, port, host, tls, options };
}

/** @param {any} error @param {string} host @param {number} port @returns {string} why it does not listen */
function whyNot(error, host, port) {
  if (error?.code === 'EADDRINUSE')
    return `port ${port} on ${host} is in use; choose another one with --port`;
  if (error?.code === 'EACCES')
    return `port ${port} on ${host} is not for this user; choose one above 1023 with --port`;
  if (error?.code === 'EADDRNOTAVAIL' || error?.code === 'ENOTFOUND')
    return `${host} is no address of this machine`;
  return String(error?.message ?? error);
}

/**
 * Opens the store for as long as the server runs: what is wrong with it shows before anybody asks, and workers that come and
 * go find it open.
 * @param {Record<string, unknown>} options
 */
function holdStore(options) {
  const connection = new Connection();
  connection.open({ type: 'CaretDB', ...options });
  return connection;
}

/**
 * @param {Running} running
 * @param {{close: () => unknown}} store
 * @param {import('../pool/log.mjs').Log | undefined} log
 */
function closeOnSignal(running, store, log) {
  let closing = false;
  const close = async (/** @type {string} */ signal) => {
    // Whoever asks twice does not want to wait.
    if (closing) process.exit(130);
    closing = true;
    log?.say?.('stopping: what is in flight is finished first', { signal });
    try {
      await running.close();
      store.close();
      log?.say?.('stopped');
      process.exit(0);
    } catch (error) {
      console.error(traceOf(error));
      process.exit(1);
    }
  };
  process.on('SIGINT', close);
  process.on('SIGTERM', close);
}

/**
 * Runs a server from the command line until a signal ends it.
 * @param {string} serverName 'Fastify' or 'Bun.serve'
 * @param {string} command how it is called, for the help
 * @param {Listen} listen
 * @returns {Promise<void>}
 */
export async function start(serverName, command, listen) {
  let line;
  try {
    line = readCommandLine(process.argv.slice(2), serverName);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\nTry: ${command} --help`);
    process.exit(1);
  }
  if (line.help) {
    process.stdout.write(helpOf(command));
    return;
  }
  const { port, host, tls, options } = line;
  let store;
  let running;
  try {
    store = holdStore(options.store ?? {});
    running = await listen(options, port, host, tls);
  } catch (error) {
    console.error(whyNot(error, host, port));
    process.exit(1);
  }
  const log = options.logging === 'json' ? createJsonLog(options.token) : undefined;
  closeOnSignal(running, store, log);
  const access = options.token === undefined ? '' : '; requests need the token';
  // Without the password that a URL may hold.
  const place = store.namespace();
  const text = `CaretDB ${VERSION} listens on ${running.url}; store ${isUrl(options.store?.path) ? '' : 'folder '}${place}${access}`;
  if (log?.say === undefined) console.log(text);
  else log.say(text, { url: running.url, store: place });
}
