// Numbers as M spells them: which strings are subscripts of their value, and how any spelling becomes that one.

/** What docs/keys.md calls a number: up to 18 significant digits, exponents from -43 to 47. */
const MOST_DIGITS = 18;
const LOWEST_EXPONENT = -43;
const HIGHEST_EXPONENT = 47;

const CANONICAL = /^-?(?:[1-9]\d*(?:\.\d*[1-9])?|\.\d*[1-9])$/;
const NUMERAL = /^([-+]*)(\d*)(?:\.(\d*))?(?:E([-+]?\d+))?$/;

/**
 * Whether a string subscript is a number, because it is spelt exactly as M spells that number.
 *
 * @param {string} text
 * @returns {boolean}
 */
export function isCanonical(text) {
  const first = text.charCodeAt(0);
  if (first > 57 || first < 45) return false;
  if (text.length > 120 || !CANONICAL.test(text)) return text === '0';
  if (text.length < MOST_DIGITS) return true;
  const digits = text.replace(/[-.]/g, '');
  if (significant(digits) > MOST_DIGITS) return false;
  const exponent = exponentOf(text.replace('-', ''));
  if (exponent < LOWEST_EXPONENT || exponent > HIGHEST_EXPONENT) return false;
  // 1E47 is the largest magnitude.
  return exponent < HIGHEST_EXPONENT || /^10*$/.test(digits);
}

/** @param {string} digits */
function significant(digits) {
  return digits.replace(/^0+/, '').replace(/0+$/, '').length;
}

/** @param {string} magnitude @returns {number} the decimal exponent of its first digit */
function exponentOf(magnitude) {
  const point = magnitude.indexOf('.');
  if (point !== 0) return (point < 0 ? magnitude.length : point) - 1;
  return -(/^0*/.exec(magnitude.slice(1))?.[0].length ?? 0) - 1;
}

/**
 * The canonical spelling of a numeral such as `007`, `0.50`, `+1` or `1E3`.
 *
 * @param {string} text
 * @returns {string | undefined} undefined where it is no numeral, or none that M can tell from its neighbours
 * @example
 * canonical('0.50'); // '.5'
 */
export function canonical(text) {
  if (isCanonical(text)) return text;
  const found = NUMERAL.exec(text);
  if (found === null || !(found[2] || found[3])) return undefined;
  const [, signs, whole, fraction = '', exponent = '0'] = found;
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return '0';
  const scale = Number(exponent) - fraction.length;
  if (Math.abs(scale) > 1000) return undefined;
  const spelt = place(digits, scale);
  const minus = (signs.split('-').length - 1) % 2 === 1 ? '-' : '';
  return isCanonical(minus + spelt) ? minus + spelt : undefined;
}

/**
 * @param {string} digits without zeros in front
 * @param {number} scale how many places the point stands behind the last digit
 */
function place(digits, scale) {
  if (scale >= 0) return digits + '0'.repeat(scale);
  const padded = digits.padStart(-scale, '0');
  const whole = padded.slice(0, scale);
  const fraction = padded.slice(scale).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/**
 * A number as a subscript is spelt.
 *
 * @param {number} n
 * @returns {string}
 */
export function spellNumber(n) {
  if (Number.isSafeInteger(n)) return String(n);
  return canonical(String(n).toUpperCase()) ?? String(n);
}
