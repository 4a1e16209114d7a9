// `caretdb repl`: a prompt on one store, with completion of commands, globals and subscripts, and a history.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { COMMANDS } from './commands.mjs';
import { complete } from './complete.mjs';
import { helpOn } from './help.mjs';
import { look, parseAssignment, parseReference, TypingError } from './nodes.mjs';
import { ReaderGone } from './output.mjs';
import { known, perform, readArguments } from './run.mjs';
import { words } from './words.mjs';

const HISTORY_LINES = 1000;
const REFUSED = 3;

/** @typedef {import('./commands.mjs').Context} Context */

/**
 * Reads and performs lines until there are no more. Lines that do not come from a terminal are a script: its exit
 * status tells whether one of them failed.
 *
 * @param {Context} context
 * @param {Record<string, any>} options
 * @returns {Promise<number>} the exit status
 */
export async function repl(context, options) {
  const db = context.db('write');
  const interactive = process.stdin.isTTY === true;
  const past = interactive ? readHistory() : [];
  const lines = createInterface({
    input: process.stdin,
    output: interactive ? process.stdout : undefined,
    terminal: interactive,
    prompt: '> ',
    history: [...past],
    historySize: HISTORY_LINES,
    removeHistoryDuplicates: true,
    completer: (/** @type {string} */ line) => complete(db, line),
  });
  if (interactive) console.log(`${db.path}\nhelp explains, Tab completes, exit ends.`);
  let status = 0;
  if (interactive) lines.prompt();
  for await (const line of lines) {
    if (/^\s*\.?(exit|quit)\s*$/.test(line)) break;
    if (line.trim() !== '' && line !== past[0]) past.unshift(line);
    if (!obey(line, context, options)) status = REFUSED;
    if (interactive) lines.prompt();
  }
  lines.close();
  if (interactive) writeHistory(past);
  return interactive ? 0 : status;
}

/**
 * @param {string} line
 * @param {Context} context
 * @param {Record<string, any>} options those of the command line
 * @returns {boolean} whether it was understood and done
 */
export function obey(line, context, options) {
  const { out, err } = context;
  try {
    performLine(line.trim(), context, options);
    return true;
  } catch (error) {
    if (error instanceof ReaderGone) throw error;
    err.line(/** @type {Error} */ (error).message);
    return false;
  } finally {
    out.flush();
    err.flush();
  }
}

/**
 * @param {string} line
 * @param {Context} context
 * @param {Record<string, any>} options
 */
function performLine(line, context, { json }) {
  if (line === '') return;
  const common = json ? ['--json'] : [];
  if (line.startsWith('^')) return performNode(line, context, common);
  const [name, ...rest] = words(line);
  if (name === 'help') return context.out.line(rest[0] === undefined ? help() : helpOn(known(rest[0])));
  if (COMMANDS[known(name)]?.outside)
    throw new TypingError(`${name} is a command of the shell: caretdb ${line}`);
  const { positionals, options } = readArguments(name, [...common, ...rest]);
  if (options.help) context.out.line(helpOn(name));
  else perform(name, context, positionals, options);
}

/**
 * A node alone: its value, or what is below it; with `=` it is stored.
 *
 * @param {string} line
 * @param {Context} context
 * @param {string[]} common
 */
function performNode(line, context, common) {
  if (parseAssignment(line) !== undefined) {
    perform('set', context, [line], readArguments('set', common).options);
    return;
  }
  const { value, children } = look(context.db('write'), parseReference(line));
  const isFolder = value === undefined && children;
  const name = isFolder ? 'list' : 'get';
  const depth = isFolder ? ['--depth', '1'] : [];
  perform(name, context, [line], readArguments(name, [...common, ...depth]).options);
}

function help() {
  const names = Object.keys(COMMANDS);
  return `^Person(1,"name") shows a node, ^Person(1,"name")="Rob" stores one.
Commands: ${names.join(', ')}, exit. help <command> explains one, help repl this prompt.`;
}

/** @returns {string | undefined} undefined where none is kept */
function historyFile() {
  return (process.env.CARETDB_HISTORY ?? join(homedir(), '.caretdb_history')) || undefined;
}

/** @returns {string[]} the latest line first */
function readHistory() {
  const file = historyFile();
  if (file === undefined || !existsSync(file)) return [];
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean).reverse();
  } catch {
    // A history that cannot be read is no reason not to start.
    return [];
  }
}

/** @param {string[]} past */
function writeHistory(past) {
  const file = historyFile();
  if (file === undefined) return;
  try {
    // Values may be private, as in a shell's history.
    writeFileSync(file, `${past.slice(0, HISTORY_LINES).reverse().join('\n')}\n`, { mode: 0o600 });
  } catch (error) {
    console.error(`the history was not kept: ${/** @type {Error} */ (error).message}`);
  }
}
