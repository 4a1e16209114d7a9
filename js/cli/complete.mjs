// What Tab offers at the prompt: commands, globals, and the subscripts that are there.

import { SyntaxFault } from '../exchange/faults.mjs';
import { COMMANDS } from './commands.mjs';
import { parseReference, spell, TypingError } from './nodes.mjs';

const MOST = 50;
const WORDS = [...Object.keys(COMMANDS), 'help', 'exit'];

/**
 * @param {any} db
 * @param {string} line up to where the person is
 * @returns {[string[], string]} what it can become, and the part of the line that this replaces
 */
export function complete(db, line) {
  const node = /(?:^|\s)(\^[^ ]*(?:\(.*)?)$/.exec(line)?.[1];
  if (node === undefined)
    return [WORDS.filter((word) => word.startsWith(line)).map((word) => `${word} `), line];
  try {
    return [node.includes('(') ? subscripts(db, node) : names(db, node), node];
  } catch (error) {
    if (error instanceof TypingError || error instanceof SyntaxFault) return [[], node];
    // A name or subscript that cannot be has nothing behind it either.
    if (/** @type {any} */ (error).code?.startsWith('ERR_BAD_')) return [[], node];
    throw error;
  }
}

/** @param {any} db @param {string} typed */
function names(db, typed) {
  const prefix = typed.slice(1);
  const found = [...db.globals({ ...(prefix === '' ? {} : { prefix }), limit: MOST })];
  return found.map((name) => (db.global(name).hasChildren() ? `^${name}(` : `^${name}`));
}

/** @param {any} db @param {string} typed with an open parenthesis */
function subscripts(db, typed) {
  const cut = lastSeparator(typed);
  const above = typed.slice(0, cut);
  const reference = parseReference(typed[cut] === '(' ? above : `${above})`);
  const node = db.global(reference.name, ...reference.subscripts);
  const begun = typed.slice(cut + 1);
  const found = [];
  for (const key of node.keys(rangeFor(begun))) {
    const spelt = spellAlone(key);
    if (!spelt.startsWith(begun)) continue;
    found.push(above + typed[cut] + spelt + (node.hasChildren(key) ? ',' : ')'));
    if (found.length === MOST) break;
  }
  return found;
}

/** @param {any} subscript */
function spellAlone(subscript) {
  return spell({ name: '', subscripts: [subscript] }).slice('^('.length, -1);
}

/** @param {string} begun a subscript that is not complete */
function rangeFor(begun) {
  const prefix = /^"([^"]+)$/.exec(begun)?.[1];
  return prefix === undefined ? { limit: 10 * MOST } : { prefix, limit: 10 * MOST };
}

/** @param {string} typed @returns {number} the last `(` or `,` outside of quotes */
function lastSeparator(typed) {
  let quoted = false;
  let found = typed.indexOf('(');
  for (let at = found; at < typed.length; at++) {
    if (typed[at] === '"') quoted = !quoted;
    else if (typed[at] === ',' && !quoted) found = at;
  }
  return found;
}
