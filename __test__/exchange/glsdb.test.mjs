// Promise: the backup text of programs on glsdb moves in and out, with every key and the text of every value; what is wrong
// with a file is told with its line, and nothing of it is imported. That the published glsdb reads and writes the same text is
// tested in contract/published.test.mjs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { contents, empty, exported, imported, temporaryStore } from './store.mjs';

const { db, folder } = temporaryStore();
const options = { format: 'glsdb' };

test('a backup has a line that says when, and three lines a node', () => {
  empty(db);
  db.global('Person').set('root');
  db.global('Person').setDocument(1, { name: 'Zoë', age: 7, tags: ['a', true], none: null });
  const [first, ...lines] = exported(db, options).toString().split('\n');
  assert.match(first, /^Backup at \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
  assert.deepEqual(lines, [
    ...['Person', '[]', 'root'],
    ...['Person', '["1","age"]', '7'],
    ...['Person', '["1","name"]', 'Zoë'],
    ...['Person', '["1","none"]', 'null'],
    ...['Person', '["1","tags","[000000]"]', 'a'],
    ...['Person', '["1","tags","[000001]"]', 'true'],
    '',
  ]);
});

test('what was exported comes in again, and is recognised', () => {
  const text = fc.string({ unit: 'binary' }).filter((candidate) => !/[\n\r\u2028\u2029]/.test(candidate));
  const key = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.constantFrom('10', '-.5', '010', '"]', '\n', '\u2028'),
    fc.integer(),
    fc.constantFrom(0.5, 1e21),
  );
  const nodes = fc.array(
    fc.tuple(fc.constantFrom('Person', '%x', 'a.b'), fc.array(key, { maxLength: 4 }), text),
    { minLength: 1, maxLength: 20 },
  );
  fc.assert(
    fc.property(nodes, (wanted) => {
      empty(db);
      for (const [name, subscripts, value] of wanted) db.global(name).set(...subscripts, value);
      const before = contents(db);
      const backup = exported(db, options);
      empty(db);
      assert.equal(imported(db, folder, backup).nodes, before.length);
      assert.deepEqual(contents(db), before);
    }),
    { numRuns: 60 },
  );
});

test('what it cannot say is refused', () => {
  for (const [subscript, value, code] of /** @type {[any, any, string][]} */ ([
    ['a', 'two\nlines', 'ERR_BAD_VALUE'],
    ['a', 'two\u2028lines', 'ERR_BAD_VALUE'],
    ['a', new Uint8Array([255]), 'ERR_BAD_VALUE'],
    [new Uint8Array([255]), 'a', 'ERR_BAD_KEY'],
  ])) {
    empty(db);
    db.global('A').set(subscript, value);
    assert.throws(() => exported(db, options), { code });
  }
});

for (const [what, lines, line, message] of /** @type {[string, string[], number, RegExp][]} */ ([
  ['subscripts that are no JSON', ['A', '["1"]', 'x', 'A', '"1"]', 'y'], 6, /subscripts were expected/],
  ['subscripts that are no array', ['A', '{"a":1}', 'x'], 3, /subscripts were expected/],
  ['a subscript that is an object', ['A', '["1",{}]', 'x'], 3, /subscripts were expected/],
  ['an empty subscript', ['A', '[""]', 'x'], 4, /empty string is no subscript/],
  ['a name that is none', ['A', '["1"]', 'x', 'no name', '["2"]', 'y'], 7, /no name/],
  ['a missing value', ['A', '["1"]', 'x', 'A', '["2"]'], 6, /lacks/],
])) {
  test(`${what} is told with its line, and nothing is imported`, () => {
    empty(db);
    const file = ['Backup at Thu, 01 Jan 1970 00:00:00 GMT', ...lines].join('\n');
    assert.throws(
      () => imported(db, folder, file),
      (/** @type {any} */ error) => {
        assert.equal(error.line, line);
        assert.match(error.message, message);
        return true;
      },
    );
    assert.deepEqual(contents(db), []);
    const { nodes, faults } = imported(db, folder, file, { keepGoing: true });
    assert.deepEqual([nodes, faults], [lines.length > 3 ? 1 : 0, 1]);
  });
}

test('an empty backup is one', () => {
  empty(db);
  assert.equal(imported(db, folder, exported(db, options)).nodes, 0);
});
