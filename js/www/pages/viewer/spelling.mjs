// How subscripts, nodes and values are written for a person. What could be mistaken for something else is quoted.

/**
 * @typedef {string | { bytes: string }} Subscript as the server gives it
 * @typedef {import('../../api.mjs').ShownValue} ShownValue
 */

/** A number as M writes it: what looks so is one. */
const NUMBER = /^-?(?:(?:[1-9]\d*|0)?\.\d*[1-9]|[1-9]\d*)$|^0$/;

/** Characters that would be invisible, or change the direction of what stands beside them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that cannot be seen
const UNSEEN = /[\u0000-\u001f\u007f-\u00a0\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufffd]/g;

/** Text that is plainly itself. */
const PLAIN = /^[\p{L}\p{N}\p{P}\p{S}\p{M}]+(?: [\p{L}\p{N}\p{P}\p{S}\p{M}]+)*$/u;

/** @param {string} character */
function codeOf(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * A subscript in the tree.
 *
 * @param {Subscript} subscript
 * @returns {string}
 */
export function subscriptText(subscript) {
  if (typeof subscript !== 'string') return `<${subscript.bytes}>`;
  const isPlain = NUMBER.test(subscript) || (PLAIN.test(subscript) && !/^["<\d.+-]/.test(subscript));
  return isPlain ? visible(subscript) : quoted(subscript);
}

/** @param {string} text @returns {string} with what cannot be seen as its code */
export function visible(text) {
  return text.replace(UNSEEN, codeOf);
}

/** @param {string} text */
function quoted(text) {
  return `"${visible(text.replaceAll('"', '""'))}"`;
}

/**
 * A node as M programs write it.
 *
 * @param {string} name of the global
 * @param {readonly Subscript[]} subscripts
 * @returns {string} `^Person(1,"address")`
 */
export function referenceText(name, subscripts) {
  if (subscripts.length === 0) return `^${name}`;
  const inside = subscripts.map((subscript) => {
    if (typeof subscript !== 'string') return `<${subscript.bytes}>`;
    return NUMBER.test(subscript) ? subscript : quoted(subscript);
  });
  return `^${name}(${inside.join(',')})`;
}

/**
 * A value in one line of the tree.
 *
 * @param {ShownValue} value
 * @returns {string}
 */
export function valueText(value) {
  const { type, text, length = 0, cut } = value;
  if (type === 'bytes') return `${sizeText(length)}${value.media ? `, ${value.media}` : ''}`;
  if (type !== 'string') return text;
  return cut ? `"${visible(text)}…` : `"${visible(text)}"`;
}

/** @param {number} bytes @returns {string} `600 bytes`, `1.5 MiB` */
export function sizeText(bytes) {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const units = ['KiB', 'MiB', 'GiB'];
  const power = Math.min(units.length, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toPrecision(3)} ${units[power - 1]}`;
}

/** How many bytes stand in one row. */
const ROW = 8;

/**
 * Bytes in rows: offset, hexadecimal digits, and the characters where they are ASCII.
 *
 * @param {string} hex
 * @returns {string}
 */
export function hexDump(hex) {
  const rows = [];
  for (let at = 0; at < hex.length; at += 2 * ROW) {
    const pairs = hex.slice(at, at + 2 * ROW).match(/../g) ?? [];
    const characters = pairs.map((pair) => {
      const code = Number.parseInt(pair, 16);
      return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : '·';
    });
    const offset = (at / 2).toString(16).padStart(6, '0');
    rows.push(`${offset}  ${pairs.join(' ').padEnd(3 * ROW - 1)}  ${characters.join('')}`);
  }
  return rows.join('\n');
}
