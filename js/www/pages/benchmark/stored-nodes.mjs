// Shows how a document is stored: the nodes of one record, as M programs write them.

/** More lines than this are counted, not shown. */
const MOST_LINES = 12;

/**
 * @param {string} name of the global
 * @param {unknown} document
 * @returns {string} one node a line, `^bmTest(n,"address","city")="Redhill"`
 */
export function storedNodes(name, document) {
  const lines = [];
  let count = 0;
  for (const { path, value } of leaves(document, [])) {
    count += 1;
    if (count <= MOST_LINES)
      lines.push(`^${name}(${['n', ...path.map(quoted)].join(',')})=${valueText(value)}`);
  }
  if (count > MOST_LINES) lines.push(`… and ${(count - MOST_LINES).toLocaleString('en-US')} more`);
  return lines.join('\n');
}

/**
 * @param {unknown} value
 * @param {string[]} path
 * @returns {Generator<{ path: string[], value: unknown }>} in the order the database keeps them, near enough for a picture
 */
function* leaves(value, path) {
  const children = childrenOf(value);
  if (children.length === 0) yield { path, value };
  for (const [subscript, child] of children) yield* leaves(child, [...path, subscript]);
}

/**
 * @param {unknown} value
 * @returns {[string, unknown][]}
 */
function childrenOf(value) {
  if (Array.isArray(value)) return value.map((child, at) => [`[${String(at).padStart(6, '0')}]`, child]);
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).sort(([a], [b]) => bySubscript(a, b));
}

/**
 * Numbers first, by value, then strings.
 *
 * @param {string} a
 * @param {string} b
 */
function bySubscript(a, b) {
  const [first, second] = [isNumber(a), isNumber(b)];
  if (first && second) return Number(a) - Number(b);
  if (first !== second) return first ? -1 : 1;
  return a < b ? -1 : 1;
}

/** @param {string} text */
function isNumber(text) {
  return /^(0|-?[1-9]\d*)$/.test(text);
}

/** @param {string} subscript */
function quoted(subscript) {
  return isNumber(subscript) ? subscript : `"${subscript.replaceAll('"', '""')}"`;
}

/** @param {unknown} value */
function valueText(value) {
  if (Array.isArray(value)) return '[]';
  if (value !== null && typeof value === 'object') return '{}';
  return typeof value === 'string' ? `"${value.replaceAll('"', '""')}"` : String(value);
}
