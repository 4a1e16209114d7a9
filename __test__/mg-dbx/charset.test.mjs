// Strings, bytes and charsets on the mg-dbx face.

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { beforeEach, describe, it } from 'node:test';
import { mcursor, mglobal } from 'caretdb';
import { openServer, withCode } from './store.mjs';

const { db } = openServer();
const global = new mglobal(db, 'Text');
const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const characters = bytes.toString('latin1');

beforeEach(() => {
  db.charset('utf-8');
  global.delete();
});

describe('charset', () => {
  for (const charset of ['binary', 'ascii']) {
    it(`'${charset}' carries all 256 characters as bytes, in keys and values`, () => {
      db.charset(charset);
      global.set('all', characters);
      assert.equal(global.get('all'), characters);
      for (const character of characters) global.set('one', character, character);
      const keys = [];
      for (let key = global.next('one', ''); key !== ''; key = global.next('one', key)) {
        assert.equal(global.get('one', key), key);
        keys.push(key);
      }
      assert.deepEqual(new Set(keys), new Set(characters));
      const cursor = new mcursor(db, { global: 'Text', key: ['one', ''] }, { getdata: true });
      for (let child = cursor.next(); child !== null; child = cursor.next()) {
        assert.equal(child.data, child.key);
      }
      assert.deepEqual(new Set(global.getchildnodes('one', { max: 300 })), new Set(characters));
      assert.throws(() => global.set('a', '€'), withCode('ERR_ARG', /U\+20AC/));
      assert.throws(() => global.get('€'), withCode('ERR_ARG', /U\+20AC/));
    });
  }

  it('utf-8 text read as binary shows its bytes, and the other way round', () => {
    global.set('ä', 'ö');
    db.charset('binary');
    assert.equal(global.next(''), 'Ã¤');
    assert.equal(global.get('Ã¤'), 'Ã¶');
    global.set('é', 'é');
    db.charset('utf-8');
    assert.equal(global.get(Buffer.from([0xe9])), '\ufffd');
    assert.equal(global.get('ä'), 'ö');
  });
});

describe('Buffers', () => {
  it('are stored as their bytes and read in the charset', () => {
    for (const value of [
      bytes,
      new Uint8Array(bytes),
      bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + 256),
    ]) {
      assert.equal(global.set('b', value), '0');
      assert.deepEqual(global.typed('b'), new Uint8Array(bytes));
      db.charset('binary');
      assert.equal(global.get('b'), characters);
      db.charset('utf-8');
    }
    global.set('text', Buffer.from('Zürich'));
    assert.equal(global.get('text'), 'Zürich');
    global.set('empty', Buffer.alloc(0));
    assert.equal(global.get('empty'), '');
    assert.equal(global.defined('empty'), '1');
  });

  it('are views of the bytes they show, and no more', () => {
    const view = new Uint16Array(new Uint16Array([1, 2, 3, 4]).buffer, 2, 2);
    global.set('v', view);
    assert.deepEqual(global.typed('v'), new Uint8Array([2, 0, 3, 0]));
    global.set('d', new DataView(bytes.buffer, bytes.byteOffset + 65, 3));
    assert.equal(global.get('d'), 'ABC');
    const changed = new Uint8Array([65]);
    global.set('c', changed);
    changed[0] = 66;
    assert.equal(global.get('c'), 'A');
  });

  it('are string subscripts as they are, or numbers where they spell one', () => {
    global.set(Buffer.from('key'), 'x');
    assert.equal(global.get('key'), 'x');
    global.set(Buffer.from('10'), 'ten');
    assert.equal(global.get(10), 'ten');
    global.set(bytes.subarray(128), 'high');
    assert.equal(global.get(bytes.subarray(128)), 'high');
    assert.equal(global.get(Buffer.alloc(0)), '', 'no bytes are no subscript');
    assert.equal(global.set(Buffer.alloc(0), 'x'), '');
  });
});

describe('strings', () => {
  it('come back as they are, whatever their characters', () => {
    for (const text of [
      '\0',
      '\u0001',
      'a\0b\u0001c',
      '\u007f\u0080\u07ff\u0800\uffff',
      '😀',
      '\ufffd',
      ' \t\r\n',
    ]) {
      global.set(text, text);
      assert.equal(global.get(text), text);
      assert.equal(global.next(''), text);
      global.delete();
    }
  });

  it('with a lone surrogate are refused everywhere', () => {
    for (const lone of ['\ud800', 'a\udfff', '\udc00\ud800', `\ufffd${'x'.repeat(500)}\ud83d`]) {
      assert.throws(() => global.set('a', lone), withCode('ERR_ARG', /surrogate/));
      assert.throws(() => global.get(lone), withCode('ERR_ARG', /surrogate/));
      assert.throws(() => global.next(lone), withCode('ERR_ARG', /surrogate/));
      assert.throws(() => global.increment('a', lone), withCode('ERR_ARG'));
      assert.throws(() => global.setTyped('a', lone), withCode('ERR_ARG', /surrogate/));
      assert.throws(() => global.setDocumentText('a', JSON.stringify({ a: 1 }) + lone), withCode('ERR_ARG'));
      assert.throws(() => db.get(lone), withCode('ERR_ARG'));
      assert.throws(
        () => new mcursor(db, { global: 'Text', key: [lone] }, {}),
        withCode('ERR_ARG', /surrogate/),
      );
    }
    assert.equal(global.defined(), '0');
  });
});
