// Asks the person something in a dialog.

import { copyOf, element, find } from './elements.mjs';

/**
 * @param {object} question
 * @param {string} question.title
 * @param {string} question.text
 * @param {string} [question.detail] shown as it is, in a fixed-width font
 * @param {{ value: string, label: string, primary?: boolean, danger?: boolean }[]} question.answers the last one has the focus
 * @returns {Promise<string>} the value of the answer; `''` when the dialog was closed with Escape
 */
export function ask({ title, text, detail = '', answers }) {
  const dialog = find(copyOf('question-template'), 'dialog', HTMLDialogElement);
  const detailPlace = find(dialog, '#question-detail', HTMLPreElement);
  const buttons = answers.map((answer) => answerButton(dialog, answer));
  find(dialog, '#question-title', HTMLElement).textContent = title;
  find(dialog, '#question-text', HTMLElement).textContent = text;
  detailPlace.textContent = detail;
  detailPlace.hidden = detail === '';
  find(dialog, '#question-answers', HTMLElement).append(...buttons);
  document.body.append(dialog);
  dialog.showModal();
  buttons.at(-1)?.focus();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
  });
}

/**
 * @param {HTMLDialogElement} dialog
 * @param {{ value: string, label: string, primary?: boolean, danger?: boolean }} answer
 */
function answerButton(dialog, { value, label, primary, danger }) {
  const kind = primary ? 'primary' : danger ? 'danger' : '';
  const button = element('button', { type: 'button', class: kind }, label);
  button.addEventListener('click', () => dialog.close(value));
  return button;
}
