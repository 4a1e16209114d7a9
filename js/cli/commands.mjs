// The commands of `caretdb`. Each says what it takes, teaches itself, and works on a store that others have open too.

import { readFileSync } from 'node:fs';
import { store } from '../exchange/marks.mjs';
import { wholeNumber } from './arguments.mjs';
import { copyCommand } from './copy.mjs';
import { exportCommand, importCommand } from './moving.mjs';
import {
  look,
  nodeAsJson,
  parseAssignment,
  parseDocument,
  parseReference,
  spell,
  spellBelow,
  spellDocument,
  spellValue,
  TypingError,
  typedValue,
} from './nodes.mjs';
import { count } from './output.mjs';
import { backupCommand, checkCommand, compactCommand, restoreCommand } from './upkeep.mjs';
import { walk } from './walk.mjs';
import { watchCommand } from './watch.mjs';

/** What `get` answers when there is nothing. */
export const NOTHING_THERE = 1;

/**
 * @typedef {object} Context
 * @property {(purpose: 'read' | 'write') => any} db opens the store, or gives the one that is open
 * @property {import('./output.mjs').Output} out
 * @property {import('./output.mjs').Output} err
 *
 * @typedef {object} Command
 * @property {string} takes its arguments, as help shows them
 * @property {string} summary one line
 * @property {string} teaches the rest of its help: what it does, and examples
 * @property {Record<string, { type: 'string' | 'boolean', short?: string, help: string }>} [options]
 * @property {[number, number]} positionals how many at least and at most
 * @property {boolean} [outside] it is not for the prompt
 * @property {(context: Context, positionals: string[], options: Record<string, any>) => Status | Promise<Status>} run
 *   answers the exit status where it is not 0
 *
 * @typedef {number | void} Status
 */

/** @type {Command} */
const globals = {
  takes: '[--prefix <text>]',
  summary: 'names all globals',
  teaches: `Examples
  caretdb globals
  caretdb globals --prefix Per --json`,
  options: { prefix: { type: 'string', help: 'only names that begin with this text' } },
  positionals: [0, 0],
  run({ db, out }, _, { prefix, json }) {
    const names = db('read').globals(prefix ? { prefix: prefix.replace(/^\^/, '') } : {});
    if (json) return out.json([...names]);
    for (const name of names) out.line(`^${name}`);
  },
};

/** @type {Command} */
const get = {
  takes: '<node>',
  summary: 'prints the value of a node, or the document below it',
  teaches: `A node is written as in M; put single quotes around it, so that the shell leaves it alone.
Subscripts are numbers, strings in double quotes (a double quote inside is doubled), or $C(9) for
a character by its number. The exit status is 1 where the node has no value.

Examples
  caretdb get '^Person(1,"name")'
  caretdb get '^Person(1,"name")' --json     with its type: {"global":"Person",…,"value":"Rob",…}
  caretdb get '^Person(1)' --document        the nodes below it as one JSON document`,
  options: { document: { type: 'boolean', help: 'the JSON document below the node' } },
  positionals: [1, 1],
  run({ db, out, err }, [text], { json, document }) {
    const reference = parseReference(text);
    if (document) return getDocument(db('read'), reference, { out, err, json });
    const { value, children } = look(db('read'), reference);
    if (json) out.json(nodeAsJson(reference, { value, children }));
    else if (value instanceof Uint8Array) out.bytes(value);
    else if (value !== undefined) out.line(typeof value === 'string' ? value : spellValue(value));
    if (value !== undefined) return;
    const hint = children ? `; it has children: caretdb list '${spell(reference)}'` : '';
    if (!json) err.line(`${spell(reference)} has no value${hint}`);
    return NOTHING_THERE;
  },
};

/**
 * @param {any} db
 * @param {import('./nodes.mjs').Reference} reference
 * @param {Pick<Context, 'out' | 'err'> & { json?: boolean }} to
 */
function getDocument(db, reference, { out, err, json }) {
  const document = db.global(reference.name).getDocument(...reference.subscripts);
  if (document !== undefined) return out.line(spellDocument(document, json ? undefined : 2));
  if (json) out.line('null');
  err.line(`there is no document at ${spell(reference)}`);
  return NOTHING_THERE;
}

/** @type {Command} */
const set = {
  takes: '<node> <value> | <node>=<literal>',
  summary: 'stores a value, or a document',
  teaches: `A value is stored as a string unless --type says otherwise; - reads it from the standard input.
With = the value is a literal, as list shows it: a string in double quotes, a number, true, false or null.
Children of the node stay; with --document everything below the node is replaced.

Examples
  caretdb set '^Person(1,"name")' Rob
  caretdb set '^Person(1,"age")' 42 --type number
  caretdb set '^Person(1,"name")="Rob"'
  caretdb set '^Person(2)' '{"name":"Ann","tags":["a","b"]}' --document
  caretdb set '^Doc(1)' - --document < doc.json`,
  options: {
    type: { type: 'string', help: 'string (default), number, boolean, null or base64 for bytes' },
    document: { type: 'boolean', help: 'the value is JSON, to be stored as a document' },
  },
  positionals: [1, 2],
  run({ db, out }, [text, given], { json, type, document }) {
    const assignment = given === undefined ? parseAssignment(text) : undefined;
    if (given === undefined && (assignment === undefined || document || type)) {
      throw new TypingError(`set: the value is missing, as in: caretdb set '^Person(1,"name")' Rob`);
    }
    const reference = assignment ?? parseReference(text);
    const typed = given === '-' ? readFileSync(0, 'utf8') : given;
    if (document) {
      const parsed = parseDocument(typed ?? '');
      db('write')
        .global(reference.name)
        .setDocument(...reference.subscripts, parsed);
    } else {
      const value = assignment === undefined ? typedValue(typed ?? '', type ?? 'string') : assignment.value;
      store(db('write').global(reference.name), reference.subscripts, value);
    }
    if (json) out.json(nodeAsJson(reference, look(db('write'), reference)));
  },
};

/** @type {Command} */
const remove = {
  takes: '<node>',
  summary: 'deletes a node and everything below it',
  teaches: `Examples
  caretdb delete '^Person(1,"name")'
  caretdb delete '^Person(1)'      with all that is below it
  caretdb delete '^Person'         the whole global`,
  positionals: [1, 1],
  run({ db, out }, [text], { json }) {
    const { name, subscripts } = parseReference(text);
    const deleted = db('write').transaction(() => {
      const global = db('write').global(name);
      const present = global.has(...subscripts) || global.hasChildren(...subscripts);
      global.delete(...subscripts);
      return present;
    });
    if (json) out.json(nodeAsJson({ name, subscripts }, { deleted }));
  },
};

/** @type {Command} */
const list = {
  takes: '<node> [--depth <levels>] [--limit <nodes>]',
  summary: 'shows a node and what is below it',
  teaches: `A line is a node and its value, in collation order. A string stands in double quotes, so that "1" and 1 can
be told apart. With --depth, ^Person(1,*) stands for what is deeper.

Examples
  caretdb list '^Person(1)'
  caretdb list '^Person' --depth 1           the first level only
  caretdb list '^Person' --limit 20 --json   one JSON object a line`,
  options: {
    depth: { type: 'string', help: 'how many levels below the node; default all' },
    limit: { type: 'string', help: 'how many nodes at most; default all' },
  },
  positionals: [1, 1],
  run({ db, out, err }, [text], options) {
    const reference = parseReference(text);
    const depth = wholeNumber(options.depth, '--depth');
    let left = wholeNumber(options.limit, '--limit');
    for (const { subscripts, value, more } of walk(db('read'), reference, depth)) {
      if (left-- <= 0) {
        err.line(`there is more; --limit was ${options.limit}`);
        break;
      }
      const node = { name: reference.name, subscripts };
      if (options.json) out.json(nodeAsJson(node, { value, ...(more ? { children: true } : {}) }));
      else {
        if (value !== undefined) out.line(`${spell(node)}=${spellValue(value)}`);
        if (more) out.line(spellBelow(node));
      }
    }
  },
};

/** @type {Command} */
const stats = {
  takes: '',
  summary: 'says what the store holds and takes',
  teaches: `entries is what the engine counts: a node is one, a large value may be several.

Examples
  caretdb stats
  caretdb stats --data ./my-data --json`,
  positionals: [0, 0],
  run({ db, out }, _, { json }) {
    const opened = db('read');
    const { warnings, ...figures } = opened.stats();
    if (json) return out.json({ path: opened.path, ...figures, warnings });
    const width = Math.max(...Object.keys(figures).map((name) => name.length));
    out.line(opened.path);
    for (const [name, figure] of Object.entries(figures)) out.line(`${name.padEnd(width)}  ${count(figure)}`);
    for (const warning of warnings) out.line(warning);
  },
};

/** @type {Record<string, Command>} every command by its name, as help lists them */
export const COMMANDS = {
  globals,
  get,
  set,
  delete: remove,
  list,
  export: exportCommand,
  import: importCommand,
  watch: watchCommand,
  backup: backupCommand,
  restore: restoreCommand,
  check: checkCommand,
  compact: compactCommand,
  copy: copyCommand,
  stats,
};
