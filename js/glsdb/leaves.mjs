// Walking the values below a node, at any depth, with one cursor over the whole subtree.

/**
 * @typedef {import('./node.mjs').Node} Node
 * @typedef {import('./keys.mjs').Subscript} Subscript
 * @typedef {object} LeafOptions
 * @property {string} [direction] `'reverse'` or `'backwards'`: from the last value to the first
 * @property {boolean} [getdata] pass keys and value to the callback, instead of a node
 */

/**
 * Visits the keys of every node with a value below a node; the node itself is not among them.
 *
 * @param {Node} node
 * @param {boolean} backwards
 * @param {(subscripts: string[], text: string) => unknown} visit given all subscripts of the value, and the value as
 *   text; answers false to stop
 */
export function walkLeaves(node, backwards, visit) {
  const { connection, name } = node._tree;
  const { db } = connection;
  const { mcursor } = connection.classes;
  const base = node._subscripts.map(String);
  const key = backwards ? [...node._subscripts, ''] : node._subscripts.slice();
  const cursor = new mcursor(db, { global: name, key }, { multilevel: true, getdata: true });
  for (;;) {
    const found = backwards ? cursor.previous() : cursor.next();
    if (found === null) return;
    if (connection.listening) {
      connection.emit(backwards ? 'cursor_previous' : 'cursor_next', {
        node,
        subscripts: [name, ...found.key],
      });
    }
    if (!isBelow(found.key, base) || visit(found.key, found.data) === false) return;
  }
}

/**
 * A stored leaf as a JSON value; the marks of empty objects and arrays are read as documents.
 *
 * @param {Node} node any node of the global
 * @param {Subscript[]} subscripts the leaf's
 * @returns {any} `''` where nothing is stored
 */
export function leafValue(node, subscripts) {
  const { handle } = node._tree;
  const value = handle.typed(...subscripts);
  if (value !== undefined) return node._plain(value);
  const text = handle.documentText(...subscripts);
  return text === undefined ? '' : JSON.parse(text);
}

/**
 * @param {string[]} subscripts
 * @param {string[]} base
 * @returns {boolean} whether the subscripts are those of a descendant
 */
function isBelow(subscripts, base) {
  if (subscripts.length <= base.length) return false;
  for (let at = base.length - 1; at >= 0; at -= 1) if (subscripts[at] !== base[at]) return false;
  return true;
}

/**
 * Whether what a cursor found is no value but the mark of an object or array that has members of its own.
 *
 * @param {Node} node any node of the global
 * @param {string[]} subscripts
 * @returns {boolean}
 */
function isMarkOnly(node, subscripts) {
  const { handle } = node._tree;
  return handle.typed(...subscripts) === undefined && handle.defined(...subscripts) === '11';
}

/**
 * @param {Node} node
 * @param {LeafOptions} options
 * @param {((...found: any[]) => unknown) | undefined} callback gets a node, or `(keys, value)` with `getdata`
 */
export function forEachLeafNode(node, options, callback) {
  const backwards = options.direction === 'reverse' || options.direction === 'backwards';
  const { name } = node._tree;
  walkLeaves(node, backwards, (subscripts, text) => {
    if (text === '' && isMarkOnly(node, subscripts)) return true;
    if (!options.getdata) return callback?.(node._descendant(subscripts));
    return callback?.([name, ...subscripts], leafValue(node, subscripts));
  });
}
