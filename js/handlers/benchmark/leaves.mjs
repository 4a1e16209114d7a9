// A record by per-node calls, as programs on M databases work: written leaf by leaf, read back by nested next or by a cursor.
// These calls carry text, as the mg-dbx face does, so what is read back is compared with text.

/**
 * One valued node below a record: its subscripts after the record's number, and its value as text.
 *
 * @typedef {{ subscripts: string[], text: string }} Leaf
 *
 * A record as read: text where the node is a leaf, else its children by subscript. A node with both has its value under
 * the key `''`, which no subscript can be.
 *
 * @typedef {string | TreeArray | { [subscript: string]: Tree }} Tree
 * @typedef {Tree[]} TreeArray
 *
 * @typedef {import('./counted.mjs').CountedGlobal} CountedGlobal
 */

/** How the first element of a JSON array is stored. */
const FIRST_ELEMENT = '[000000]';

/**
 * The leaves of a stored record, in collation order.
 *
 * @param {CountedGlobal} global
 * @param {number} record
 * @returns {Leaf[]}
 */
export function leavesOf(global, record) {
  const leaves = [];
  if (hasValue(global.uncounted.defined(record)))
    leaves.push({ subscripts: [], text: global.uncounted.get(record) });
  const nextLeaf = global.leavesAfter(record);
  const own = String(record);
  for (let leaf = nextLeaf(); leaf !== null && leaf.key[0] === own; leaf = nextLeaf()) {
    leaves.push({ subscripts: leaf.key.slice(1), text: leaf.data });
  }
  return leaves;
}

/**
 * A function that writes one record, with one `set` per leaf.
 *
 * @param {CountedGlobal} global
 * @param {Leaf[]} leaves
 * @returns {(record: number) => void}
 */
export function leafWriter(global, leaves) {
  /** @type {(string | number)[][]} */
  const calls = leaves.map(({ subscripts, text }) => [0, ...subscripts, text]);
  return (record) => {
    for (const call of calls) {
      call[0] = record;
      global.set(call);
    }
  };
}

/**
 * Reads one record by asking each node for what it has, and walking its children with `next`.
 *
 * @param {CountedGlobal} global
 * @param {number} record
 * @returns {Tree | undefined} undefined when nothing is there
 */
export function readByNestedNext(global, record) {
  return readNode(global, [record]);
}

/**
 * @param {CountedGlobal} global
 * @param {(string | number)[]} path of the node; longer while its children are read, and as it was on return
 * @returns {Tree | undefined}
 */
function readNode(global, path) {
  const has = global.defined(path);
  if (has === '0') return undefined;
  if (has === '1') return global.get(path);
  const depth = path.length;
  path.push('');
  let subscript = global.next(path);
  const node = newContainer(subscript);
  while (subscript !== '') {
    path[depth] = subscript;
    putChild(node, subscript, readNode(global, path));
    path[depth] = subscript;
    subscript = global.next(path);
  }
  path.length = depth;
  if (hasValue(has)) putChild(node, '', global.get(path));
  return node;
}

/**
 * Reads one record with a cursor that visits valued nodes only.
 *
 * @param {CountedGlobal} global
 * @param {number} record
 * @returns {Tree | undefined} undefined when nothing is there
 */
export function readByCursor(global, record) {
  const has = global.defined([record]);
  if (has === '0') return undefined;
  if (has === '1') return global.get([record]);
  const root = newContainer(global.next([record, '']));
  const nextLeaf = global.leavesAfter(record);
  const own = String(record);
  const put = treeBuilder(root, 1);
  for (let leaf = nextLeaf(); leaf !== null && leaf.key[0] === own; leaf = nextLeaf())
    put(leaf.key, leaf.data);
  if (hasValue(has)) putChild(root, '', global.get([record]));
  return root;
}

/**
 * What either reader answers for a record with these leaves.
 *
 * @param {Leaf[]} leaves in collation order
 * @returns {Tree}
 */
export function treeOf(leaves) {
  const [first] = leaves;
  if (leaves.length === 1 && first.subscripts.length === 0) return first.text;
  const below = leaves.filter(({ subscripts }) => subscripts.length > 0);
  const root = newContainer(below[0].subscripts[0]);
  const put = treeBuilder(root, 0);
  for (const { subscripts, text } of below) put(subscripts, text);
  if (first.subscripts.length === 0) putChild(root, '', first.text);
  return root;
}

/**
 * @param {Tree | undefined} read
 * @param {Tree} written
 * @returns {boolean} whether both hold the same subscripts and the same text
 */
export function isSameTree(read, written) {
  if (typeof read !== 'object' || typeof written !== 'object') return read === written;
  if (Array.isArray(read) !== Array.isArray(written)) return false;
  const keys = Object.keys(written);
  if (Object.keys(read).length !== keys.length) return false;
  const there = /** @type {Record<string, Tree>} */ (read);
  const here = /** @type {Record<string, Tree>} */ (written);
  return keys.every((key) => Object.hasOwn(there, key) && isSameTree(there[key], here[key]));
}

/** @param {string} defined */
function hasValue(defined) {
  return defined === '1' || defined === '11';
}

/** @param {string} firstSubscript */
function newContainer(firstSubscript) {
  return firstSubscript === FIRST_ELEMENT ? [] : {};
}

/**
 * @param {object} node
 * @param {string} subscript
 * @param {Tree | undefined} child
 */
function putChild(node, subscript, child) {
  if (child === undefined) return;
  if (Array.isArray(node) && subscript !== '') {
    node.push(child);
  } else if (subscript === '__proto__') {
    Object.defineProperty(node, subscript, {
      value: child,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else {
    /** @type {Record<string, Tree>} */ (node)[subscript] = child;
  }
}

/**
 * Builds the tree of one record from its leaves, given in collation order. `from` is where the subscripts below the record
 * begin in each leaf's key.
 *
 * @param {object} root
 * @param {number} from
 * @returns {(key: string[], text: string) => void}
 */
function treeBuilder(root, from) {
  /** The containers on the way to the leaf before, and that leaf's key. */
  const open = [root];
  /** @type {string[]} */
  let before = [];
  return (key, text) => {
    const last = key.length - 1;
    let level = from;
    while (level < last && level < before.length && key[level] === before[level]) level += 1;
    let depth = Math.min(level - from, open.length - 1);
    open.length = depth + 1;
    // Where the leaf before is an ancestor of this one, its node has both a value and children.
    let valued = before.length > from && level === before.length;
    for (; from + depth < last; depth += 1) {
      open.push(openChild(open[depth], key[from + depth], key[from + depth + 1], valued));
      valued = false;
    }
    putChild(open[depth], key[last], text);
    before = key;
  };
}

/**
 * Adds a container to a node.
 *
 * @param {object} node
 * @param {string} subscript
 * @param {string} firstBelow the subscript of the container's first child
 * @param {boolean} valued the node's last child is the text of this very subscript: the container takes its place and keeps it
 * @returns {object}
 */
function openChild(node, subscript, firstBelow, valued) {
  const child = newContainer(firstBelow);
  if (valued) {
    const text = Array.isArray(node) ? node.pop() : /** @type {Record<string, Tree>} */ (node)[subscript];
    putChild(child, '', text);
  }
  putChild(node, subscript, child);
  return child;
}
