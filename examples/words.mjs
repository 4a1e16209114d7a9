// Counts the words of text files, and prints the most frequent ones. Counts add up from run to run.
//
//   node examples/words.mjs README.md docs/guide.md

import { readFileSync } from 'node:fs';
import { open } from 'caretdb';

const db = open();
const count = db.global('WordCount');
const ranking = db.global('WordRanking'); // ^WordRanking(count,word): a tree that is sorted by count

for (const file of process.argv.slice(2)) {
  const words =
    readFileSync(file, 'utf8')
      .toLowerCase()
      .match(/\p{L}+/gu) ?? [];
  // One transaction for a file: it is counted whole or not at all, and much faster than one commit a word.
  db.transaction(() => {
    for (const word of words) {
      const now = count.increment(word, 1);
      if (now > 1) ranking.delete(now - 1, word);
      ranking.set(now, word, '');
    }
  });
}

let left = 10;
for (const [[frequency, word]] of ranking.leaves({ reverse: true, limit: left })) {
  console.log(`${String(frequency).padStart(6)}  ${word}`);
  left -= 1;
}
if (left === 10) console.log('Name some text files to count their words.');
db.close();
