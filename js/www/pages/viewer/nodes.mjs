// The part of a global that the page holds: nodes, and of each open one a window of its children. A window grows at the end
// that is looked at and is cut at the other, so that a million children take no more memory than a few hundred.

import { childNodes, oneNode } from '../../api.mjs';

/** How many children one request brings, and how many a window has at most. */
export const TOGETHER = 50;
const MOST_KEPT = 300;

/**
 * @typedef {import('../../api.mjs').Subscript} Subscript
 * @typedef {import('../../api.mjs').ShownValue} ShownValue
 * @typedef {import('../../api.mjs').Children} Children
 *
 * @typedef {'before' | 'after'} Side
 * @typedef {{ node: ViewedNode } | { more: Side, parent: ViewedNode }} Row a line of the tree
 */

/** A node that the page holds. */
export class ViewedNode {
  /**
   * @param {ViewedNode | undefined} parent undefined: the root of the global
   * @param {Subscript | undefined} subscript
   */
  constructor(parent, subscript) {
    this.parent = parent;
    this.subscript = subscript;
    /** @type {number} */
    this.level = parent ? parent.level + 1 : 1;
    this.hasChildren = false;
    /** @type {ShownValue | undefined} */
    this.value = undefined;
    this.isOpen = false;
    /** The window of its children, and whether there are more on either side of it. @type {ViewedNode[] | undefined} */
    this.children = undefined;
    this.before = false;
    this.after = false;
    /** What is being read, by side. @type {Partial<Record<Side, Promise<void>>>} */
    this.reading = {};
    /** Why reading failed, until it is tried again. @type {string} */
    this.problem = '';
  }

  /** @returns {Subscript[]} */
  get subscripts() {
    return this.parent ? [...this.parent.subscripts, /** @type {Subscript} */ (this.subscript)] : [];
  }
}

/** The nodes of one global. */
export class Nodes {
  /**
   * @param {string} name of the global
   * @param {() => void} onChange after anything has changed
   */
  constructor(name, onChange) {
    this.name = name;
    this.onChange = onChange;
    this.root = new ViewedNode(undefined, undefined);
    /** @type {Row[] | undefined} */
    this.flat = undefined;
  }

  changed() {
    this.flat = undefined;
    this.onChange();
  }

  /** @returns {Row[]} the lines of the tree, from the first to the last */
  rows() {
    if (this.flat === undefined) {
      this.flat = [];
      addRows(this.root, this.flat);
    }
    return this.flat;
  }

  /** Reads the root and its first children. */
  async start() {
    await this.describe(this.root);
    if (this.root.hasChildren) await this.open(this.root);
    else this.changed();
  }

  /** Reads again what a node is. @param {ViewedNode} node */
  async describe(node) {
    const { hasChildren, value, exists } = await oneNode(this.name, node.subscripts);
    node.hasChildren = hasChildren;
    node.value = value;
    return exists;
  }

  /** @param {ViewedNode} node */
  async open(node) {
    if (node.children === undefined) this.show(node, await this.read(node, {}));
    node.isOpen = true;
    this.changed();
  }

  /** @param {ViewedNode} node */
  close(node) {
    node.isOpen = false;
    // What is not seen is not kept.
    node.children = undefined;
    node.before = false;
    node.after = false;
    this.changed();
  }

  /**
   * Shows the children from a key on, or the last ones.
   *
   * @param {ViewedNode} node
   * @param {{ find?: string, from?: Subscript, reverse?: boolean }} where
   * @returns {Promise<boolean>} whether there is a child from there on
   */
  async goTo(node, where) {
    let found = await this.read(node, where);
    const isThere = found.children.length > 0;
    if (!isThere) found = await this.read(node, { reverse: true });
    node.hasChildren = found.children.length > 0;
    this.show(node, found);
    node.isOpen = node.hasChildren;
    this.changed();
    return isThere;
  }

  /**
   * Reads more children on one side of a window.
   *
   * @param {ViewedNode} node
   * @param {Side} side
   * @returns {Promise<void>} never rejects: `problem` says what went wrong
   */
  more(node, side) {
    node.reading[side] ??= this.readMore(node, side).finally(() => {
      delete node.reading[side];
    });
    return /** @type {Promise<void>} */ (node.reading[side]);
  }

  /** @param {ViewedNode} node @param {Side} side */
  async readMore(node, side) {
    const window = node.children;
    const last = side === 'after' ? window?.at(-1) : window?.[0];
    if (window === undefined || last === undefined) return;
    try {
      const found = await this.read(node, { after: last.subscript, reverse: side === 'before' });
      // Meanwhile it may have been closed, or shows another part.
      if (node.children !== window) return;
      node.problem = '';
      grow(node, side, found);
    } catch (error) {
      node.problem = /** @type {Error} */ (error).message;
    }
    this.changed();
  }

  /**
   * @param {ViewedNode} node
   * @param {object} where
   * @param {number} [limit]
   */
  read(node, where, limit = TOGETHER) {
    return childNodes(this.name, node.subscripts, { limit, ...where });
  }

  /** @param {ViewedNode} node @param {Children} found */
  show(node, found) {
    node.children = found.children.map((child) => viewed(node, child));
    node.before = found.before;
    node.after = found.after;
    node.problem = '';
  }

  /**
   * Reads a node and all that is open below it again, where it is.
   *
   * @param {ViewedNode} node
   * @returns {Promise<void>}
   */
  async reload(node) {
    await this.describe(node);
    await this.reloadChildren(node);
    this.changed();
  }

  /** @param {ViewedNode} node */
  async reloadChildren(node) {
    if (!node.isOpen || node.children === undefined) return;
    const known = new Map(node.children.map((child) => [JSON.stringify(child.subscript), child]));
    const from = node.before ? node.children[0]?.subscript : undefined;
    let found = await this.read(node, from === undefined ? {} : { from }, Math.max(TOGETHER, known.size));
    if (found.children.length === 0 && found.before) found = await this.read(node, { reverse: true });
    this.show(node, found);
    node.children = node.children.map((child) => {
      const earlier = known.get(JSON.stringify(child.subscript));
      return earlier ? Object.assign(earlier, { value: child.value, hasChildren: child.hasChildren }) : child;
    });
    if (node.children.length === 0) node.isOpen = false;
    for (const child of node.children) await this.reloadChildren(child);
  }
}

/**
 * @param {ViewedNode} parent
 * @param {Children['children'][number]} child
 */
function viewed(parent, { subscript, hasChildren, value }) {
  return Object.assign(new ViewedNode(parent, subscript), { hasChildren, value });
}

/**
 * @param {ViewedNode} node
 * @param {Side} side
 * @param {Children} found
 */
function grow(node, side, found) {
  const window = /** @type {ViewedNode[]} */ (node.children);
  const more = found.children.map((child) => viewed(node, child));
  if (side === 'after') {
    window.push(...more);
    node.after = found.after;
    if (window.length > MOST_KEPT) {
      window.splice(0, window.length - MOST_KEPT);
      node.before = true;
    }
  } else {
    window.unshift(...more);
    node.before = found.before;
    if (window.length > MOST_KEPT) {
      window.length = MOST_KEPT;
      node.after = true;
    }
  }
}

/**
 * @param {ViewedNode} node
 * @param {Row[]} rows
 */
function addRows(node, rows) {
  rows.push({ node });
  if (!node.isOpen || node.children === undefined) return;
  if (node.before) rows.push({ more: 'before', parent: node });
  for (const child of node.children) addRows(child, rows);
  if (node.after) rows.push({ more: 'after', parent: node });
}
