// A full-text index in forty lines. ^Text(id) is a document, ^TextWord(word,id) says how often the word stands in it; both change
// in one transaction, so the index is never behind.
//
//   node examples/full-text.mjs            loads a few texts and searches them
//   node examples/full-text.mjs tree fast  searches for documents that have all these words; `tre*` is a prefix

import { open } from 'caretdb';

const db = open();
const text = db.global('Text');
const index = db.global('TextWord');

/** @param {string} content */
function wordsOf(content) {
  /** @type {Map<string, number>} */
  const words = new Map();
  for (const word of content.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    // A subscript holds a kilobyte; nobody searches for a longer word.
    if (word.length < 100) words.set(word, (words.get(word) ?? 0) + 1);
  }
  return words;
}

/**
 * Stores a text in place of the one that had this id.
 *
 * @param {string} id
 * @param {string} content
 */
function put(id, content) {
  db.transaction(() => {
    remove(id);
    text.set(id, content);
    for (const [word, times] of wordsOf(content)) index.set(word, id, times);
  });
}

/** @param {string} id */
function remove(id) {
  db.transaction(() => {
    for (const word of wordsOf(String(text.get(id) ?? '')).keys()) index.delete(word, id);
    text.delete(id);
  });
}

/**
 * @param {string} term a word, or the beginning of words with `*` behind it
 * @returns {Map<string, number>} how often it stands in each text that has it
 */
function find(term) {
  const isPrefix = term.endsWith('*');
  const start = term.toLowerCase().replace(/\*$/, '');
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const word of isPrefix ? index.keys({ prefix: start, as: 'string' }) : [start]) {
    for (const [id, times] of index.at(word).entries({ as: 'string' }))
      found.set(id, (found.get(id) ?? 0) + Number(times));
  }
  return found;
}

/**
 * @param {string[]} terms
 * @returns {[id: string, score: number][]} the texts that have all of them, best first
 */
function search(terms) {
  const [first, ...others] = terms.map(find);
  const scores = [...first].map(([id, times]) => {
    const all = [times, ...others.map((found) => found.get(id) ?? 0)];
    const score = all.includes(0) ? 0 : all.reduce((sum, each) => sum + Math.log1p(each), 0);
    return /** @type {[string, number]} */ ([id, score]);
  });
  return scores.filter(([, score]) => score > 0).sort((a, b) => b[1] - a[1]);
}

put('trees', 'A tree is sorted, and a sorted tree is an index.');
put('speed', 'Calls in the same process are fast: a tree is read in a microsecond.');
put('loss', 'Nothing is lost when a process is killed.');
put('loss', 'Nothing is lost when all processes are killed at once.'); // takes the place of the one before

const terms = process.argv.length > 2 ? process.argv.slice(2) : ['tree', 'is'];
for (const [id, score] of search(terms)) console.log(score.toFixed(2), id, '·', text.get(id));
db.close();
