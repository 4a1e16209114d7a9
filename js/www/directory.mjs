// The list of globals in the menu.

import { globalDirectory } from './api.mjs';
import { element, find } from './elements.mjs';

/** More names than this are counted, not listed. */
const MOST_NAMES = 500;

/** All names, as last read. @type {string[]} */
let known = [];

/** Fills the list, and again whenever the person or a page asks. */
export function startDirectory() {
  find(document, '#directory-refresh', HTMLButtonElement).addEventListener('click', () => refresh(true));
  filterField().addEventListener('input', () => showNames(false));
  document.addEventListener('globals-changed', () => refresh(false));
  document.addEventListener('server-back', () => refresh(false));
  addEventListener('hashchange', markCurrent);
  refresh(false);
}

function filterField() {
  return find(document, '#directory-filter', HTMLInputElement);
}

/** For pages: the store's globals may have changed. */
export function tellGlobalsChanged() {
  document.dispatchEvent(new Event('globals-changed'));
}

/** @param {boolean} asked whether to say so when it is done */
async function refresh(asked) {
  try {
    known = await globalDirectory();
    showNames(asked);
  } catch (error) {
    noteText(`The list could not be read. ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {string} words */
function noteText(words) {
  find(document, '#directory-note', HTMLElement).textContent = words;
}

/** Lists the names that the filter lets through. @param {boolean} asked */
function showNames(asked) {
  const wanted = filterField().value.trim().replace(/^\^/, '').toLowerCase();
  const names = known.filter((name) => name.toLowerCase().includes(wanted));
  find(document, '#directory-list', HTMLUListElement).replaceChildren(
    ...names.slice(0, MOST_NAMES).map(entry),
  );
  markCurrent();
  noteText(wanted === '' ? summary(names.length, asked) : matches(names.length));
}

/** @param {number} count */
function matches(count) {
  const shown = count > MOST_NAMES ? `The first ${MOST_NAMES} of ` : '';
  return `${shown}${count.toLocaleString('en-US')} of ${known.length.toLocaleString('en-US')} globals.`;
}

/** Tells the global whose page is shown from the others. */
function markCurrent() {
  for (const link of document.querySelectorAll('#directory-list a')) {
    if (link.getAttribute('href') === location.hash) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

/**
 * @param {number} count
 * @param {boolean} asked
 */
function summary(count, asked) {
  if (count === 0) return 'The store is empty.';
  if (count > MOST_NAMES) return `The first ${MOST_NAMES} of ${count.toLocaleString('en-US')} globals.`;
  return asked ? `${count} ${count === 1 ? 'global' : 'globals'}, just read.` : '';
}

/** @param {string} name */
function entry(name) {
  const link = element('a', { href: `#/global/${encodeURIComponent(name)}` });
  link.append(element('span', { class: 'caret', 'aria-hidden': 'true' }, '^'), name);
  return element('li', {}, link);
}
