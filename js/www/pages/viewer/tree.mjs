// The tree of a global, as the WAI-ARIA pattern for trees describes it. Only the lines in view are in the page; lines that stand
// for further children read them when they come into view.

import { element } from '../../elements.mjs';
import { subscriptText, valueText } from './spelling.mjs';

/**
 * @typedef {import('./nodes.mjs').Nodes} Nodes
 * @typedef {import('./nodes.mjs').ViewedNode} ViewedNode
 * @typedef {import('./nodes.mjs').Row} Row
 */

/** The height of a line in pixels: a finger needs more than a mouse. */
const LINE = matchMedia('(pointer: coarse)').matches ? 44 : 30;

/** Lines beyond the view on either side, so that a quick scroll shows no gap. */
const SPARE = 8;

/** How many keys may wait for what those before them do. */
const MOST_WAITING = 8;

export class TreeView {
  /**
   * @param {Nodes} nodes
   * @param {{ onActive: (node: ViewedNode) => void, onEnter: () => void, onDelete: () => void, say: (words: string) => void }} told
   */
  constructor(nodes, told) {
    this.nodes = nodes;
    this.told = told;
    /** @type {ViewedNode} */
    this.active = nodes.root;
    this.space = element('div', { class: 'tree-space', role: 'presentation' });
    this.box = element('div', {
      class: 'tree',
      role: 'tree',
      tabindex: 0,
      'aria-label': `Nodes of ^${nodes.name}`,
    });
    this.box.append(this.space);
    this.drawing = false;
    /** What the keys that were pressed do. @type {Promise<unknown>} */
    this.acting = Promise.resolve();
    this.waiting = 0;
    /** What stays where it is while lines come and go above it. @type {{ node: ViewedNode, at: number } | undefined} */
    this.anchor = undefined;
    this.box.addEventListener('scroll', () => this.scrolled());
    this.box.addEventListener('click', (event) => this.clicked(event));
    this.box.addEventListener('keydown', (event) => this.pressed(event));
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.box);
  }

  leave() {
    this.observer.disconnect();
  }

  /** Lets keys wait, too, until something is done. @param {Promise<unknown>} work which never rejects */
  waitFor(work) {
    this.acting = this.acting.then(() => work);
  }

  /** Draws the lines in view in the next frame. */
  drawSoon() {
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => this.draw());
  }

  scrolled() {
    this.anchor = undefined;
    this.drawSoon();
  }

  /** After the nodes have changed: what was in view stays there. */
  update() {
    const rows = this.nodes.rows();
    this.space.style.height = `${rows.length * LINE}px`;
    if (this.anchor) {
      const { node, at } = this.anchor;
      const index = indexOf(rows, node);
      if (index >= 0 && Math.abs(index * LINE - at - this.box.scrollTop) >= 1)
        this.box.scrollTop = index * LINE - at;
    }
    this.draw();
  }

  draw() {
    this.drawing = false;
    const rows = this.nodes.rows();
    const { scrollTop, clientHeight } = this.box;
    const first = Math.max(0, Math.floor(scrollTop / LINE) - SPARE);
    const end = Math.min(rows.length, Math.ceil((scrollTop + clientHeight) / LINE) + SPARE);
    const lines = [];
    for (let index = first; index < end; index += 1) lines.push(this.line(rows[index], index));
    this.space.replaceChildren(...lines);
    this.keepAnchor(rows, scrollTop, clientHeight);
    const active = indexOf(rows, this.active);
    if (active >= first && active < end) this.box.setAttribute('aria-activedescendant', idOf(active));
    else this.box.removeAttribute('aria-activedescendant');
    for (let index = first; index < end; index += 1) {
      const row = rows[index];
      if ('more' in row && row.parent.problem === '') void this.nodes.more(row.parent, row.more);
    }
  }

  /** @param {Row[]} rows @param {number} scrollTop @param {number} height */
  keepAnchor(rows, scrollTop, height) {
    this.anchor = undefined;
    for (let index = Math.ceil(scrollTop / LINE); index * LINE < scrollTop + height; index += 1) {
      const row = rows[index];
      if (row === undefined) return;
      // The root is above all that may come, so it holds nothing in its place.
      if ('node' in row && row.node.parent) {
        this.anchor = { node: row.node, at: index * LINE - scrollTop };
        return;
      }
    }
  }

  /** @param {Row} row @param {number} index */
  line(row, index) {
    const made =
      'more' in row ? moreLine(row) : nodeLine(row.node, row.node === this.active, this.nodes.name);
    made.id = idOf(index);
    made.dataset.index = String(index);
    made.style.top = `${index * LINE}px`;
    made.style.height = `${LINE}px`;
    const level = 'more' in row ? row.parent.level + 1 : row.node.level;
    made.setAttribute('aria-level', String(level));
    made.style.paddingInlineStart = `${Math.min(level - 1, 12) * 1.15 + 0.25}rem`;
    return made;
  }

  /** @param {ViewedNode} node */
  activate(node) {
    this.active = node;
    this.reveal(node);
    this.draw();
    this.told.onActive(node);
  }

  /** @param {ViewedNode} node */
  reveal(node) {
    const index = indexOf(this.nodes.rows(), node);
    if (index < 0) return;
    const top = index * LINE;
    const { scrollTop, clientHeight } = this.box;
    if (top < scrollTop) this.box.scrollTop = top;
    else if (top + LINE > scrollTop + clientHeight) this.box.scrollTop = top + LINE - clientHeight;
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    const line = /** @type {Element} */ (event.target).closest('[data-index]');
    if (!(line instanceof HTMLElement)) return;
    const row = this.nodes.rows()[Number(line.dataset.index)];
    if (row === undefined) return;
    if ('more' in row) {
      row.parent.problem = '';
      void this.nodes.more(row.parent, row.more);
      return;
    }
    const onTwisty = /** @type {Element} */ (event.target).closest('.twisty') !== null;
    const again = row.node === this.active;
    this.activate(row.node);
    if (onTwisty || again) void this.toggle(row.node);
  }

  /** @param {ViewedNode} node */
  async toggle(node) {
    if (!node.hasChildren) return;
    if (!node.isOpen) return this.open(node);
    // The active node may be among those that go.
    for (let at = this.active.parent; at; at = at.parent) if (at === node) this.activate(node);
    this.nodes.close(node);
  }

  /** @param {ViewedNode} node */
  async open(node) {
    await this.orSay(() => this.nodes.open(node));
  }

  /** @param {() => Promise<unknown>} act */
  async orSay(act) {
    try {
      await act();
    } catch (error) {
      this.told.say(/** @type {Error} */ (error).message);
    }
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const act = this.actOf(event.key);
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    // One after the other, since some wait for the server; a key that is held down is not remembered for ever.
    if (this.waiting >= MOST_WAITING) return;
    this.waiting += 1;
    this.acting = this.acting.then(act).finally(() => {
      this.waiting -= 1;
    });
  }

  /** @param {string} key @returns {(() => unknown) | undefined} */
  actOf(key) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / LINE) - 1);
    switch (key) {
      case 'ArrowDown':
        return () => this.move(1);
      case 'ArrowUp':
        return () => this.move(-1);
      case 'PageDown':
        return () => this.move(page);
      case 'PageUp':
        return () => this.move(-page);
      case 'ArrowRight':
        return () => this.inwards();
      case 'ArrowLeft':
        return () => this.outwards();
      case 'Home':
        return () => this.toStart();
      case 'End':
        return () => this.toEnd();
      case 'Enter':
      case ' ':
        return () => this.told.onEnter();
      case 'Delete':
        return () => this.told.onDelete();
    }
    return undefined;
  }

  /**
   * Moves some lines down or up; a line that stands for further children brings them first.
   *
   * @param {number} by
   */
  async move(by) {
    const step = Math.sign(by);
    for (let left = Math.abs(by); left > 0; left -= 1) {
      let row = this.neighbour(step);
      if (row && 'more' in row) {
        await this.nodes.more(row.parent, row.more);
        if (row.parent.problem !== '') return this.told.say(row.parent.problem);
        row = this.neighbour(step);
      }
      if (row === undefined || 'more' in row) break;
      this.active = row.node;
    }
    this.activate(this.active);
  }

  /** @param {number} step */
  neighbour(step) {
    const rows = this.nodes.rows();
    const index = indexOf(rows, this.active);
    // What was active may have left the window: then the first line in view takes its part.
    return index < 0 ? rows[Math.ceil(this.box.scrollTop / LINE)] : rows[index + step];
  }

  inwards() {
    const { active } = this;
    if (!active.hasChildren) return;
    if (!active.isOpen) return this.open(active);
    return this.move(1);
  }

  outwards() {
    const { active } = this;
    if (active.isOpen) return this.toggle(active);
    if (active.parent) this.activate(active.parent);
  }

  async toStart() {
    const { root } = this.nodes;
    if (root.isOpen && root.before) await this.orSay(() => this.nodes.goTo(root, {}));
    this.activate(root);
  }

  async toEnd() {
    let node = this.nodes.root;
    while (node.isOpen && node.children) {
      const open = node;
      if (open.after) await this.orSay(() => this.nodes.goTo(open, { reverse: true }));
      const last = node.children.at(-1);
      if (last === undefined) break;
      node = last;
    }
    this.activate(node);
  }
}

/** @param {Row[]} rows @param {ViewedNode} node */
function indexOf(rows, node) {
  return rows.findIndex((row) => 'node' in row && row.node === node);
}

/** @param {number} index */
function idOf(index) {
  return `tree-line-${index}`;
}

/** @param {{ more: string, parent: ViewedNode }} row */
function moreLine({ more, parent }) {
  const words = more === 'before' ? 'Earlier children' : 'Further children';
  const text = parent.problem === '' ? `${words}…` : `${words} could not be read. Try again`;
  return element('div', { class: 'tree-line tree-more', role: 'treeitem', 'aria-selected': 'false' }, text);
}

/**
 * @param {ViewedNode} node
 * @param {boolean} isActive
 * @param {string} name of the global
 */
function nodeLine(node, isActive, name) {
  const { subscript, value, hasChildren, isOpen } = node;
  const line = element('div', {
    class: isActive ? 'tree-line active' : 'tree-line',
    role: 'treeitem',
    // How many siblings there are, nobody has counted.
    'aria-setsize': -1,
    'aria-selected': String(isActive),
  });
  if (hasChildren) line.setAttribute('aria-expanded', String(isOpen));
  line.append(
    element('span', { class: hasChildren ? 'twisty' : 'no-twisty', 'aria-hidden': 'true' }),
    element('bdi', { class: 'tree-key' }, subscript === undefined ? `^${name}` : subscriptText(subscript)),
  );
  if (value !== undefined) {
    line.append(
      element('span', { class: 'tree-is' }, '='),
      element('bdi', { class: `tree-value is-${value.type}` }, valueText(value)),
    );
  }
  return line;
}
