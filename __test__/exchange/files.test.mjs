// Promises about files that come from elsewhere: what M wrote is read exactly, and what is wrong is named by its line
// and changes nothing.

import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CHARSETS } from '../../js/exchange/charset.mjs';
import { exportNodes } from '../../js/exchange/export.mjs';
import { importNodes } from '../../js/exchange/import.mjs';
import { MARKS } from '../../js/exchange/marks.mjs';
import { spellReference } from '../../js/exchange/spell.mjs';
import { open } from '../../js/index.mjs';
import { contents, empty, exported, imported, temporaryStore } from './store.mjs';

const { db, folder } = temporaryStore();
const oracle = (/** @type {string} */ name) => fileURLToPath(new URL(`../oracle/${name}`, import.meta.url));

/** @param {Buffer} file @returns {string[]} without the label and the date */
const body = (file) => file.toString('latin1').split('\n').slice(2);

for (const charset of ['latin1', 'm']) {
  test(`what GT.M extracted is written again byte by byte (${charset})`, () => {
    empty(db);
    assert.equal(importNodes(db, oracle('sample.zwr'), { charset }).nodes, 19);
    assert.deepEqual(db.global('Bin').get('q"q'), '"');
    const again = exported(db, { format: 'zwr', charset });
    assert.deepEqual(body(again), body(readFileSync(oracle('sample.zwr'))));
  });
}

test('each character set reads the bytes of M mode in its own way', () => {
  empty(db);
  importNodes(db, oracle('sample.zwr'), { charset: 'latin1' });
  assert.equal(db.global('Bin').get(1), '\0\x01\x02\t\n\r\x1b\x7f\x80\xc8\xff');
  assert.equal(db.global('Bin').get('ÈÉ'), 'high');
  empty(db);
  importNodes(db, oracle('sample.zwr'), { charset: 'm' });
  assert.deepEqual(db.global('Bin').get(1), new Uint8Array([0, 1, 2, 9, 10, 13, 27, 127, 128, 200, 255]));
  empty(db);
  imported(db, folder, Buffer.from('^A(1)="\xc3"_$C(137)\n', 'latin1'), { charset: 'm' });
  assert.equal(db.global('A').get(1), 'É');
});

test('a GO file of M is read and written again byte by byte', () => {
  empty(db);
  assert.equal(importNodes(db, oracle('sample.go-extract')).nodes, 12);
  assert.equal(db.global('Person').get(2, 'empty'), '');
  const again = exported(db, { format: 'go' });
  assert.deepEqual(body(again), body(readFileSync(oracle('sample.go-extract'))));
});

test('a file of M mode read as UTF-8 is refused, with the option that reads it', () => {
  empty(db);
  assert.throws(() => importNodes(db, oracle('sample.zwr')), {
    code: 'ERR_BAD_VALUE',
    line: 4,
    message:
      /sample\.zwr:4: the line is not UTF-8\n.*:8: .*\n.*--charset latin1 or --charset m\nnothing was imported/,
  });
  assert.deepEqual(contents(db), []);
  assert.equal(importNodes(db, oracle('sample.zwr'), { keepGoing: true }).faults, 2);
});

test('lines may end in CR LF, the last one in nothing, and heads may be missing', () => {
  for (const [file, format] of [
    ['label\r\n30-NOV-2026  17:12:36 ZWR\r\n^A(1)="x"\r\n^A(2)=5\r\n\r\n'],
    ['^A(1)="x"\n^A(2)="5"'],
    ['label\r\n30-NOV-2026  17:12:36\r\n^A(1)\r\nx\r\n^A(2)\r\n5\r\n'],
    ['^A(1)\nx\n^A(2)\n5\n'],
    ['^A(1)\n=\n^A(1)\nx\n^A("=")\n1\n^A(2)\n5', 'go'],
    ['["A",[1],"x"]\r\n\r\n ["A",[2],"5"]'],
  ]) {
    empty(db);
    imported(db, folder, file, { format });
    assert.deepEqual([db.global('A').get(1), db.global('A').get(2)], ['x', '5'], JSON.stringify(file));
  }
});

test('spellings of M that are not canonical become what M makes of them', () => {
  empty(db);
  imported(
    db,
    folder,
    '^A(007)=1\n^A(0.50)=2\n^A(1E3)=--3\n^A($char(65)_"b"_$ZCHAR(195,169))=$c(9731)\n',
    {},
  );
  assert.deepEqual(contents(db), [
    ['A', [0.5], '2'],
    ['A', [7], '1'],
    ['A', [1000], '3'],
    ['A', ['Abé'], '☃'],
  ]);
});

test('every kind of mistake is named by its line', () => {
  const long = 'x'.repeat(2000);
  const zwr = [
    '^A(1="x"',
    '^A(1)="x',
    '^A(1)="x"y',
    '^A(1)x"',
    '^A(1)',
    'A(1)="x"',
    '^A("")="x"',
    '^A(1,)="x"',
    '^A(1E99)="x"',
    '^A($C(1,)="x"',
    '^A(1)=$C(1114112)',
    '^A(1)=$C(55296)',
    '^1A(1)="x"',
    '^|"other.gld"|A(1)="x"',
    '^%caretdb(1)="x"',
    `^A("${long}")="x"`,
  ];
  const json = [
    '{}',
    '["A",[1]]',
    '["A",1,2]',
    '["A",[1],{}]',
    '["A",[1],{"bytes":"?"}]',
    '["A",[1],{"mark":"full"}]',
    '["A",[1],1e999]',
    '["A",[true],1]',
    '["A",[null],1]',
    '["A",[1],"\\ud800"]',
    '["A",["\\udc00"],1]',
    '[1,[1],1]',
    '["a b",[1],1]',
    '["A",[1],',
  ];
  for (const [format, lines] of Object.entries({ zwr, jsonl: json })) {
    empty(db);
    const good = format === 'zwr' ? '^A(5)="good"' : '["A",[5],"good"]';
    const file = lines.flatMap((line) => [good, line]).join('\n');
    /** @type {any} */
    let refused;
    assert.throws(
      () => imported(db, folder, file, { format }),
      (error) => {
        refused = error;
        return true;
      },
    );
    assert.deepEqual(
      refused.shown.map((/** @type {{ line: number }} */ { line }) => line),
      lines.map((_, index) => 2 * index + 2),
    );
    assert.equal(refused.line, 2);
    assert.deepEqual(contents(db), []);
    const { nodes, faults } = imported(db, folder, file, { format, keepGoing: true });
    assert.deepEqual([nodes, faults], [lines.length, lines.length]);
    assert.deepEqual(contents(db), [['A', [5], 'good']]);
  }
});

test('GO names the line of a node without value, and skips the value of a wrong node', () => {
  empty(db);
  assert.throws(() => imported(db, folder, '^A(1)\nx\n^A(2)', { format: 'go' }), { line: 3 });
  const { faults } = imported(db, folder, '^A(\n^A(9)\n^A(2)\nok\n', { format: 'go', keepGoing: true });
  assert.equal(faults, 1);
  assert.deepEqual(contents(db), [['A', [2], 'ok']]);
});

test('faults beyond the twentieth are counted', () => {
  const file = 'x\n'.repeat(25);
  assert.throws(() => imported(db, folder, file, { format: 'jsonl' }), {
    faults: 25,
    message: /:20: [^\n]*\nand 5 more\nnothing was imported/,
  });
});

test('names are refused, or renamed without meeting another name of the file', () => {
  empty(db);
  const file = '["my data",[1],1]\n["my_data",[1],2]\n["9",[],3]\n["%caretdb",[],4]\n';
  assert.throws(() => imported(db, folder, file), { code: 'ERR_BAD_NAME', line: 1, faults: 3 });
  assert.deepEqual(contents(db), []);
  const { renamed } = imported(db, folder, file, { rename: true });
  assert.deepEqual([...renamed].sort(), [
    ['%caretdb', '%caretdb2'],
    ['9', 'X9'],
    ['my data', 'my_data2'],
  ]);
  assert.deepEqual(contents(db), [
    ['%caretdb2', [], 4],
    ['X9', [], 3],
    ['my_data', [1], 2],
    ['my_data2', [1], 1],
  ]);
});

test('an export for M refuses or renames what M has no name for, before it writes', () => {
  empty(db);
  const long = 'x'.repeat(40);
  for (const name of ['order_items', 'orderitems', long]) db.global(name).set(name);
  assert.throws(() => exported(db, { format: 'zwr' }), {
    code: 'ERR_BAD_NAME',
    message: /order_items.*--rename/,
  });
  const lines = body(exported(db, { format: 'zwr', rename: true }));
  assert.deepEqual(lines, [
    '^orderitems2="order_items"',
    '^orderitems="orderitems"',
    `^${'x'.repeat(31)}="${long}"`,
    '',
  ]);
  assert.equal(exported(db).toString().split('\n').length, 4);
});

test('what a format cannot say is an error that names the node', () => {
  empty(db);
  db.global('A').set(1, '€');
  assert.throws(() => exported(db, { format: 'zwr', charset: 'latin1' }), {
    message: /\^A\(1\): .*"€" is not in latin1/,
  });
  assert.throws(() => spellReference('A', [Buffer.from('10')], CHARSETS['utf-8']), {
    code: 'ERR_BAD_KEY',
    message: /JSON lines/,
  });
  assert.throws(() => exported(db, { format: 'go', charset: 'utf-8' }), { code: 'ERR_ARG' });
});

test('JSON lines look as documented', () => {
  empty(db);
  const global = db.global('Person');
  /** @type {[any, string][]} */
  const values = [
    ['Rob', '"Rob"'],
    [0.5, '0.5'],
    [-0, '{"number":"-0"}'],
    [Number.NaN, '{"number":"NaN"}'],
    [Number.NEGATIVE_INFINITY, '{"number":"-Infinity"}'],
    [true, 'true'],
    [null, 'null'],
    [new Uint8Array([255]), '{"bytes":"/w=="}'],
  ];
  values.forEach(([value], index) => {
    global.set(index, value);
  });
  global.setMark('m', 'emptyObject');
  const lines = exported(db).toString().split('\n');
  values.forEach(([, text], index) => {
    assert.equal(lines[index], `["Person",[${index}],${text}]`);
  });
  assert.equal(lines[values.length], '["Person",["m"],{"mark":"emptyObject"}]');
  assert.equal(global.mark('m'), MARKS.get('emptyObject')?.name);
});

test('lines longer than what is read at once, and files of several transactions', () => {
  empty(db);
  const path = join(folder, 'large');
  const file = openSync(path, 'w');
  const long = 'y'.repeat(3 << 20);
  writeSync(file, `^A(0)="${long}"\n`);
  for (let block = 0; block < 70; block++) {
    const lines = Array.from(
      { length: 1000 },
      (_, n) => `^A(${block * 1000 + n + 1})="${'x'.repeat(1000)}"\n`,
    );
    writeSync(file, lines.join(''));
  }
  writeSync(file, '^A("last")="end"\n');
  closeSync(file);
  /** @type {Set<string>} */
  const phases = new Set();
  const { nodes } = importNodes(db, path, { onProgress: (phase) => phases.add(phase) });
  assert.equal(nodes, 70_002);
  assert.deepEqual([...phases], ['checking', 'writing']);
  assert.equal(db.global('A').get(0), long);
  assert.equal(db.global('A').get(70_000), 'x'.repeat(1000));
  assert.equal(db.global('A').count(), 70_002);
});

test('an export is of one moment, whatever is written meanwhile', () => {
  empty(db);
  for (let n = 0; n < 20_000; n++) db.global('A').set(n, 'x'.repeat(20));
  const other = open(db.path);
  /** @type {Buffer[]} */
  const pieces = [];
  exportNodes(db, (piece) => {
    pieces.push(piece);
    other.global('A').set(19_999, 'late');
    other.global('A').set('late', 'late');
  });
  other.close();
  assert.ok(pieces.length > 1);
  const text = Buffer.concat(pieces).toString();
  assert.equal(text.split('\n').length, 20_001);
  assert.doesNotMatch(text, /late/);
  assert.equal(db.global('A').get('late'), 'late');
});
