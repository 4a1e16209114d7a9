// Starts the pages: the menu at the left, the directory of globals in it, and the page that the address names.

import { startConnection } from './connection.mjs';
import { startDirectory } from './directory.mjs';
import { find } from './elements.mjs';
import { startRouter } from './router.mjs';
import { startSession } from './session.mjs';

/**
 * Every page of the site. `load` imports its module, which exports `show(place, ...parameters)`.
 *
 * @type {import('./router.mjs').Page[]}
 */
const PAGES = [
  { path: 'benchmark', title: 'Benchmark', inMenu: true, load: () => import('./pages/benchmark.mjs') },
  { path: 'api', title: 'API', inMenu: true, load: () => import('./pages/api.mjs') },
  { path: 'global', title: 'Global', inMenu: false, load: () => import('./pages/global.mjs') },
];

startMenu();
startConnection();
startSession();
startDirectory();
startRouter(PAGES);

/** On a narrow screen the menu is closed until asked for, and closes when a page was chosen. */
function startMenu() {
  const toggle = find(document, '#menu-toggle', HTMLButtonElement);
  const menu = find(document, '.menu', HTMLElement);
  /** @param {boolean} open */
  const setOpen = (open) => {
    menu.classList.toggle('open', open);
    toggle.setAttribute('aria-expanded', String(open));
  };
  toggle.addEventListener('click', () => setOpen(!menu.classList.contains('open')));
  addEventListener('hashchange', () => setOpen(false));
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !menu.classList.contains('open')) return;
    setOpen(false);
    toggle.focus();
  });
}
