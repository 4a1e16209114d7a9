// A store for the viewer's tests: every kind of value, and keys that a path could not spell.

import { deflateSync } from 'node:zlib';

import { open } from '../../js/native.mjs';

/** Keys that are only themselves: with the signs of paths, of M and of JSON, and of every plane of Unicode. */
export const HOSTILE_KEYS = [
  '.',
  'a.b',
  '[0]',
  '[x]',
  'a]b[c',
  '#056',
  '"',
  '""',
  'a","b',
  '%2F',
  '/',
  '..',
  ' ',
  '\t',
  '\0',
  'é',
  'e\u0301',
  '日本',
  '😀',
  '\ufffd',
  '__proto__',
  'constructor',
  '01',
  '1.0',
  '<b>bold</b>',
];

/** A picture of 16 by 16 pixels in the format PNG. */
export const PNG = png(16);

/** @param {number} side @returns {Uint8Array} a square whose colours run from corner to corner */
function png(side) {
  const rows = Buffer.alloc(side * (1 + 3 * side));
  for (let y = 0; y < side; y += 1) {
    for (let x = 0; x < side; x += 1) {
      const at = y * (1 + 3 * side) + 1 + 3 * x;
      rows.set([15 + 8 * x, 118 + 4 * y, 110 + 8 * (side - x)], at);
    }
  }
  const size = Buffer.alloc(8);
  size.writeUInt32BE(side, 0);
  size.writeUInt32BE(side, 4);
  const header = Buffer.concat([size, Buffer.from([8, 2, 0, 0, 0])]);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return new Uint8Array(
    Buffer.concat([
      signature,
      chunk('IHDR', header),
      chunk('IDAT', deflateSync(rows)),
      chunk('IEND', Buffer.alloc(0)),
    ]),
  );
}

/** @param {string} type @param {Buffer} data */
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(checksum(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** The CRC-32 that PNG asks for; Node.js 20 has none of its own. @param {Uint8Array} bytes */
function checksum(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}

/**
 * @param {string} path
 * @param {{ many?: number }} [options] how many children `^Many` has
 */
export function fillStore(path, { many = 120 } = {}) {
  const db = open(path);
  const types = db.global('Types');
  types.set('string', 'text');
  types.set('long', `${'x'.repeat(199)}😀 and more`);
  types.set('number', 0.1);
  types.set('minus zero', -0);
  types.set('true', true);
  types.set('null', null);
  types.set('empty', '');
  types.set(
    'bytes',
    Uint8Array.from({ length: 600 }, (_, at) => at % 256),
  );
  types.set('picture', PNG);
  types.set('both', 'a value');
  types.set('both', 'below', 'and a child');
  types.setDocument('document', { a: {}, b: [], c: [1, 'two', null], d: { '[000000]': 1 } });
  const keys = db.global('Keys');
  HOSTILE_KEYS.forEach((key, at) => {
    keys.set(key, 'deeper', at);
  });
  keys.set(new Uint8Array([0xff, 0xfe]), 'below', 'bytes as a key');
  const children = db.global('Many');
  db.transaction(() => {
    for (let key = 1; key <= many; key += 1) children.set(key, `value ${key}`);
  });
  const names = db.global('Names');
  for (const name of ['Ada', 'Alan', 'Edsger', 'Grace', 'Rob', '07 text', '10 Downing Street'])
    names.set(name, 1);
  for (const number of [-2, 0.5, 7, 20]) names.set(number, 1);
  db.close();
}
