// Makes the pictures of the pages in docs/: `npm run pictures`, or `npm run pictures -- viewer` for one of them. Those with rates
// are worth keeping from a quiet machine only.

import { fileURLToPath } from 'node:url';

import { open } from '../../js/native.mjs';
import { findChromium } from '../real/chromium.mjs';
import { PNG } from '../viewer/store.mjs';
import { launchBrowser, Site, visit } from './site.mjs';

/** @typedef {import('playwright-core').Page} Page */

const PERSON =
  "{name: 'Rob', address: {houseNo: 9, city: 'Redhill', county: 'Surrey'}, telephone: '0790123456'}";

/** What is done before each picture is taken. @type {Record<string, (page: Page) => Promise<unknown>>} */
const PICTURES = {
  async benchmark(page) {
    await page.getByLabel('JSON', { exact: true }).fill(PERSON);
    await page.getByLabel('Number of records').fill('100000');
    await page.getByRole('button', { name: 'Go!' }).click();
    await page.getByRole('dialog', { name: 'Results' }).waitFor();
  },
  async scale(page) {
    await page.getByLabel('JSON', { exact: true }).fill(PERSON);
    await page.getByLabel('Scale: how the rates change with size').check();
    await page.getByLabel('Up to how many records').fill('1000000');
    await page.getByRole('button', { name: 'Go!' }).click();
    await page.getByRole('dialog', { name: 'Scale run' }).waitFor({ timeout: 600_000 });
  },
  async viewer(page) {
    await page.getByRole('link', { name: 'Person', exact: true }).click();
    const tree = page.getByRole('tree');
    await tree.getByRole('treeitem', { name: 'data', exact: true }).waitFor();
    await tree.focus();
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    await tree.getByRole('treeitem', { name: 'address', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show as JSON' }).click();
    await page.getByLabel('The document as JSON').waitFor();
  },
};

/** @param {string} path */
function fill(path) {
  const db = open(path);
  const person = db.global('Person');
  const names = ['Ada Lovelace', 'Alan Turing', 'Edsger Dijkstra', 'Grace Hopper', 'Rob Tweed'];
  for (const [at, name] of names.entries()) {
    person.setDocument('data', at + 1, {
      name,
      born: 1905 + at,
      active: at % 2 === 0,
      address: { houseNo: 9 + at, city: 'Redhill', county: 'Surrey' },
      telephone: `079012345${at}`,
      tags: ['member', null],
    });
    person.set('data', at + 1, 'photo', PNG);
  }
  person.set('nextId', names.length);
  db.global('Order').setDocument(1042, { paid: true, lines: [{ item: 'tea', price: 4.5 }] });
  db.global('Session').set('3f9c', 'user', 1);
  db.close();
}

const chromium = findChromium();
if (chromium.skip) throw new Error(chromium.skip);
const asked = process.argv.slice(2);
const site = await Site.start(process.execPath, 'nws.mjs', { fill, options: ['--edit'] });
const browser = await launchBrowser(String(chromium.path));
try {
  for (const [name, prepare] of Object.entries(PICTURES)) {
    if (asked.length > 0 && !asked.includes(name)) continue;
    const { page, leave } = await visit(browser, site, { viewport: { width: 1280, height: 860 } });
    await prepare(page);
    // What moves has come to rest by then.
    await page.mouse.move(0, 0);
    const path = fileURLToPath(new URL(`../../docs/${name}-page.png`, import.meta.url));
    await page.screenshot({ path, animations: 'disabled' });
    console.log(path);
    await leave();
  }
} finally {
  await browser.close();
  await site.stop();
}
