// What `caretdb --help` and `caretdb <command> --help` print.

import { COMMANDS } from './commands.mjs';

/** Options of every command. */
export const COMMON_OPTIONS = /** @type {const} */ ({
  data: {
    type: 'string',
    short: 'd',
    help: "the store's folder, or a postgres:// URL; default CARETDB_PATH, else ./caretdb-data",
  },
  engine: { type: 'string', help: 'the engine of the store: lmdb (default), sled or postgres' },
  json: { type: 'boolean', help: 'print JSON, for programs' },
  help: { type: 'boolean', short: 'h', help: 'print this' },
});

const REPL = { takes: '', summary: 'a prompt, with completion and history' };

/** @returns {string} */
export function helpOnAll() {
  const commands = Object.entries({ ...COMMANDS, repl: REPL });
  return `caretdb: globals on the command line

Usage: caretdb <command> [arguments] [options]

Commands
${table(commands.map(([name, { summary }]) => [name, summary]))}
  help      the same as --help; help <command> tells more

Options of every command
${options(COMMON_OPTIONS)}

A first minute
  caretdb set '^Person(1,"name")' Rob
  caretdb set '^Person(2)' '{"name":"Ann","address":{"city":"Redhill"}}' --document
  caretdb list '^Person'
  caretdb get '^Person(2)' --document
  caretdb export --output all.jsonl

The store may be in use by a server or other programs meanwhile.
Exit status: 0 done, 1 nothing is there, 2 the command was not understood, 3 the store or a file said no,
4 check found damage.`;
}

/** @param {string} name @returns {string} */
export function helpOn(name) {
  if (name === 'repl') return REPL_HELP;
  const command = COMMANDS[name];
  return `Usage: caretdb ${name} ${command.takes}

${command.summary[0].toUpperCase()}${command.summary.slice(1)}.
${command.teaches}

Options
${options({ ...command.options, ...COMMON_OPTIONS })}`;
}

const REPL_HELP = `Usage: caretdb repl

A prompt on one store. It takes the commands of the command line without the word caretdb, and:

  ^Person(1,"name")          prints a value, or the children where there is none
  ^Person(1,"name")="Rob"    stores one
  help, help <command>       explains
  exit                       ends it, as Ctrl-D does

Tab completes commands, names of globals and subscripts. The history is kept in ~/.caretdb_history, or in the
file that CARETDB_HISTORY names; an empty CARETDB_HISTORY keeps none.

Options
${options(COMMON_OPTIONS)}`;

/** @param {Record<string, { type: string, short?: string, help: string }>} all */
function options(all) {
  return table(
    Object.entries(all).map(([name, { type, short, help }]) => [
      `--${name}${type === 'string' ? ' <…>' : ''}${short === undefined ? '' : `, -${short}`}`,
      help,
    ]),
  );
}

/** @param {string[][]} rows */
function table(rows) {
  const width = Math.max(8, ...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`).join('\n');
}
