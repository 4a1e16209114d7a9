// What is known of the node that is active in the tree: its name, its value whole, bytes as digits or as the picture they are, its
// document as JSON and its attachments, and the buttons that change it where the server allows.

import { documentOf, nodeBytes, oneNode } from '../../api.mjs';
import { element } from '../../elements.mjs';
import { attachmentParts, documentAt } from './attachments.mjs';
import { hexDump, referenceText, sizeText } from './spelling.mjs';

/**
 * @typedef {import('./nodes.mjs').ViewedNode} ViewedNode
 * @typedef {import('../../api.mjs').ShownValue} ShownValue
 *
 * @typedef {object} Editing what the buttons do; each gets the node as it is shown
 * @property {(node: ViewedNode, value: ShownValue | undefined) => void} editValue
 * @property {(node: ViewedNode) => void} addChild
 * @property {(node: ViewedNode, json: string) => void} editDocument
 * @property {(node: ViewedNode) => void} remove
 */

/** A move through the tree asks for a node only when it stays there so long, in milliseconds. */
const PAUSE = 90;

/** A picture larger than this is not fetched for a look. */
const LARGEST_PICTURE = 16 * 1024 * 1024;

/** What a type is called. @type {Record<ShownValue['type'], string>} */
const TYPE_NAMES = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
  bytes: 'bytes',
  mark: 'mark of a document',
};

export class Details {
  /**
   * @param {string} name of the global
   * @param {Editing | undefined} editing undefined: nothing may be changed
   */
  constructor(name, editing) {
    this.name = name;
    this.editing = editing;
    this.title = element('h2', { id: 'details-title', tabindex: -1 });
    this.content = element('div', { class: 'details-content' });
    this.panel = element(
      'section',
      { class: 'card details', 'aria-labelledby': 'details-title' },
      this.title,
      this.content,
    );
    /** @type {ViewedNode | undefined} */
    this.node = undefined;
    /** @type {string[]} */
    this.pictures = [];
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.waiting = undefined;
  }

  leave() {
    clearTimeout(this.waiting);
    this.forgetPictures();
  }

  forgetPictures() {
    for (const url of this.pictures.splice(0)) URL.revokeObjectURL(url);
  }

  focus() {
    this.title.focus();
    this.panel.scrollIntoView({ block: 'nearest' });
  }

  /** @param {ViewedNode} node */
  showSoon(node) {
    this.node = node;
    this.title.textContent = referenceText(this.name, node.subscripts);
    // What still stands there is of another node, or of a moment ago: its buttons must not act under this title.
    this.content.inert = true;
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.show(node), PAUSE);
  }

  /** @param {ViewedNode} node */
  async show(node) {
    try {
      const found = await oneNode(this.name, node.subscripts);
      if (this.node !== node) return;
      this.forgetPictures();
      this.put(this.partsOf(node, found));
    } catch (error) {
      if (this.node !== node) return;
      const again = element('button', { type: 'button' }, 'Try again');
      again.addEventListener('click', () => this.show(node));
      const words = `This node could not be read. ${/** @type {Error} */ (error).message}`;
      this.put([element('p', { role: 'alert' }, words), again]);
    }
  }

  /** @param {Element[]} parts what there is to say of the node that the title names */
  put(parts) {
    this.content.replaceChildren(...parts);
    this.content.inert = false;
  }

  /**
   * @param {ViewedNode} node
   * @param {Awaited<ReturnType<typeof oneNode>>} found
   */
  partsOf(node, { exists, hasChildren, value }) {
    const parts = [element('p', { class: 'details-kind' }, kindText(exists, hasChildren, value))];
    if (value) parts.push(...this.valueParts(node, value));
    const document = element('div', { class: 'details-document' });
    const actions = element('div', { class: 'details-actions' });
    if (hasChildren) {
      const show = actionButton('Show as JSON', () => this.showDocument(node, document));
      show.setAttribute('aria-expanded', 'false');
      actions.append(show);
    }
    if (this.editing) actions.append(...this.editButtons(this.editing, node, exists, value));
    if (actions.childElementCount > 0) parts.push(actions);
    parts.push(document);
    if (exists) parts.push(this.attachments(node));
    return parts;
  }

  /** @param {ViewedNode} node */
  attachments(node) {
    const place = element('div', { class: 'details-attachments' });
    const owner = documentAt(this.name, node.subscripts);
    if (owner)
      attachmentParts(owner).then(
        (parts) => place.replaceChildren(...parts),
        (error) => {
          const words = `Its attachments could not be read. ${/** @type {Error} */ (error).message}`;
          place.replaceChildren(element('p', { role: 'alert' }, words));
        },
      );
    return place;
  }

  /** @param {ViewedNode} node @param {ShownValue} value */
  valueParts(node, value) {
    if (value.type === 'bytes') return this.bytesParts(node, value);
    const label = `Value of ${this.title.textContent}`;
    const shown = element(
      'pre',
      { class: `details-value is-${value.type}`, tabindex: 0, 'aria-label': label },
      value.text,
    );
    return value.cut ? [shown, cutNote(value, 'characters')] : [shown];
  }

  /** @param {ViewedNode} node @param {ShownValue} value */
  bytesParts(node, value) {
    const parts = [];
    const { media, length = 0 } = value;
    if (media && length <= LARGEST_PICTURE) parts.push(this.picture(node, media));
    parts.push(
      element(
        'pre',
        { class: 'details-hex', tabindex: 0, 'aria-label': 'The bytes' },
        hexDump(value.text) || 'no bytes',
      ),
    );
    if (value.cut) parts.push(cutNote(value, 'bytes'));
    return parts;
  }

  /** @param {ViewedNode} node @param {string} media */
  picture(node, media) {
    const image = element('img', {
      class: 'details-picture',
      alt: `The picture that the bytes are (${media})`,
    });
    nodeBytes(this.name, node.subscripts).then(
      (bytes) => {
        if (this.node !== node) return;
        const url = URL.createObjectURL(new Blob([bytes], { type: media }));
        this.pictures.push(url);
        image.setAttribute('src', url);
        // Bytes may begin as a picture does and be none.
        image.addEventListener('error', () => image.remove());
      },
      () => image.remove(),
    );
    return image;
  }

  /** @param {ViewedNode} node @param {HTMLElement} place */
  async showDocument(node, place) {
    const button = place.previousElementSibling?.querySelector('[aria-expanded]');
    const isOpen = place.childElementCount > 0;
    button?.setAttribute('aria-expanded', String(!isOpen));
    if (isOpen) return place.replaceChildren();
    try {
      const { json, editable } = await documentOf(this.name, node.subscripts);
      if (this.node !== node) return;
      const shown = element(
        'pre',
        { class: 'details-json', tabindex: 0, 'aria-label': 'The document as JSON' },
        json,
      );
      place.replaceChildren(shown);
      const { editing } = this;
      if (editing && editable)
        place.append(actionButton('Edit as JSON', () => editing.editDocument(node, json)));
      else if (editing)
        place.append(
          element(
            'p',
            { class: 'note' },
            'JSON cannot say all that is stored here: edit its nodes one by one.',
          ),
        );
    } catch (error) {
      place.replaceChildren(element('p', { role: 'alert' }, /** @type {Error} */ (error).message));
    }
  }

  /**
   * @param {Editing} editing
   * @param {ViewedNode} node
   * @param {boolean} exists
   * @param {ShownValue | undefined} value
   */
  editButtons(editing, node, exists, value) {
    const buttons = [];
    // What the panel does not have whole cannot be written back whole.
    if (value === undefined || !(value.cut || value.type === 'bytes'))
      buttons.push(actionButton(value ? 'Edit value' : 'Set a value', () => editing.editValue(node, value)));
    buttons.push(actionButton('Add a child', () => editing.addChild(node)));
    if (exists) {
      const remove = actionButton('Delete', () => editing.remove(node));
      remove.classList.add('danger');
      buttons.push(remove);
    }
    return buttons;
  }
}

/** @param {string} label @param {() => void} act */
function actionButton(label, act) {
  const button = element('button', { type: 'button', class: 'small' }, label);
  button.addEventListener('click', act);
  return button;
}

/**
 * @param {boolean} exists
 * @param {boolean} hasChildren
 * @param {ShownValue | undefined} value
 */
function kindText(exists, hasChildren, value) {
  if (!exists) return 'Nothing is stored here.';
  const parts = [];
  if (value) parts.push(value.length === undefined ? TYPE_NAMES[value.type] : lengthText(value));
  if (hasChildren) parts.push('has children');
  return parts.join(' · ');
}

/** @param {ShownValue} value */
function lengthText({ type, length = 0, media }) {
  if (type === 'bytes') return [media ?? 'bytes', sizeText(length)].join(' · ');
  return `${TYPE_NAMES[type]} · ${length.toLocaleString('en-US')} ${length === 1 ? 'character' : 'characters'}`;
}

/** @param {ShownValue} value @param {string} of */
function cutNote({ type, text, length = 0 }, of) {
  const shown = type === 'bytes' ? text.length / 2 : text.length;
  return element(
    'p',
    { class: 'note' },
    `The first ${shown.toLocaleString('en-US')} of ${length.toLocaleString('en-US')} ${of}.`,
  );
}
