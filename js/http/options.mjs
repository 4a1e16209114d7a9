// The options of nws.mjs and bws.js: one table of what can be said, read from the command line, the environment and a JSON file.
// What is said closer to the caller counts: a flag before a variable, a variable before the file, the file before the default.

import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fixedPlace } from '../place.mjs';

/** Options that cannot be followed; the message says what to change. */
export class UsageError extends Error {}

/**
 * @typedef {object} Option one thing that can be said
 * @property {string} flag without its dashes; the file's key is the same in camel case, the variable is CARETDB_ and capitals
 * @property {'number' | 'text' | 'path' | 'choice' | 'switch' | 'list'} kind
 * @property {string} argument how the help names its value
 * @property {string} help what it does, for the help
 * @property {[number, number]} [range] of a number, both ends included
 * @property {string[]} [choices]
 * @property {string} [variable] a second environment variable, which counts less
 *
 * @typedef {object} Said where a value comes from
 * @property {string} label how an error names it
 * @property {unknown} value
 * @property {number} rank 0 for a flag, 1 for the environment, 2 for the file
 * @property {string} [folder] what a path in it is relative to, where that is not the working folder
 */

/** @type {Option[]} */
export const OPTIONS = [
  {
    flag: 'port',
    kind: 'number',
    range: [0, 65535],
    argument: '<number>',
    help: 'default 3000; 0 takes a free one',
  },
  {
    flag: 'host',
    kind: 'text',
    argument: '<address>',
    help: 'default 127.0.0.1; an address that others can reach needs a token',
  },
  {
    flag: 'data',
    kind: 'path',
    argument: '<folder>',
    help: 'the store; default CARETDB_PATH, else ./caretdb-data',
    variable: 'CARETDB_PATH',
  },
  { flag: 'engine', kind: 'text', argument: '<name>', help: 'the engine of the store; default lmdb' },
  {
    flag: 'durability',
    kind: 'choice',
    choices: ['relaxed', 'strict', 'process'],
    argument: '<word>',
    help: 'relaxed, strict or process; default is what the store has, relaxed for a new one',
  },
  {
    flag: 'pool',
    kind: 'number',
    range: [1, 1024],
    argument: '<number>',
    help: 'how many workers there are at most; default 2',
  },
  {
    flag: 'mode',
    kind: 'choice',
    choices: ['threads', 'processes', 'child_process'],
    argument: '<mode>',
    help: 'where handlers run: threads (default) or processes',
  },
  {
    flag: 'queue',
    kind: 'number',
    range: [1, 10_000_000],
    argument: '<number>',
    help: 'how many requests may wait for a worker; default 10000',
  },
  {
    flag: 'handler-timeout',
    kind: 'number',
    range: [0, 86_400_000],
    argument: '<ms>',
    help: 'how long a handler may take; default 60000, 0 for no limit',
  },
  {
    flag: 'body-limit',
    kind: 'number',
    range: [1, 2 ** 31],
    argument: '<bytes>',
    help: "how large a request's body may be; default 1048576",
  },
  {
    flag: 'batch-limit',
    kind: 'number',
    range: [1, 2 ** 40],
    argument: '<bytes>',
    help: 'how much NDJSON a request may bring, as one transaction; default 67108864',
  },
  {
    flag: 'attachment-limit',
    kind: 'number',
    range: [1, 2 ** 53 - 1],
    argument: '<bytes>',
    help: 'how large an upload of attachments may be; default 4294967296',
  },
  {
    flag: 'log',
    kind: 'choice',
    choices: ['off', 'text', 'json'],
    argument: '<form>',
    help: 'off (default), text (each step of the pool) or json (each request)',
  },
  { flag: 'edit', kind: 'switch', argument: '', help: 'lets the viewer change and delete; off unless given' },
  {
    flag: 'token',
    kind: 'text',
    argument: '<text>',
    help: 'what each request must bring; others see it in the list of processes: prefer',
  },
  { flag: 'token-file', kind: 'path', argument: '<file>', help: 'a file with the token, or CARETDB_TOKEN' },
  { flag: 'tls-cert', kind: 'path', argument: '<file>', help: 'the certificate (PEM) to serve https with' },
  { flag: 'tls-key', kind: 'path', argument: '<file>', help: 'its key (PEM)' },
  {
    flag: 'secure',
    kind: 'switch',
    argument: '',
    help: 'browsers reach the server by https, through a proxy; with --tls-cert they do anyway',
  },
  {
    flag: 'allow-host',
    kind: 'list',
    argument: '<name>',
    help: 'a name that this server may be asked by, besides localhost; may be repeated',
  },
];

/** A name as a Host field has it; an IPv6 address is in brackets. */
const HOST_NAME = /^([\w.-]+|\[[\da-f:.]+\])$/i;

/** What only the file can say: routes of one's own. */
const FILE_ONLY = ['handlersFolder', 'routes'];

/** @param {string} flag @returns {string} */
export function keyOf(flag) {
  return flag.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
}

/** @param {string} flag @returns {string} */
export function variableOf(flag) {
  return `CARETDB_${flag.toUpperCase().replaceAll('-', '_')}`;
}

/** @param {unknown} value */
function shown(value) {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

/**
 * Reads a flag's value.
 * @param {Option} option
 * @param {Said} said
 * @returns {unknown}
 * @throws {UsageError}
 */
function readValue({ kind, range = [0, 0], choices = [] }, { label, value, rank, folder }) {
  const isText = typeof value === 'string' && value !== '';
  const inFile = rank === 2;
  if (kind === 'number') {
    const number = isText && !inFile && value.trim() !== '' ? Number(value) : value;
    if (Number.isInteger(number) && Number(number) >= range[0] && Number(number) <= range[1]) return number;
    throw new UsageError(
      `${label} must be a whole number from ${range[0]} to ${range[1]}, not ${shown(value)}`,
    );
  }
  if (kind === 'switch') {
    if (typeof value === 'boolean') return value;
    if (!inFile && (value === 'true' || value === '1')) return true;
    if (!inFile && (value === 'false' || value === '0')) return false;
    throw new UsageError(`${label} must be true or false, not ${shown(value)}`);
  }
  if (kind === 'list') {
    const list = !inFile && typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value;
    if (!Array.isArray(list) || !list.every((name) => typeof name === 'string' && name !== ''))
      throw new UsageError(`${label} must be a list of names, not ${shown(value)}`);
    const wrong = list.find((name) => !HOST_NAME.test(name));
    if (wrong === undefined) return list;
    throw new UsageError(
      `${label} must have names as they are in a URL, without https:// and without a port, not ${shown(wrong)}`,
    );
  }
  if (kind === 'choice') {
    if (isText && choices.includes(value)) return value === 'child_process' ? 'processes' : value;
    const words = choices.filter((word) => word !== 'child_process');
    throw new UsageError(`${label} must be ${words.join(' or ')}, not ${shown(value)}`);
  }
  if (!isText) throw new UsageError(`${label} must be a text that is not empty, not ${shown(value)}`);
  return kind === 'path' && folder !== undefined ? fixedPlace(value, folder) : value;
}

/**
 * Reads a file that an option names.
 * @param {string} path
 * @param {string} label of the option
 * @returns {string}
 * @throws {UsageError}
 */
export function readOptionFile(path, label) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = /** @type {any} */ (error);
    if (code === 'ENOENT') throw new UsageError(`${label}: there is no file ${resolve(path)}`);
    if (code === 'EISDIR') throw new UsageError(`${label}: ${resolve(path)} is a folder, not a file`);
    if (code === 'EACCES')
      throw new UsageError(`${label}: this user may not read ${resolve(path)}; change its mode or owner`);
    throw new UsageError(`${label}: ${resolve(path)} cannot be read (${code})`);
  }
}

/** @param {string} path */
function isFolder(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Reads the configuration file.
 * @param {string} path
 * @param {string} label
 * @returns {Map<string, unknown>} by key in camel case
 * @throws {UsageError}
 */
function readFile(path, label) {
  let content;
  const text = readOptionFile(path, label);
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${label}: ${path} is not valid JSON (${/** @type {Error} */ (error).message})`);
  }
  if (content === null || typeof content !== 'object' || Array.isArray(content))
    throw new UsageError(`${label}: ${path} must be a JSON object, such as {"port": 3000}`);
  const known = [...OPTIONS.map(({ flag }) => keyOf(flag)), ...FILE_ONLY];
  /** @type {Map<string, unknown>} */
  const values = new Map();
  for (const [given, value] of Object.entries(content)) {
    const key = keyOf(given);
    if (!known.includes(key))
      throw new UsageError(`'${given}' in ${path} is no option; there are: ${known.join(', ')}`);
    if (values.has(key)) throw new UsageError(`'${key}' is in ${path} twice`);
    values.set(key, value);
  }
  return values;
}

/** @param {string[]} args @returns {{values: Record<string, any>, positionals: string[]}} */
function parse(args) {
  /** @type {Record<string, {type: 'string' | 'boolean', multiple?: boolean}>} */
  const options = { config: { type: 'string' }, help: { type: 'boolean' } };
  for (const { flag, kind } of OPTIONS)
    options[flag] = { type: kind === 'switch' ? 'boolean' : 'string', multiple: kind === 'list' };
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(/** @type {Error} */ (error).message);
  }
}

/**
 * What the two words in front say: `[logging] [poolSize]`.
 * @param {string[]} positionals
 * @returns {Map<string, Said>} by flag
 */
function readPositionals(positionals) {
  /** @type {Map<string, Said>} */
  const said = new Map();
  const [logging, poolSize, tooMany] = positionals;
  if (tooMany !== undefined) throw new UsageError(`'${tooMany}' is one argument too many`);
  if (logging !== undefined) {
    if (logging !== 'true' && logging !== 'false')
      throw new UsageError(`logging must be true or false, not '${logging}'`);
    said.set('log', { label: 'logging', value: logging === 'true' ? 'text' : 'off', rank: 0 });
  }
  if (poolSize !== undefined) said.set('pool', { label: 'poolSize', value: poolSize, rank: 0 });
  return said;
}

/**
 * @typedef {object} Options what was said, by key; what nobody said is not there
 * @property {boolean} help
 * @property {Record<string, any>} values
 * @property {Record<string, Said>} said where each comes from
 */

/**
 * Reads the command line, the environment and the file that they name.
 * @param {string[]} args
 * @param {Record<string, string | undefined>} environment
 * @returns {Options}
 * @throws {UsageError}
 *
 * @example
 * readOptions(['--port', '0'], { CARETDB_POOL: '4' }).values;  // {port: 0, pool: 4}
 */
export function readOptions(args, environment) {
  const { values: flags, positionals } = parse(args);
  const inFront = readPositionals(positionals);
  const fromVariable = environment.CARETDB_CONFIG || undefined;
  const configLabel = flags.config === undefined ? 'CARETDB_CONFIG' : '--config';
  const configPath = flags.config ?? fromVariable;
  const file = configPath === undefined ? new Map() : readFile(configPath, configLabel);
  const folder = configPath === undefined ? undefined : dirname(resolve(configPath));

  /** @type {Record<string, any>} */
  const values = {};
  /** @type {Record<string, Said>} */
  const said = {};
  for (const option of OPTIONS) {
    const key = keyOf(option.flag);
    const names = [variableOf(option.flag), ...(option.variable === undefined ? [] : [option.variable])];
    const variable = names.find((name) => environment[name]);
    const front = inFront.get(option.flag);
    /** @type {Said | undefined} */
    const closest =
      flags[option.flag] !== undefined
        ? { label: `--${option.flag}`, value: flags[option.flag], rank: 0 }
        : (front ??
          (variable !== undefined
            ? { label: variable, value: environment[variable], rank: 1 }
            : file.has(key)
              ? { label: `'${key}' in ${configPath}`, value: file.get(key), rank: 2, folder }
              : undefined));
    if (closest === undefined) continue;
    said[key] = closest;
    values[key] = readValue(option, closest);
  }
  for (const key of FILE_ONLY) if (file.has(key)) values[key] = file.get(key);
  if (values.handlersFolder !== undefined) {
    if (typeof values.handlersFolder !== 'string' || values.handlersFolder === '')
      throw new UsageError(`'handlersFolder' in ${configPath} must be the path of a folder`);
    values.handlersFolder = resolve(String(folder), values.handlersFolder);
    if (!isFolder(values.handlersFolder))
      throw new UsageError(`'handlersFolder' in ${configPath}: there is no folder ${values.handlersFolder}`);
  }
  if (values.routes !== undefined && values.handlersFolder === undefined)
    throw new UsageError(`'routes' in ${configPath} needs 'handlersFolder', the folder of the handlers`);
  return { help: flags.help === true, values, said };
}

/**
 * The text of --help.
 * @param {string} command
 * @returns {string}
 */
export function helpOf(command) {
  const lines = [
    ...OPTIONS.map(({ flag, argument, help }) => [`--${flag} ${argument}`.trimEnd(), help]),
    ['--config <file>', 'a JSON file of these options: {"port": 3000, "tokenFile": "token"}'],
    ['--help', 'prints this'],
  ];
  const width = Math.max(...lines.map(([left]) => left.length));
  return `Usage: ${command} [logging] [poolSize] [options]

  ${'logging'.padEnd(width)}  true is --log text
  ${'poolSize'.padEnd(width)}  the same as --pool

Options
${lines.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')}

Each option has an environment variable (--tls-cert is ${variableOf('tls-cert')}) and a key in the file (tlsCert; paths are relative
to the file). A flag counts before a variable, a variable before the file.

Ctrl-C and SIGTERM end the server when what is in flight is finished.
`;
}
