// How the document face reports a mistake.

export { failure } from '../failure.mjs';

/**
 * Names a value for an error message without printing all of it.
 *
 * @param {unknown} value
 * @returns {string}
 */
export function describe(value) {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : 'an object';
  return `the ${typeof value} ${String(value).slice(0, 40)}`;
}
