// Changes what is stored: each change is asked for in a dialog, said again in plain words, and made only when confirmed.

import { countBelow, deleteNode, oneNode, setNode } from '../../api.mjs';
import { copyOf, find } from '../../elements.mjs';
import { ask } from '../../question.mjs';
import { referenceText, valueText } from './spelling.mjs';

/**
 * @typedef {import('./nodes.mjs').ViewedNode} ViewedNode
 * @typedef {import('../../api.mjs').ShownValue} ShownValue
 * @typedef {import('../../api.mjs').Subscript} Subscript
 * @typedef {import('../../api.mjs').NewValue} NewValue
 */

const NO_UNDO = 'There is no undo.';

export class Editing {
  /**
   * @param {string} name of the global
   * @param {{ stored: (node: ViewedNode, added?: Subscript) => Promise<void>, deleted: (node: ViewedNode) => Promise<void> }} told
   */
  constructor(name, told) {
    this.name = name;
    this.told = told;
  }

  /** @param {readonly Subscript[]} subscripts */
  reference(subscripts) {
    return referenceText(this.name, subscripts);
  }

  /** @param {ViewedNode} node @param {ShownValue | undefined} value */
  async editValue(node, value) {
    const { subscripts } = node;
    const reference = this.reference(subscripts);
    await openForm({
      title: value ? 'Edit value' : 'Set a value',
      note: reference,
      type: value && value.type !== 'mark' && value.type !== 'bytes' ? value.type : 'string',
      text: value && value.type !== 'mark' && value.type !== 'null' ? value.text : '',
      save: async ({ type, text }) => {
        const before = value ? ` in place of ${valueText(value)}` : '';
        const isSure = await confirm(
          `Store this value?`,
          `${reference} becomes ${newText(type, text)}${before}. ${NO_UNDO}`,
          'Store it',
        );
        if (!isSure) return false;
        await setNode(this.name, subscripts, { type, text });
        await this.told.stored(node);
        return true;
      },
    });
  }

  /** @param {ViewedNode} node */
  async addChild(node) {
    await openForm({
      title: 'Add a child',
      note: `below ${this.reference(node.subscripts)}`,
      type: 'string',
      text: '',
      withKey: true,
      withDocument: true,
      save: async ({ key, type, text }) => {
        const subscripts = [...node.subscripts, key];
        const reference = this.reference(subscripts);
        const isSure = await confirm(
          'Add this node?',
          `${reference} becomes ${newText(type, text)}.`,
          'Add it',
        );
        if (!isSure) return false;
        await setNode(this.name, subscripts, { type, text, isNew: true });
        await this.told.stored(node, key);
        return true;
      },
    });
  }

  /** @param {ViewedNode} node @param {string} json */
  async editDocument(node, json) {
    const { subscripts } = node;
    const reference = this.reference(subscripts);
    await openForm({
      title: 'Edit as JSON',
      note: reference,
      type: 'document',
      text: json,
      withDocument: true,
      onlyDocument: true,
      save: async ({ text }) => {
        const { values } = await countBelow(this.name, subscripts);
        const isSure = await confirm(
          'Store this document?',
          `It replaces everything that is stored at and below ${reference}: ${valuesText(values, false)}. ${NO_UNDO}`,
          'Replace it',
        );
        if (!isSure) return false;
        await setNode(this.name, subscripts, { type: 'document', text });
        await this.told.stored(node);
        return true;
      },
    });
  }

  /** @param {ViewedNode} node @returns {Promise<boolean>} whether something was deleted */
  async remove(node) {
    const { subscripts } = node;
    const reference = this.reference(subscripts);
    const [{ values, more }, { hasChildren, value }] = await Promise.all([
      countBelow(this.name, subscripts),
      oneNode(this.name, subscripts),
    ]);
    const hasBoth = hasChildren && value !== undefined;
    const everything = hasChildren ? `${reference} and everything below it` : reference;
    const answer = await ask({
      title: `Delete ${reference}?`,
      text: `This deletes ${everything}: ${valuesText(values, more)}. ${NO_UNDO}`,
      answers: [
        ...(hasBoth ? [{ value: 'value', label: 'Delete only its value' }] : []),
        { value: 'subtree', label: hasChildren ? 'Delete all of it' : 'Delete it', danger: true },
        { value: 'keep', label: 'Keep it', primary: true },
      ],
    });
    if (answer !== 'value' && answer !== 'subtree') return false;
    await deleteNode(this.name, subscripts, answer);
    if (answer === 'value') await this.told.stored(node);
    else await this.told.deleted(node);
    return true;
  }
}

/** @param {number} values @param {boolean} more */
function valuesText(values, more) {
  if (values === 1 && !more) return 'one value';
  return `${more ? 'more than ' : ''}${values.toLocaleString('en-US')} values`;
}

/**
 * Says at once what the server would refuse.
 *
 * @param {string} type
 * @param {string} text
 * @throws {Error}
 */
function checkText(type, text) {
  if (type === 'document') JSON.parse(text);
  if (type === 'number' && (text.trim() === '' || !Number.isFinite(Number(text))))
    throw new Error(`“${text}” is not a number: give digits, as in 12, -0.5 or 1e9.`);
}

/** @param {string} type @param {string} text */
function newText(type, text) {
  if (type === 'null') return 'null';
  if (type === 'document') return 'this document';
  const short = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return type === 'string' ? `the string "${short}"` : `the ${type} ${short}`;
}

/** @param {string} title @param {string} text @param {string} label */
async function confirm(title, text, label) {
  const answer = await ask({
    title,
    text,
    answers: [
      { value: 'cancel', label: 'Cancel' },
      { value: 'yes', label, primary: true },
    ],
  });
  return answer === 'yes';
}

/**
 * @typedef {object} FormOptions
 * @property {string} title
 * @property {string} note which node it is about
 * @property {NewValue['type']} type
 * @property {string} text
 * @property {boolean} [withKey] ask for the subscript of a new child
 * @property {boolean} [withDocument] a JSON document may be stored
 * @property {boolean} [onlyDocument]
 * @property {(given: { key: string, type: NewValue['type'], text: string }) => Promise<boolean>} save answers whether it is done;
 *   what it throws is said in the form
 *
 * @param {FormOptions} options
 * @returns {Promise<void>} when the form is closed
 */
function openForm({
  title,
  note,
  type,
  text,
  withKey = false,
  withDocument = false,
  onlyDocument = false,
  save,
}) {
  const dialog = find(copyOf('value-template'), 'dialog', HTMLDialogElement);
  const form = find(dialog, 'form', HTMLFormElement);
  const key = find(form, '#value-key', HTMLInputElement);
  const kind = find(form, '#value-type', HTMLSelectElement);
  const field = find(form, '#value-text', HTMLTextAreaElement);
  const truth = find(form, '#value-truth', HTMLSelectElement);
  const problem = find(form, '#value-problem', HTMLElement);
  find(dialog, '#value-title', HTMLElement).textContent = title;
  find(dialog, '#value-note', HTMLElement).textContent = note;
  find(form, '#value-key-field', HTMLElement).hidden = !withKey;
  key.required = withKey;
  for (const option of kind.querySelectorAll('option')) {
    const isDocument = option.value === 'document';
    if (isDocument ? !withDocument : onlyDocument) option.remove();
  }
  find(form, '#value-type-field', HTMLElement).hidden = onlyDocument;
  kind.value = type;
  field.value = text;
  truth.value = text === 'true' ? 'true' : 'false';
  const showFields = () => {
    find(form, '#value-text-field', HTMLElement).hidden = kind.value === 'boolean' || kind.value === 'null';
    find(form, '#value-truth-field', HTMLElement).hidden = kind.value !== 'boolean';
    field.rows = kind.value === 'document' ? 14 : 4;
  };
  kind.addEventListener('change', showFields);
  showFields();
  find(form, '#value-cancel', HTMLButtonElement).addEventListener('click', () => dialog.close());
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const given = kind.value === 'boolean' ? truth.value : kind.value === 'null' ? '' : field.value;
    try {
      checkText(kind.value, given);
      const isDone = await save({
        key: key.value,
        type: /** @type {NewValue['type']} */ (kind.value),
        text: given,
      });
      if (isDone) dialog.close();
    } catch (error) {
      problem.textContent = /** @type {Error} */ (error).message;
    }
  });
  document.body.append(dialog);
  dialog.showModal();
  if (withKey) key.focus();
  else field.focus();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve();
    });
  });
}
