// Starts nws.mjs and bws.js: reads the command line, says where the server listens, and ends it in an orderly way.

import { parseArgs } from 'node:util';
import { server as Connection } from '../mg-dbx.mjs';
import { isLoopback } from './guard.mjs';
import { PAGES, showcaseRoutes } from './routes.mjs';
import { storeOptions, VERSION } from './service.mjs';

/**
 * @typedef {object} Running a server that listens
 * @property {string} url where
 * @property {() => Promise<void>} close stops accepting, finishes what is in flight, ends the workers
 *
 * @typedef {(options: import('./service.mjs').ServiceOptions, port: number, host: string) => Promise<Running>} Listen
 */

/** A command line that cannot be followed; its message says what to change. */
class UsageError extends Error {}

/** @param {string} command */
function help(command) {
  return `Usage: ${command} [logging] [poolSize] [options]

  logging            true shows the worker pool at work on the console; default false
  poolSize           how many workers there are at most; default 2

Options
  --port <number>    default 3000; 0 takes a free one
  --host <address>   default 127.0.0.1; an address that others can reach needs a token
  --token <text>     each request must bring it: authorization: Bearer <text>; default CARETDB_TOKEN
  --allow-host <name>  a name that this server may be asked by, besides localhost; may be repeated
  --data <folder>    the store; default CARETDB_PATH, else ./caretdb-data
  --engine <name>    the engine of the store; default lmdb
  --mode <mode>      threads (default) or processes
  --help             prints this

Ctrl-C ends the server when what is in flight is finished.
`;
}

const ARGUMENTS = /** @type {const} */ ({
  port: { type: 'string' },
  host: { type: 'string' },
  token: { type: 'string' },
  'allow-host': { type: 'string', multiple: true },
  data: { type: 'string' },
  engine: { type: 'string' },
  mode: { type: 'string' },
  help: { type: 'boolean' },
});

/** @param {string[]} args */
function parse(args) {
  try {
    return parseArgs({ args, options: ARGUMENTS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(/** @type {Error} */ (error).message);
  }
}

/** @param {string | undefined} text @param {string} name @param {number} otherwise @param {number} least @param {number} most */
function numberOf(text, name, otherwise, least, most) {
  if (text === undefined) return otherwise;
  const number = Number(text);
  if (text.trim() === '' || !Number.isInteger(number) || number < least || number > most) {
    throw new UsageError(`${name} must be a whole number from ${least} to ${most}, not '${text}'`);
  }
  return number;
}

/** @param {string | undefined} text */
function loggingOf(text) {
  if (text === undefined || text === 'false') return false;
  if (text === 'true') return true;
  throw new UsageError(`logging must be true or false, not '${text}'`);
}

/** @param {string | undefined} text @returns {'threads' | 'processes'} */
function modeOf(text) {
  if (text === undefined || text === 'threads') return 'threads';
  if (text === 'processes' || text === 'child_process') return 'processes';
  throw new UsageError(`--mode must be threads or processes, not '${text}'`);
}

/**
 * @param {string[]} args
 * @param {string} serverName
 */
function readCommandLine(args, serverName) {
  const { values, positionals } = parse(args);
  if (positionals.length > 2) throw new UsageError(`'${positionals[2]}' is one argument too many`);
  const host = values.host ?? '127.0.0.1';
  const token = values.token ?? process.env.CARETDB_TOKEN;
  if (token === '') throw new UsageError('--token must not be empty');
  if (!isLoopback(host) && token === undefined) {
    throw new UsageError(
      `others can reach ${host}: give a --token that they must have, or listen on 127.0.0.1`,
    );
  }
  const store = storeOptions({ store: values.data === undefined ? {} : { path: values.data } });
  /** @type {import('./service.mjs').ServiceOptions} */
  const options = {
    mode: modeOf(values.mode),
    logging: loggingOf(positionals[0]),
    poolSize: numberOf(positionals[1], 'poolSize', 2, 1, 1024),
    workerHandlersByRoute: showcaseRoutes(serverName),
    store: values.engine === undefined ? store : { ...store, engine: values.engine },
    allowedHosts: [...(values['allow-host'] ?? []), ...(isLoopback(host) ? [host] : [])],
    token,
    pages: PAGES,
  };
  return { help: values.help === true, port: numberOf(values.port, '--port', 3000, 0, 65535), host, options };
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

/** @param {Running} running @param {{close: () => unknown}} store */
function closeOnSignal(running, store) {
  let closing = false;
  const close = async () => {
    // Whoever asks twice does not want to wait.
    if (closing) process.exit(130);
    closing = true;
    try {
      await running.close();
      store.close();
      process.exit(0);
    } catch (error) {
      console.error(error instanceof Error ? error.stack : error);
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
    process.stdout.write(help(command));
    return;
  }
  const { port, host, options } = line;
  let store;
  let running;
  try {
    store = holdStore(options.store ?? {});
    running = await listen(options, port, host);
  } catch (error) {
    console.error(whyNot(error, host, port));
    process.exit(1);
  }
  closeOnSignal(running, store);
  const access = options.token === undefined ? '' : '; requests need the token';
  console.log(`CaretDB ${VERSION} listens on ${running.url}; store folder ${options.store?.path}${access}`);
}
