// Runs one command: reads its arguments, opens the store, and turns what goes wrong into a message and an exit status.

import { parseArgs } from 'node:util';
import { open } from '../native.mjs';
import { COMMANDS } from './commands.mjs';
import { requireStore, storeFolder } from './folder.mjs';
import { COMMON_OPTIONS, helpOn, helpOnAll } from './help.mjs';
import { TypingError } from './nodes.mjs';
import { Output, ReaderGone } from './output.mjs';

const NOT_UNDERSTOOD = 2;
const REFUSED = 3;

/** Stands in front of arguments such as -5, which are values and no options. */
const SHIELD = '\0';

/**
 * @param {string[]} args what stands behind the word `caretdb`
 * @returns {Promise<number>} the exit status
 */
export async function run(args) {
  const out = new Output(1);
  const err = new Output(2);
  const inJson = args.includes('--json');
  try {
    const status = await runCommand(args, { out, err });
    out.flush();
    err.flush();
    return status;
  } catch (error) {
    if (error instanceof ReaderGone) return 0;
    return failed(error, { out, err, inJson });
  }
}

/**
 * @param {string[]} args
 * @param {{ out: Output, err: Output }} outputs
 */
async function runCommand(args, outputs) {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h') {
    outputs.out.line(helpOnAll());
    return name === undefined ? NOT_UNDERSTOOD : 0;
  }
  if (name === 'help') {
    outputs.out.line(rest[0] === undefined ? helpOnAll() : helpOn(known(rest[0])));
    return 0;
  }
  const { positionals, options } = readArguments(known(name), rest);
  if (options.help) {
    outputs.out.line(helpOn(name));
    return 0;
  }
  const store = new Store(options);
  try {
    if (name !== 'repl') return await perform(name, { db: store.open, ...outputs }, positionals, options);
    const { repl } = await import('./repl.mjs');
    return await repl({ db: store.open, ...outputs }, options);
  } finally {
    store.close();
  }
}

/** The store of the command line, opened when a command needs it. */
class Store {
  #options;
  /** @type {any} */
  #db;

  /** @param {Record<string, any>} options */
  constructor(options) {
    this.#options = options;
  }

  /** @param {'read' | 'write'} purpose */
  open = (purpose) => {
    if (this.#db !== undefined) return this.#db;
    const path = storeFolder(this.#options.data);
    if (purpose === 'read') requireStore(path);
    const { engine } = this.#options;
    this.#db = open({ path, ...(engine === undefined ? {} : { engine }), readOnly: purpose === 'read' });
    return this.#db;
  };

  close() {
    this.#db?.close();
  }
}

/**
 * @param {string} name
 * @param {import('./commands.mjs').Context} context
 * @param {string[]} positionals
 * @param {Record<string, any>} options
 * @returns {number | Promise<number>} the exit status
 */
export function perform(name, context, positionals, options) {
  const command = COMMANDS[name];
  const [least, most] = command.positionals;
  if (positionals.length < least) throw new TypingError(`${name} takes ${command.takes}`);
  if (positionals.length > most) {
    throw new TypingError(`${positionals[most]} is one argument too many: ${name} takes ${command.takes}`);
  }
  const status = command.run(context, positionals, options);
  return status instanceof Promise ? status.then((later) => later ?? 0) : (status ?? 0);
}

/** @param {string} name @returns {string} the same, where it is a command */
export function known(name) {
  if (name === 'repl' || Object.hasOwn(COMMANDS, name)) return name;
  const near = [...Object.keys(COMMANDS), 'repl'].find((command) => isNear(name, command));
  const hint = near === undefined ? 'caretdb --help lists them' : `did you mean ${near}?`;
  throw new TypingError(`${name} is no command: ${hint}`);
}

const OTHER_WORDS = new Map(
  Object.entries({
    get: ['read', 'show'],
    set: ['put', 'write'],
    delete: ['kill', 'rm', 'remove'],
    list: ['ls', 'zwrite', 'zwr'],
  }),
);

/** @param {string} typed @param {string} command */
function isNear(typed, command) {
  if (OTHER_WORDS.get(command)?.includes(typed)) return true;
  return (
    typed.length > 1 &&
    (command.startsWith(typed) || typed.startsWith(command) || sorted(typed) === sorted(command))
  );
}

/** @param {string} word */
function sorted(word) {
  return [...word].sort().join('');
}

/**
 * @param {string} name a command
 * @param {string[]} args
 * @returns {{ positionals: string[], options: Record<string, any> }}
 */
export function readArguments(name, args) {
  const shielded = args.map((arg) => (/^-\.?\d/.test(arg) ? SHIELD + arg : arg));
  try {
    const { values, positionals } = parseArgs({
      args: shielded,
      allowPositionals: true,
      options: { ...COMMANDS[name]?.options, ...COMMON_OPTIONS },
    });
    const options = Object.entries(values).map(([key, value]) => [key, unshielded(value)]);
    return { positionals: positionals.map(unshielded), options: Object.fromEntries(options) };
  } catch (error) {
    throw new TypingError(`${/** @type {Error} */ (error).message} (caretdb ${name} --help tells more)`);
  }
}

/** @template T @param {T} value @returns {T} */
function unshielded(value) {
  return typeof value === 'string' && value.startsWith(SHIELD) ? /** @type {T} */ (value.slice(1)) : value;
}

/**
 * @param {any} error
 * @param {{ out: Output, err: Output, inJson: boolean }} to
 * @returns {number} the exit status
 */
function failed(error, { out, err, inJson }) {
  try {
    out.flush();
    const { code, message, line } = error;
    if (code === undefined) err.line(String(error?.stack ?? error));
    else if (inJson) err.json({ error: { code, message, ...(line === undefined ? {} : { line }) } });
    else err.line(`caretdb: ${message}${message.includes(code) ? '' : ` (${code})`}`);
    err.flush();
  } catch {
    // Nobody reads what went wrong; the status still tells.
  }
  return error instanceof TypingError ? NOT_UNDERSTOOD : REFUSED;
}
