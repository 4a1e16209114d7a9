// Values as the viewer gets them: the type, and as much of the value as a line or a panel has room for. Bytes are described.

/**
 * @typedef {object} Shown
 * @property {'string' | 'number' | 'boolean' | 'null' | 'bytes' | 'mark'} type
 * @property {string} text the value, or its beginning; of bytes the first ones as hexadecimal digits
 * @property {number} [length] characters of a string (UTF-16 units), or how many bytes
 * @property {boolean} [cut] whether `text` is only the beginning
 * @property {string} [media] of bytes that begin as an image does: its media type
 */

/** How much of a value a line of the tree has, and a panel for one node: characters, or bytes. */
export const LINE = { characters: 200, bytes: 32 };
export const PANEL = { characters: 256 * 1024, bytes: 512 };

/**
 * @param {any} bare the node's global
 * @param {import('./address.mjs').Subscript[]} subscripts
 * @param {{ characters: number, bytes: number }} room
 * @returns {Shown | undefined} undefined where the node has no value
 */
export function shownValue(bare, subscripts, room) {
  const value = bare.get(...subscripts);
  if (value === undefined) return shownMark(bare.mark(...subscripts));
  if (value === null) return { type: 'null', text: 'null' };
  if (value instanceof Uint8Array) return shownBytes(value, room.bytes);
  if (typeof value === 'string') return shownText(value, room.characters);
  return {
    type: typeof value === 'number' ? 'number' : 'boolean',
    text: Object.is(value, -0) ? '-0' : String(value),
  };
}

/** What documents leave at a node so that nothing of them is lost, as a person would write it. @type {Record<string, string>} */
const MARKS = { emptyObject: '{}', emptyArray: '[]', object: '{…}' };

/** @param {string | undefined} mark @returns {Shown | undefined} */
function shownMark(mark) {
  return mark === undefined ? undefined : { type: 'mark', text: MARKS[mark] ?? mark };
}

/** @param {string} value @param {number} room @returns {Shown} */
function shownText(value, room) {
  const { length } = value;
  if (length <= room) return { type: 'string', text: value, length };
  // Half of a surrogate pair is no character.
  const end = isHighSurrogate(value.charCodeAt(room - 1)) ? room - 1 : room;
  return { type: 'string', text: value.slice(0, end), length, cut: true };
}

/** @param {number} unit */
function isHighSurrogate(unit) {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** @param {Uint8Array} value @param {number} room @returns {Shown} */
function shownBytes(value, room) {
  const media = imageType(value);
  return {
    type: 'bytes',
    text: Buffer.from(value.subarray(0, room)).toString('hex'),
    length: value.length,
    ...(value.length > room && { cut: true }),
    ...(media !== undefined && { media }),
  };
}

/** How images begin that a browser shows without running anything in them, as hexadecimal digits. */
const BEGINNINGS = [
  { media: 'image/png', pattern: /^89504e470d0a1a0a/ },
  { media: 'image/jpeg', pattern: /^ffd8ff/ },
  { media: 'image/gif', pattern: /^47494638(37|39)61/ },
  { media: 'image/webp', pattern: /^52494646.{8}57454250/ },
];

/**
 * @param {Uint8Array} bytes
 * @returns {string | undefined} the media type
 */
function imageType(bytes) {
  const beginning = Buffer.from(bytes.subarray(0, 12)).toString('hex');
  return BEGINNINGS.find(({ pattern }) => pattern.test(beginning))?.media;
}
