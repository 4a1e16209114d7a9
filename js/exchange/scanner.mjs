// Reads what M spells: node references such as `^Person(1,"name")` and string expressions such as `$C(9)_"tab"`.

import { Buffer } from 'node:buffer';
import { bytesOrText } from './charset.mjs';
import { SyntaxFault } from './faults.mjs';
import { canonical, isCanonical } from './numerals.mjs';

/** @typedef {import('./charset.mjs').Charset} Charset */

const NUMERAL = /[-+]*(?:\d+(?:\.\d*)?|\.\d+)(?:E[-+]?\d+)?/y;
const BY_NUMBER = /\$(Z?)C(?:H(?:AR?)?)?\(/iy;
const NAME_END = /[(=\s]|$/g;
const CLOSED = ',)';

/** Reads one text from the left; each method begins where the last one ended. */
export class Scanner {
  /**
   * @param {string} text M characters
   * @param {Charset} charset
   */
  constructor(text, charset) {
    this.text = text;
    this.charset = charset;
    this.at = 0;
  }

  /** @returns {{ name: string, subscripts: (string | Uint8Array)[] }} the name as it stands, allowed or not */
  reference() {
    const name = this.name();
    return { name, subscripts: this.#takes('(') ? this.#subscripts() : [] };
  }

  /** @returns {string} */
  name() {
    this.#takes('^');
    NAME_END.lastIndex = this.at;
    const end = NAME_END.exec(this.text)?.index ?? this.text.length;
    const name = this.text.slice(this.at, end);
    if (name === '') throw this.wrong('the name of a global is missing');
    if (/["|[\]{}]/.test(name)) throw this.wrong('a global is named by letters and digits, as in ^Person(1)');
    this.at = end;
    return name;
  }

  #subscripts() {
    const subscripts = [];
    do subscripts.push(this.#subscript());
    while (this.#takes(','));
    if (!this.#takes(')')) throw this.wrong('a subscript ends with , or )');
    return subscripts;
  }

  /** @returns {string | Uint8Array} a number in its canonical spelling, which the store takes for the number */
  #subscript() {
    this.spaces();
    const first = this.text[this.at];
    const begin = this.at;
    const found = first === '"' || first === '$' ? this.string() : this.numeral();
    if (found === undefined) {
      throw this.wrong('a subscript is a number, a string in double quotes or $C(…)');
    }
    if (found.length === 0) {
      this.at = begin;
      throw Object.assign(this.wrong('the empty string is no subscript'), { code: 'ERR_BAD_KEY' });
    }
    this.spaces();
    if (this.at < this.text.length && !CLOSED.includes(this.text[this.at])) {
      throw this.wrong('a subscript ends with , or )');
    }
    return found;
  }

  /** @returns {string | undefined} undefined where there is no number */
  numeral() {
    NUMERAL.lastIndex = this.at;
    const found = NUMERAL.exec(this.text);
    if (found === null) return undefined;
    const spelt = canonical(found[0]);
    if (spelt === undefined) {
      const reason = 'a number has at most 18 significant digits and lies between 1E-43 and 1E47';
      throw Object.assign(this.wrong(reason), { code: 'ERR_BAD_KEY' });
    }
    this.at = NUMERAL.lastIndex;
    return spelt;
  }

  /** @returns {string | Uint8Array} quoted strings, `$C(…)` and `$ZCH(…)`, joined by `_` */
  string() {
    const first = this.#piece();
    if (typeof first === 'string' && this.text[this.at] !== '_') return this.charset.value(first);
    const pieces = [first];
    while (this.#takes('_')) pieces.push(this.#piece());
    if (pieces.every((piece) => typeof piece === 'string')) return this.charset.value(pieces.join(''));
    const bytes = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
    const read = bytesOrText(bytes);
    // Bytes that spell a number are written so, and are not the number.
    return typeof read === 'string' && isCanonical(read) ? new Uint8Array(bytes) : read;
  }

  /** @returns {string | Buffer} */
  #piece() {
    if (this.text[this.at] === '"') return this.#quoted();
    BY_NUMBER.lastIndex = this.at;
    const found = BY_NUMBER.exec(this.text);
    if (found === null) throw this.wrong('a string stands in double quotes, or is $C(…) or $ZCH(…)');
    this.at = BY_NUMBER.lastIndex;
    const isByte = found[1] !== '';
    const numbers = this.#numbers(isByte ? 0xff : this.charset.highest);
    return isByte && this.charset.encoding === 'utf8'
      ? Buffer.from(numbers)
      : numbers.map((n) => String.fromCodePoint(n)).join('');
  }

  #quoted() {
    const { text } = this;
    let begin = this.at + 1;
    let end = text.indexOf('"', begin);
    let read = '';
    while (end >= 0 && text[end + 1] === '"') {
      read += text.slice(begin, end + 1);
      begin = end + 2;
      end = text.indexOf('"', begin);
    }
    if (end < 0) throw this.wrong('the string has no closing double quote');
    this.at = end + 1;
    return read === '' ? text.slice(begin, end) : read + text.slice(begin, end);
  }

  /** @param {number} highest */
  #numbers(highest) {
    const end = this.text.indexOf(')', this.at);
    const inside = end < 0 ? '' : this.text.slice(this.at, end);
    if (!/^\d+(?:,\d+)*$/.test(inside)) throw this.wrong('$C and $ZCH take numbers: $C(9,10)');
    const numbers = inside.split(',').map(Number);
    const bad = numbers.find((n) => n > highest || (n >= 0xd800 && n <= 0xdfff));
    if (bad !== undefined) throw this.wrong(`${bad} is no character of the charset ${this.charset.name}`);
    this.at = end + 1;
    return numbers;
  }

  spaces() {
    while (this.text[this.at] === ' ') this.at += 1;
  }

  /** Throws unless everything was read. */
  end() {
    if (this.at < this.text.length) throw this.wrong('nothing more was expected');
  }

  /** @param {string} character @returns {boolean} whether it was next, and is read now */
  #takes(character) {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  /** @param {string} message @returns {SyntaxFault} */
  wrong(message) {
    const found = this.at < this.text.length ? this.text.slice(this.at, this.at + 20) : 'the end';
    return new SyntaxFault(`at character ${this.at + 1}, ${found}: ${message}`, this.at);
  }
}
