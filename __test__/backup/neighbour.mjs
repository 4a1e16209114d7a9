// Another process that writes: the same number at two places, in one transaction after another.

import { open } from '../../js/index.mjs';

const [path, who] = process.argv.slice(2);
const db = open(path);
const pair = db.global('Pair', Number(who));
for (let number = 1; ; number++) {
  db.transaction(() => {
    pair.set('a', number);
    pair.set('filler', number % 500, 'f'.repeat(number % 90));
    pair.set('b', number);
  });
}
