// Range requests (RFC 9110): which stretch of an attachment a caller asks for.

/**
 * @param {Record<string, any>} headers of the request
 * @param {number} size of the whole
 * @param {string} tag its entity tag
 * @returns {{start: number, length: number} | 'whole' | 'none'} `'none'`: there is no such stretch. Several stretches are the whole
 */
export function rangeOf({ range, 'if-range': ifRange }, size, tag) {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/i.exec(String(range ?? '').replaceAll(/\s/g, '')) ?? [];
  if (first === undefined || (first === '' && last === '')) return 'whole';
  if (ifRange !== undefined && ifRange.trim() !== tag) return 'whole';
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'none' : { start: size - length, length };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return 'whole';
  return start >= size ? 'none' : { start, length: end - start + 1 };
}
