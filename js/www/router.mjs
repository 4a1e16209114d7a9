// Shows the page that the address names: `#/benchmark`, or `#/name/first/second` with parameters.

import { element, find } from './elements.mjs';

/**
 * @typedef {object} Page
 * @property {string} path the first part of the address
 * @property {string} title
 * @property {boolean} inMenu
 * @property {() => Promise<{ show(place: HTMLElement, ...parameters: string[]): void | (() => void) }>} load
 *   `show` fills the place, and may answer what to do when the page is left
 */

/**
 * @param {Page[]} pages the first is shown when the address names none
 */
export function startRouter(pages) {
  const place = find(document, '#page', HTMLElement);
  const links = new Map(pages.filter(({ inMenu }) => inMenu).map((page) => [page, menuLink(page)]));
  /** @type {void | (() => void)} */
  let leave;
  let visit = 0;

  /** @param {boolean} moved whether the person asked for the page, so that the keyboard goes there */
  async function visitPage(moved) {
    if (location.hash && !location.hash.startsWith('#/')) return;
    const [path, ...parameters] = location.hash.slice(2).split('/').map(decoded);
    const page = pages.find((candidate) => candidate.path === path) ?? pages[0];
    visit += 1;
    const thisVisit = visit;
    const { show } = await page.load();
    if (thisVisit !== visit) return;
    leave?.();
    place.replaceChildren();
    leave = show(place, ...parameters);
    document.title = `${page.title} · CaretDB`;
    for (const [linked, link] of links) markCurrent(link, linked === page);
    if (moved) place.focus();
  }

  addEventListener('hashchange', () => visitPage(true));
  visitPage(false);
}

/** @param {Page} page */
function menuLink(page) {
  const link = element('a', { href: `#/${page.path}` }, page.title);
  find(document, '#menu-pages', HTMLUListElement).append(element('li', {}, link));
  return link;
}

/**
 * @param {HTMLElement} link
 * @param {boolean} current
 */
function markCurrent(link, current) {
  if (current) link.setAttribute('aria-current', 'page');
  else link.removeAttribute('aria-current');
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
