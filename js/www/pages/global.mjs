// The page of one global: its nodes as a tree, the active one in full beside it, a way to any key, and, where the server allows,
// what it takes to change them.

import { viewerOptions } from '../api.mjs';
import { tellGlobalsChanged } from '../directory.mjs';
import { copyOf, find } from '../elements.mjs';
import { Details } from './viewer/details.mjs';
import { Editing } from './viewer/editing.mjs';
import { Nodes } from './viewer/nodes.mjs';
import { referenceText } from './viewer/spelling.mjs';
import { TreeView } from './viewer/tree.mjs';

/** @typedef {import('./viewer/nodes.mjs').ViewedNode} ViewedNode */

/**
 * @param {HTMLElement} place
 * @param {string} name without the caret
 */
export function show(place, name) {
  place.append(copyOf('global-template'));
  const page = new GlobalPage(place, name);
  // A key may be pressed before there is a node to go to.
  page.tree.waitFor(page.start());
  return () => page.leave();
}

class GlobalPage {
  /** @param {HTMLElement} place @param {string} name */
  constructor(place, name) {
    this.place = place;
    this.name = name;
    this.note = find(place, '#global-note', HTMLElement);
    this.goal = find(place, '#go-to', HTMLInputElement);
    this.goalLabel = find(place, '#go-to-where', HTMLElement);
    find(place, '#global-title', HTMLElement).textContent = `^${name}`;
    this.nodes = new Nodes(name, () => this.tree.update());
    this.tree = new TreeView(this.nodes, {
      onActive: (node) => this.activated(node),
      onEnter: () => this.details?.focus(),
      onDelete: () => this.remove(this.tree.active),
      say: (words) => this.say(words),
    });
    find(place, '#tree-place', HTMLElement).append(this.tree.box);
    find(place, '#global-refresh', HTMLButtonElement).addEventListener('click', () => this.refresh());
    find(place, '#go-to-form', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      void this.goTo();
    });
    /** @type {Details | undefined} */
    this.details = undefined;
    /** @type {Editing | undefined} */
    this.editing = undefined;
    this.onKey = (/** @type {KeyboardEvent} */ event) => this.pressed(event);
    this.onBack = () => void this.restart();
    document.addEventListener('keydown', this.onKey);
    document.addEventListener('server-back', this.onBack);
  }

  leave() {
    document.removeEventListener('keydown', this.onKey);
    document.removeEventListener('server-back', this.onBack);
    this.tree.leave();
    this.details?.leave();
  }

  async start() {
    await this.guarded(async () => {
      const { edit } = await viewerOptions();
      if (edit) this.allowEditing();
      this.details = new Details(this.name, this.editing && this.actions(this.editing));
      find(this.place, '#details-place', HTMLElement).replaceChildren(this.details.panel);
      await this.nodes.start();
      const { root } = this.nodes;
      this.say(root.hasChildren || root.value ? '' : 'This global holds nothing.');
      this.tree.activate(this.tree.active);
    });
  }

  /** When the server answers again. */
  restart() {
    return this.details ? this.refresh() : this.start();
  }

  allowEditing() {
    this.editing = new Editing(this.name, {
      stored: async (node, added) => {
        if (added === undefined) await this.nodes.reload(node);
        else await this.reveal(node, added);
        this.afterChange('Stored.');
      },
      deleted: async (node) => {
        this.tree.active = node.parent ?? node;
        await this.nodes.reload(node.parent ?? node);
        this.afterChange('Deleted.');
      },
    });
  }

  /** @param {Editing} editing @returns {import('./viewer/details.mjs').Editing} */
  actions(editing) {
    return {
      editValue: (node, value) => this.guarded(() => editing.editValue(node, value)),
      addChild: (node) => this.guarded(() => editing.addChild(node)),
      editDocument: (node, json) => this.guarded(() => editing.editDocument(node, json)),
      remove: (node) => this.remove(node),
    };
  }

  /** @param {ViewedNode} node */
  async remove(node) {
    const { editing } = this;
    if (editing === undefined) return;
    // What is there is counted first, which may take a moment.
    this.say('Counting what would go.');
    await this.guarded(async () => {
      const isDone = await editing.remove(node);
      if (!isDone) this.say('');
    });
  }

  /** @param {string} words */
  afterChange(words) {
    this.say(words);
    tellGlobalsChanged();
    this.tree.activate(this.tree.active);
    this.tree.box.focus();
  }

  /** @param {ViewedNode} node @param {import('../api.mjs').Subscript} key */
  async reveal(node, key) {
    await this.nodes.goTo(node, { from: key });
    const [added] = node.children ?? [];
    if (added) this.tree.activate(added);
  }

  /** @param {ViewedNode} node */
  activated(node) {
    this.details?.showSoon(node);
    this.goalLabel.textContent = referenceText(this.name, searched(node).subscripts);
  }

  async goTo() {
    const text = this.goal.value;
    if (text === '') return;
    const node = searched(this.tree.active);
    await this.guarded(async () => {
      const isThere = await this.nodes.goTo(node, { find: text });
      const children = node.children ?? [];
      const target = isThere ? children[0] : children.at(-1);
      if (target === undefined) return this.say('There are no children to go to.');
      this.tree.activate(target);
      this.say(isThere ? '' : `No key stands at or behind “${text}”: this is the last one.`);
      this.tree.box.focus();
    });
  }

  async refresh() {
    await this.guarded(async () => {
      await this.nodes.reload(this.nodes.root);
      this.tree.activate(this.tree.active);
      this.say('Read again.');
    });
  }

  /** @param {() => unknown} act */
  async guarded(act) {
    try {
      await act();
    } catch (error) {
      this.say(/** @type {Error} */ (error).message, true);
    }
  }

  /** @param {string} words @param {boolean} [isProblem] */
  say(words, isProblem = false) {
    this.note.textContent = words;
    this.note.classList.toggle('problem', isProblem);
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const { target } = event;
    const isTyping = target instanceof HTMLElement && target.matches('input, textarea, select, dialog *');
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      this.goal.select();
      this.goal.focus();
    } else if (event.key === 'Escape' && !(target instanceof Element && target.closest('dialog, .menu'))) {
      this.tree.box.focus();
    }
  }
}

/**
 * The node among whose children a key is looked for: an open one, else the one it is a child of.
 *
 * @param {ViewedNode} active
 */
function searched(active) {
  return active.isOpen ? active : (active.parent ?? active);
}
