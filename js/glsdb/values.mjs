// Single values: what a leaf holds, and the reading of text as the published glsdb reads it, for those who ask for it.

/**
 * A string as the published glsdb gives it to a program: text that looks like null, a boolean or a number of fewer than
 * fifteen characters becomes one. It loses information (`"007"` becomes 7), so it is only done with `legacyValues`.
 *
 * @param {string} text
 * @returns {string | number | boolean | null}
 */
export function legacyValue(text) {
  if (text === 'null') return null;
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (text === '' || text.length >= 15) return text;
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}
