// Secondary indexes as programs use them: every face and every process that writes keeps them right.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { glsDB, mglobal, open, server } from 'caretdb';
import { ENGINES, missing, newStore } from '../real/engines.mjs';

/** @param {import('../real/engines.mjs').Engine} [engine] */
function openNew(engine = 'lmdb') {
  const db = open(newStore(engine));
  after(() => db.close());
  return { db, path: db.path, person: db.global('Person') };
}

/** @param {Iterable<[unknown, unknown]>} found */
const ids = (found) => [...found].map(([id]) => id);

/** @param {string} code */
const withCode = (code) => (/** @type {any} */ error) => error.code === code && error instanceof Error;

test('documents are found by equality and by range, in the order of values and then of subscripts', () => {
  const { person } = openNew();
  const ages = [31, 7, 'old', 7, null, true, 100, -2.5, '', false];
  for (const [id, age] of ages.entries()) person.setDocument(id + 1, { about: { ages: [0, age] }, id });
  person.setDocument('without', { about: {} });
  person.createIndex('age', ['about', 'ages', 1]);
  assert.deepEqual(ids(person.find('age')), [5, 10, 6, 8, 2, 4, 1, 7, 9, 3]);
  assert.deepEqual(ids(person.find('age', { reverse: true, limit: 3 })), [3, 9, 7]);
  assert.deepEqual(
    [...person.find('age', { equals: 7 })],
    [
      [2, { about: { ages: [0, 7] }, id: 1 }],
      [4, { about: { ages: [0, 7] }, id: 3 }],
    ],
  );
  assert.deepEqual(ids(person.find('age', { from: 7, to: 31 })), [2, 4, 1]);
  assert.deepEqual(ids(person.find('age', { after: 7, before: 100 })), [1]);
  assert.deepEqual(ids(person.find('age', { after: 7, before: '' })), [1, 7]);
  assert.deepEqual(ids(person.find('age', { equals: null, as: 'string' })), ['5']);
  assert.deepEqual(ids(person.find('age', { prefix: 'ol' })), [3]);
  assert.deepEqual(ids(person.find('age', { equals: 8 })), []);
  assert.deepEqual(ids(person.find('age', { from: 5, to: 3 })), []);
});

test('pages join without a gap, and early leaving is allowed', () => {
  const { db, person } = openNew();
  db.transaction(() => {
    for (let id = 0; id < 1000; id += 1)
      person.setDocument(id, { group: id % 3, bytes: new Uint8Array([id % 256]) });
  });
  person.createIndex('group', ['group']);
  const expected = Array.from({ length: 1000 }, (_, id) => id).sort((a, b) => (a % 3) - (b % 3) || a - b);
  assert.deepEqual(ids(person.find('group')), expected);
  assert.deepEqual(ids(person.find('group', { reverse: true })), [...expected].reverse());
  for (const [id, document] of person.find('group', { equals: 1 })) {
    assert.deepEqual(document, { group: 1, bytes: new Uint8Array([Number(id) % 256]) });
    if (Number(id) > 50) break;
  }
});

test('an iterator sees writes ahead of it and never shows a document without the value', () => {
  const { person } = openNew();
  for (let id = 1; id <= 30; id += 1) person.setDocument(id, { n: 1 });
  person.createIndex('n', ['n']);
  /** @type {unknown[]} */
  const seen = [];
  for (const [id, document] of person.find('n', { equals: 1 })) {
    seen.push(id);
    assert.deepEqual(document, { n: 1 });
    if (id === 3) {
      person.set(4, 'n', 2);
      person.delete(5);
      person.setDocument(31, { n: 1 });
    }
  }
  assert.deepEqual(seen, [1, 2, 3, ...Array.from({ length: 26 }, (_, at) => at + 6)]);
});

test('a snapshot shows the index of its moment', () => {
  const { db, path, person } = openNew();
  person.setDocument(1, { n: 1 });
  person.createIndex('n', ['n']);
  const other = open(path);
  db.snapshot(() => {
    assert.deepEqual([...person.find('n')], [[1, { n: 1 }]]);
    other.global('Person').set(1, 'n', 2);
    assert.deepEqual([...person.find('n')], [[1, { n: 1 }]]);
  });
  assert.deepEqual([...person.find('n')], [[1, { n: 2 }]]);
  other.close();
});

for (const engine of ENGINES) {
  test(`every face keeps an index right on ${engine}`, { skip: missing(engine) }, () => {
    const { db, path, person } = openNew(engine);
    person.createIndex('city', ['city']);
    const cities = () =>
      [...person.find('city')].map(([id, document]) => [id, /** @type {any} */ (document).city]);

    const mgdbx = new server();
    mgdbx.open({ type: 'CaretDB', path, engine });
    const global = new mglobal(mgdbx, 'Person');
    global.set(1, 'city', 'Redhill');
    mgdbx.set('Person', 2, 'city', 'Leeds');
    global.increment(3, 'city', 5);
    assert.deepEqual(cities(), [
      [3, '5'],
      [2, 'Leeds'],
      [1, 'Redhill'],
    ]);
    mgdbx.tstart();
    global.delete(2);
    global.set(1, 'city', 'York');
    mgdbx.trollback();
    assert.deepEqual(ids(person.find('city', { equals: 'Leeds' })), [2]);
    new mglobal(mgdbx, 'Source').set(7, 'city', 'Bath');
    global.merge(new mglobal(mgdbx, 'Source'));
    global.delete(3, 'city');
    assert.deepEqual(cities(), [
      [7, 'Bath'],
      [2, 'Leeds'],
      [1, 'Redhill'],
    ]);
    mgdbx.close();

    const glsdb = new glsDB();
    glsdb.open({ type: 'CaretDB', path, engine });
    const node = new glsdb.node('Person');
    node.$(2).document = { city: 'Hull' };
    node.$(7).proxy.city = 'Ayr';
    node.$(1).delete();
    assert.deepEqual(cities(), [
      [7, 'Ayr'],
      [2, 'Hull'],
    ]);
    glsdb.close();

    person.patch({ 2: { city: null }, 9: { city: 'Wick' } });
    assert.throws(() =>
      db.transaction(() => {
        person.delete();
        throw new Error('undone');
      }),
    );
    assert.deepEqual(ids(person.find('city')), [7, 9]);
    db.global('Person').document = [{ city: 'Stoke' }];
    assert.deepEqual(ids(person.find('city')), ['[000000]']);
    person.delete();
    assert.deepEqual(cities(), []);
  });
}

test('promises and callbacks keep an index right', async () => {
  const { db, person } = openNew();
  const later = db.async.global('Person');
  await later.set(1, 'city', 'Redhill');
  person.createIndex('city', ['city']);
  await later.setDocument(2, { city: 'Leeds' });
  await later.delete(1);
  assert.deepEqual([...person.find('city')], [[2, { city: 'Leeds' }]]);
});

test('another process keeps an index right that was made after it began to write', () => {
  const { person, path } = openNew();
  const script = `
    import { open } from 'caretdb';
    const db = open(${JSON.stringify(path)});
    const person = db.global('Person');
    person.set(1, 'city', 'Redhill');
    process.stdout.write('ready');
    process.stdin.once('data', () => {
      person.set(1, 'city', 'Leeds');
      person.set(2, 'city', 'York');
      db.close();
      process.exit();
    });
  `;
  // The other process is started by this one's call, so the index is made by a third while it waits.
  const maker = `
    import { spawn } from 'node:child_process';
    import { open } from 'caretdb';
    const writer = spawn(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(script)}]);
    writer.stderr.pipe(process.stderr);
    writer.stdout.once('data', () => {
      const db = open(${JSON.stringify(path)});
      db.global('Person').createIndex('city', ['city'], { unique: true });
      writer.stdin.write('go');
      writer.once('exit', () => db.close());
    });
  `;
  const root = fileURLToPath(new URL('../..', import.meta.url));
  execFileSync('node', ['--input-type=module', '-e', maker], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  assert.deepEqual(
    [...person.find('city')],
    [
      [1, { city: 'Leeds' }],
      [2, { city: 'York' }],
    ],
  );
  assert.throws(() => person.set(3, 'city', 'York'), withCode('ERR_BAD_VALUE'));
});

test('a duplicate in a unique index is refused by name and changes nothing', () => {
  const { db, person } = openNew();
  person.document = { a: { mail: 'x' }, b: { mail: 'x' } };
  assert.throws(() => person.createIndex('mail', ['mail'], { unique: true }), {
    code: 'ERR_BAD_VALUE',
    message: /\^Person\("a"\) and \^Person\("b"\).*"mail"/,
  });
  assert.throws(() => person.find('mail').next(), withCode('ERR_ARG'));
  person.set('b', 'mail', 'y');
  person.createIndex('mail', ['mail'], { unique: true });
  const before = person.document;
  for (const write of [
    () => person.set('b', 'mail', 'x'),
    () => person.setDocument('c', { mail: 'x', more: [1, 2, 3] }),
    () => person.mergeDocument({ c: { mail: 'z' }, b: { mail: 'x' } }),
    () => person.at('c').merge(person.at('a')),
    () => db.transaction(() => person.set('b', 'mail', 'x')),
  ]) {
    assert.throws(write, withCode('ERR_BAD_VALUE'));
    assert.deepEqual(person.document, before);
  }
  // One that is caught inside a transaction does not take the rest along.
  db.transaction(() => {
    person.set('d', 'mail', 'd');
    assert.throws(() => person.set('e', 'mail', 'd'), withCode('ERR_BAD_VALUE'));
  });
  assert.deepEqual(ids(person.find('mail')), ['d', 'a', 'b']);
  person.set('b', 'mail', 'y');
});

test('making an index twice is one index; another one under its name, and one that is not there, are errors', () => {
  const { person } = openNew();
  person.createIndex('mail', ['mail']);
  person.createIndex('mail', ['mail']);
  assert.throws(() => person.createIndex('mail', ['other']), withCode('ERR_ARG'));
  assert.throws(() => person.createIndex('mail', ['mail'], { unique: true }), withCode('ERR_ARG'));
  person.dropIndex('mail');
  assert.throws(() => person.dropIndex('mail'), TypeError);
  assert.throws(() => [...person.find('mail')], {
    code: 'ERR_ARG',
    message: /find \^Person.*no index "mail"/,
  });
});

test('wrong arguments are told apart from values', () => {
  const { person } = openNew();
  person.createIndex('mail', []);
  const index = /** @type {any} */ (person);
  for (const call of [
    () => index.createIndex('x', 'mail'),
    () => index.createIndex('x', [-1]),
    () => index.createIndex('x', [{}]),
    () => index.createIndex('', []),
    () => index.createIndex(1, []),
    () => index.createIndex('x', [], { unique: 1 }),
    () => index.find('mail', { equals: undefined }),
    () => index.find('mail', { equal: 1 }),
    () => index.find('mail', { from: 1, after: 1 }),
    () => index.find('mail', null),
    () => index.find(),
    () => [...index.find('mail', { equals: {} })],
    () => [...index.find('mail', { from: [] })],
  ]) {
    assert.throws(
      call,
      (/** @type {any} */ error) => error.code === 'ERR_ARG' && error instanceof TypeError,
      String(call),
    );
  }
  person.set('x', 'value');
  assert.deepEqual([...person.find('mail', { equals: 'value' })], [['x', 'value']]);
});

test('a value too long for an index is refused, and anything fits elsewhere', () => {
  const { person } = openNew();
  person.createIndex('mail', ['mail']);
  person.set(1, 'other', 'x'.repeat(5000));
  assert.throws(() => person.set(1, 'mail', 'x'.repeat(1100)), { code: 'ERR_TOO_LARGE', message: /"mail"/ });
  person.set(1, 'mail', 'x'.repeat(900));
  assert.deepEqual(ids(person.find('mail', { prefix: 'xxx' })), [1]);
});
