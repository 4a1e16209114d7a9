// A page for one global: its nodes as a tree. Children are fetched when a node is opened, some at a time.

import { childNodes, globalNode } from '../api.mjs';
import { element } from '../elements.mjs';

/** @typedef {import('../api.mjs').ViewedNode} ViewedNode */

/** How many children one request brings. */
const CHILDREN_AT_A_TIME = 50;

/**
 * @param {HTMLElement} place
 * @param {string} name without the caret
 */
export function show(place, name) {
  const note = element('p', { role: 'status' });
  const tree = element('ul', { class: 'tree', 'aria-label': `Nodes of ^${name}` });
  place.append(
    element('div', { class: 'page-head' }, element('h1', {}, `^${name}`), note),
    element('section', { class: 'card', 'aria-label': 'Nodes' }, tree),
  );
  void showRoot(tree, note, name);
}

/**
 * @param {HTMLElement} tree
 * @param {HTMLElement} note
 * @param {string} name
 */
async function showRoot(tree, note, name) {
  try {
    const root = await globalNode(name);
    await addChildren(tree, root.path);
    if (root.leafNode) tree.append(element('li', {}, leaf('value', root.value)));
    note.textContent = tree.childElementCount > 0 ? '' : 'This global holds nothing.';
  } catch (error) {
    note.textContent = `The global could not be read. ${/** @type {Error} */ (error).message}`;
  }
}

/**
 * @param {HTMLElement} list
 * @param {string} path of the node whose children go into the list
 * @param {string} [seed] where to go on
 */
async function addChildren(list, path, seed) {
  const nodes = await childNodes(path, CHILDREN_AT_A_TIME, seed);
  const entries = nodes.filter((node) => !node.morePreviousSiblings);
  list.append(...entries.map((node) => (node.moreSiblings ? moreEntry(list, path, node) : nodeEntry(node))));
}

/** @param {ViewedNode} node */
function nodeEntry(node) {
  if (node.leafNode) return element('li', {}, leaf(node.subscript, node.value));
  const children = element('ul', { hidden: true });
  const button = element('button', { type: 'button', 'aria-expanded': 'false' }, ...label(node));
  button.addEventListener('click', () => toggle(button, children, node));
  return element('li', {}, button, children);
}

/**
 * @param {HTMLElement} button
 * @param {HTMLElement} children
 * @param {ViewedNode} node
 */
async function toggle(button, children, node) {
  const open = children.hidden;
  children.hidden = !open;
  button.setAttribute('aria-expanded', String(open));
  if (!open || children.childElementCount > 0) return;
  await orSayWhyNot(children, () => addChildren(children, node.path));
}

/**
 * @param {HTMLElement} list
 * @param {string} path
 * @param {ViewedNode} node
 */
function moreEntry(list, path, { seed }) {
  const button = element('button', { type: 'button', class: 'tree-more' }, `More, from ${seed}`);
  const entry = element('li', {}, button);
  button.addEventListener('click', async () => {
    entry.remove();
    const before = list.childElementCount;
    await orSayWhyNot(list, () => addChildren(list, path, seed));
    list.children[before]?.querySelector('button')?.focus();
  });
  return entry;
}

/**
 * @param {HTMLElement} list
 * @param {() => Promise<void>} act
 */
async function orSayWhyNot(list, act) {
  try {
    await act();
  } catch (error) {
    list.append(element('li', { role: 'alert' }, /** @type {Error} */ (error).message));
  }
}

/** @param {ViewedNode} node */
function label({ subscript, value }) {
  return value === undefined || value === '' ? [subscript] : [`${subscript} = `, valueElement(value)];
}

/**
 * @param {string} subscript
 * @param {unknown} value
 */
function leaf(subscript, value) {
  return element('div', { class: 'tree-leaf' }, `${subscript} = `, valueElement(value));
}

/** @param {unknown} value */
function valueElement(value) {
  return element('span', { class: 'tree-value' }, valueText(value));
}

/** @param {unknown} value */
function valueText(value) {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const { bytes, hex } = /** @type {{ bytes: number, hex: string }} */ (value);
  return `${bytes.toLocaleString('en-US')} bytes: ${hex}`;
}
