// M's order of subscripts, for the one place in this face that must know where a range of children ends: numbers first,
// by value, then strings by their UTF-8 bytes. The store itself sorts; nothing here decides what is stored where.

const CANONICAL = /^(?:0|-?(?:[1-9]\d*(?:\.\d*[1-9])?|\.\d*[1-9]))$/;
const SIGNIFICANT_DIGITS = 18;

/**
 * Whether a subscript collates among the numbers.
 *
 * @param {string} text
 * @returns {boolean} false for `01`, `1.0`, `0.5` and for more than 18 significant digits
 */
export function isCanonicalNumber(text) {
  if (!CANONICAL.test(text)) return false;
  return text.length <= SIGNIFICANT_DIGITS || significantDigits(text) <= SIGNIFICANT_DIGITS;
}

/**
 * @param {string} number canonical
 * @returns {number}
 */
function significantDigits(number) {
  return number.replace(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '').length;
}

/**
 * Compares two subscripts.
 *
 * @param {string} a
 * @param {string} b
 * @returns {number} below 0 when `a` comes first, 0 when they are equal, above 0 otherwise
 */
export function compareSubscripts(a, b) {
  if (a === b) return 0;
  const aIsNumber = isCanonicalNumber(a);
  if (aIsNumber !== isCanonicalNumber(b)) return aIsNumber ? -1 : 1;
  return aIsNumber ? compareNumbers(a, b) : compareText(a, b);
}

/**
 * Compares canonical numbers by their digits: 18 of them are more than a double holds.
 *
 * @param {string} a
 * @param {string} b
 * @returns {number}
 */
function compareNumbers(a, b) {
  const aIsNegative = a.startsWith('-');
  if (aIsNegative !== b.startsWith('-')) return aIsNegative ? -1 : 1;
  return aIsNegative ? compareSizes(b.slice(1), a.slice(1)) : compareSizes(a, b);
}

/**
 * @param {string} a
 * @param {string} b
 * @returns {number}
 */
function compareSizes(a, b) {
  const [aWhole, aFraction] = splitAtPoint(a);
  const [bWhole, bFraction] = splitAtPoint(b);
  if (aWhole.length !== bWhole.length) return aWhole.length - bWhole.length;
  if (aWhole !== bWhole) return aWhole < bWhole ? -1 : 1;
  if (aFraction === bFraction) return 0;
  return aFraction < bFraction ? -1 : 1;
}

/**
 * @param {string} number
 * @returns {[string, string]} the whole part, empty for zero, and the fraction
 */
function splitAtPoint(number) {
  const point = number.indexOf('.');
  const whole = point < 0 ? number : number.slice(0, point);
  return [whole === '0' ? '' : whole, point < 0 ? '' : number.slice(point + 1)];
}

/**
 * Compares text by its UTF-8 bytes, which is by code point, while JavaScript's `<` goes by UTF-16 unit.
 *
 * @param {string} a
 * @param {string} b
 * @returns {number}
 */
function compareText(a, b) {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at += 1) {
    const aUnit = a.charCodeAt(at);
    const bUnit = b.charCodeAt(at);
    if (aUnit !== bUnit) return rank(aUnit) - rank(bUnit);
  }
  return a.length - b.length;
}

/**
 * @param {number} unit a UTF-16 unit
 * @returns {number} the unit, with surrogates moved above the rest of the basic plane
 */
function rank(unit) {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
