// What stands behind options on the command line.

import { TypingError } from './nodes.mjs';

/** @param {string | undefined} text @param {string} option @returns {number} Infinity where it is left out */
export function wholeNumber(text, option) {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new TypingError(`${option} is a whole number, not ${text}`);
}
