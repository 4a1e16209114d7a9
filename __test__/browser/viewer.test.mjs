// Promise: a person finds and reads any node of any global in the browser, and changes it where the server allows, with a mouse, a
// finger or the keyboard alone; a million children do not change that. On both servers.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { fillStore, HOSTILE_KEYS, PNG } from '../viewer/store.mjs';
import { onBothServers } from './both.mjs';
import { keepPicture, visit } from './site.mjs';

const MILLION = 1_000_000;

/** @typedef {import('playwright-core').Page} Page */

onBothServers(
  'the viewer',
  (here) => {
    const { script, skip } = here;

    /**
     * @param {string} name of the global whose page is opened
     * @param {(page: Page, tree: import('playwright-core').Locator) => Promise<void>} act
     * @param {{ expected?: RegExp, options?: import('playwright-core').BrowserContextOptions }} [more] `expected`: what the
     *   console may say
     */
    const onGlobal = async (name, act, { expected, options } = {}) => {
      const { page, faults, leave } = await visit(here.browser, here.site, options);
      try {
        await page.goto(`${here.site.url}/#/global/${encodeURIComponent(name)}`);
        const tree = page.getByRole('tree', { name: `Nodes of ^${name}` });
        await tree.getByRole('treeitem').first().waitFor();
        await act(page, tree);
        assert.deepEqual(
          faults.filter((fault) => !expected?.test(fault)),
          [],
        );
      } catch (error) {
        await keepPicture(page, `failed-viewer-${script}`);
        throw error;
      } finally {
        await leave();
      }
    };

    /** @param {Page} page @param {string} name */
    const details = (page, name) => page.getByRole('region', { name, exact: true });

    test('filters the directory, and opens a global from it', { skip }, () =>
      onGlobal('Types', async (page) => {
        await page.getByLabel('Filter the globals').fill('^ma');
        await page.getByText('1 of 4 globals.').waitFor();
        await page.getByRole('link', { name: 'Many', exact: true }).click();
        await page.getByRole('heading', { name: '^Many', exact: true }).first().waitFor();
        await page.getByLabel('Filter the globals').fill('');
        await page.getByRole('button', { name: 'Refresh the list of globals' }).click();
        await page.getByText('4 globals, just read.').waitFor();
      }),
    );

    test('shows every type of value, a picture, and a document as JSON', { skip }, () =>
      onGlobal('Types', async (page, tree) => {
        /** @param {string} name */
        const line = (name) => tree.getByRole('treeitem', { name, exact: true });
        await line('minus zero = -0').waitFor();
        await line('both = "a value"').click();
        await details(page, '^Types("both")').getByText('string · 7 characters · has children').waitFor();
        await line(`picture = ${PNG.length} bytes, image/png`).click();
        const picture = page.getByAltText('The picture that the bytes are (image/png)');
        await picture.waitFor();
        await page.waitForFunction(
          () => document.images.length > 0 && [...document.images].at(-1)?.naturalWidth === 16,
        );
        await keepPicture(page, `viewer-picture-${script}`);
        await line('bytes = 600 bytes').click();
        await page.getByText('The first 512 of 600 bytes.').waitFor();
        await details(page, '^Types("bytes")').getByText('000000 00 01 02 03 04 05 06 07').waitFor();
        await line('document').click();
        await page.getByRole('button', { name: 'Show as JSON' }).click();
        const json = await page.getByLabel('The document as JSON').textContent();
        assert.deepEqual(JSON.parse(String(json)), {
          a: {},
          b: [],
          c: [1, 'two', null],
          d: { '[000000]': 1 },
        });
      }),
    );

    test('shows the attachments of a document, and downloads them', { skip }, async () => {
      const bytes = Buffer.from(Array.from({ length: 700 }, (_, at) => at % 256));
      for (const [name, type, body] of /** @type {[string, string, Uint8Array<ArrayBuffer> | string][]} */ ([
        ['portrait of a/b.png', 'image/png', new Uint8Array(PNG)],
        ['no picture.png', 'image/png', 'plain text'],
        ['raw', 'application/octet-stream', bytes],
        ['empty', 'text/plain', ''],
      ])) {
        const url = `${here.site.url}/documents/Held/a%2Fb/attachments/${encodeURIComponent(name)}`;
        const reply = await fetch(url, { method: 'PUT', headers: { 'content-type': type }, body });
        assert.equal(reply.status, 201, await reply.text());
      }
      await onGlobal('Held', async (page, tree) => {
        await tree.getByRole('treeitem', { name: 'a/b' }).click();
        const list = page.getByRole('list', { name: 'Attachments' });
        await page.getByRole('heading', { name: '4 attachments' }).waitFor();
        const line = (/** @type {string} */ name) => list.getByRole('listitem').filter({ hasText: name });
        await line('portrait').getByText(`image/png · ${PNG.length} bytes`).waitFor();
        const picture = page.getByAltText('The picture portrait of a/b.png');
        await picture.waitFor();
        await page.waitForFunction(() =>
          [...document.images].some(
            ({ naturalWidth, alt }) => naturalWidth === 16 && alt.includes('portrait'),
          ),
        );
        // What only says that it is a picture is shown as bytes.
        await line('no picture').getByText('000000 70 6c 61 69 6e 20 74 65').waitFor();
        await page.getByRole('button', { name: 'Show raw' }).click();
        await line('raw').getByText('The first 512 of 700 bytes.').waitFor();
        await line('raw').getByText('000000 00 01 02 03 04 05 06 07').waitFor();
        await page.getByRole('button', { name: 'Show empty' }).click();
        await line('empty').getByText('no bytes').waitFor();
        await keepPicture(page, `viewer-attachments-${script}`);
        await page.getByRole('button', { name: 'Hide raw' }).click();
        await line('raw').getByText('The first 512').waitFor({ state: 'detached' });
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('link', { name: 'Download raw' }).click(),
        ]);
        assert.equal(download.suggestedFilename(), 'raw');
        assert.deepEqual(readFileSync(await download.path()), bytes);
      });
      const removed = await fetch(`${here.site.url}/documents/Held/a%2Fb`, { method: 'DELETE' });
      assert.ok(removed.ok, await removed.text());
    });

    test('opens a node below any key, however it is spelt', { skip }, () =>
      onGlobal('Keys', async (page, tree) => {
        for (let at = 0; at <= HOSTILE_KEYS.length; at += 1) {
          await tree.focus();
          await page.keyboard.press('ArrowDown');
          await page.keyboard.press('ArrowRight');
          await tree.getByRole('treeitem', { name: /^(deeper|below) = / }).waitFor();
          await page.keyboard.press('ArrowLeft');
          await tree.getByRole('treeitem', { name: /^(deeper|below) = / }).waitFor({ state: 'detached' });
        }
        await activeBecomes(page, '<fffe>');
        await page.getByRole('heading', { name: '^Keys(<fffe>)' }).waitFor();
      }),
    );

    test('by keyboard alone: arrows, Home, End, Enter and /', { skip }, () =>
      onGlobal('Types', async (page, tree) => {
        await tree.focus();
        await activeBecomes(page, '^Types');
        await page.keyboard.press('ArrowDown');
        await activeBecomes(page, 'both="a value"');
        await page.keyboard.press('ArrowRight');
        await tree.getByRole('treeitem', { name: 'below' }).waitFor();
        await page.keyboard.press('ArrowRight');
        await activeBecomes(page, 'below="and a child"');
        await page.keyboard.press('ArrowLeft');
        await page.keyboard.press('ArrowLeft');
        assert.equal(await tree.getByRole('treeitem', { name: 'below' }).count(), 0);
        await page.keyboard.press('End');
        await activeBecomes(page, 'true=true');
        await page.keyboard.press('ArrowUp');
        await activeBecomes(page, 'string="text"');
        await page.keyboard.press('Enter');
        assert.equal(await page.evaluate(() => document.activeElement?.id), 'details-title');
        await page.keyboard.press('Escape');
        await page.keyboard.press('Home');
        await activeBecomes(page, '^Types');
        await page.keyboard.press('/');
        await page.keyboard.type('nu');
        await page.keyboard.press('Enter');
        await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'tree');
        await activeBecomes(page, 'null=null');
      }),
    );

    test('goes through a million children without holding them', { skip }, () =>
      onGlobal('Many', async (page, tree) => {
        await tree.focus();
        await page.keyboard.press('End');
        await tree.getByRole('treeitem', { name: '1000000 = "value 1000000"' }).waitFor();
        await keepPicture(page, `viewer-million-${script}`);
        await page.getByLabel('Go to a key').fill('499999.5');
        await page.keyboard.press('Enter');
        await tree.getByRole('treeitem', { name: '500000 = "value 500000"' }).waitFor();
        await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'tree');
        await activeBecomes(page, '500000="value 500000"');
        // Up past what was read first. Keys that nobody could follow are not remembered, so each waits for the one before.
        for (let key = 499_999; key >= 499_880; key -= 1) {
          await page.keyboard.press('ArrowUp');
          await activeBecomes(page, `${key}="value ${key}"`);
        }
        // Scrolled to the end of what is there again and again, the tree reads on, and lets go of what is behind.
        let last = 0;
        for (let round = 0; round < 25; round += 1) {
          await tree.evaluate((box) => box.scrollTo(0, box.scrollHeight));
          await page.waitForFunction(LAST_KEY_ABOVE, last);
          last = await lastKey(page);
        }
        assert.ok(last > 500_500, `the last key is ${last}`);
        const held = await tree.evaluate((box) => [box.scrollHeight, box.querySelectorAll('*').length]);
        assert.ok(held[0] < 320 * 44 && held[1] < 600, `height ${held[0]}, elements ${held[1]}`);
        await tree.focus();
        await page.keyboard.press('Home');
        await page.keyboard.press('ArrowDown');
        await activeBecomes(page, '1="value 1"');
      }),
    );

    test('adds, edits and deletes, each after a question', { skip }, () =>
      onGlobal('Edited', async (page, tree) => {
        await page.getByText('This global holds nothing.').waitFor();
        await addChild(page, 'a.b[0]', 'number', 'twelve');
        await page.getByRole('alert').getByText('is not a number').waitFor();
        await page.getByRole('textbox', { name: 'Value' }).fill('12');
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByText('^Edited("a.b[0]") becomes the number 12.').waitFor();
        await page.getByRole('button', { name: 'Add it' }).click();
        await tree.getByRole('treeitem', { name: 'a.b[0] = 12', exact: true }).waitFor();
        await page.getByRole('link', { name: 'Edited', exact: true }).waitFor();
        // A document below it.
        await addChild(page, 'doc', 'document', '{"x": [1, null]}');
        await page.getByRole('button', { name: 'Add it' }).click();
        await details(page, '^Edited("a.b[0]","doc")').waitFor();
        await page.getByRole('button', { name: 'Show as JSON' }).click();
        await page.getByRole('button', { name: 'Edit as JSON' }).click();
        await page.getByRole('textbox', { name: 'Value' }).fill('{"x": "y"}');
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByText('2 values').waitFor();
        await page.getByRole('button', { name: 'Replace it' }).click();
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        // The value above it, kept and then changed.
        await tree.getByRole('treeitem', { name: 'a.b[0] = 12', exact: true }).click();
        await details(page, '^Edited("a.b[0]")').getByText('number · has children').waitFor();
        await page.getByRole('button', { name: 'Edit value' }).click();
        await page.getByLabel('Type').selectOption('boolean');
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByText('^Edited("a.b[0]") becomes the boolean false in place of 12.').waitFor();
        await page.getByRole('button', { name: 'Cancel' }).last().click();
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByRole('button', { name: 'Store it' }).click();
        await tree.getByRole('treeitem', { name: 'a.b[0] = false', exact: true }).waitFor();
        // The value alone, then all of it.
        await details(page, '^Edited("a.b[0]")').getByText('boolean · has children').waitFor();
        await page.getByRole('button', { name: 'Delete', exact: true }).click();
        await page.getByText('everything below it: 2 values. There is no undo.').waitFor();
        await keepPicture(page, `viewer-delete-${script}`);
        await page.getByRole('button', { name: 'Delete only its value' }).click();
        await tree.getByRole('treeitem', { name: 'a.b[0]', exact: true }).waitFor();
        await tree.focus();
        await page.keyboard.press('Delete');
        await page.getByRole('button', { name: 'Keep it' }).click();
        await page.keyboard.press('Delete');
        await page.getByRole('button', { name: 'Delete all of it' }).click();
        await tree.getByRole('treeitem', { name: 'a.b[0]', exact: true }).waitFor({ state: 'detached' });
        await page.getByRole('link', { name: 'Edited', exact: true }).waitFor({ state: 'detached' });
      }),
    );

    test('fits a telephone, in the dark, and a finger opens nodes', { skip }, () =>
      onGlobal(
        'Types',
        async (page, tree) => {
          const line = tree.getByRole('treeitem', { name: 'both = "a value"', exact: true });
          await line.tap();
          await details(page, '^Types("both")').getByText('has children').waitFor();
          await line.tap();
          await tree.getByRole('treeitem', { name: 'below = "and a child"' }).waitFor();
          const box = await line.boundingBox();
          assert.ok(Number(box?.height) >= 44, `a line is ${box?.height} pixels high`);
          await keepPicture(page, `viewer-telephone-${script}`);
          const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(overflow <= 0, `the page is ${overflow} pixels wider than the screen`);
        },
        {
          options: {
            viewport: { width: 360, height: 740 },
            colorScheme: 'dark',
            hasTouch: true,
            isMobile: true,
          },
        },
      ),
    );

    test('says that the server is gone, and goes on when it is back', { skip }, () =>
      onGlobal(
        'Types',
        async (page, tree) => {
          await tree.getByRole('treeitem', { name: 'number = 0.1' }).waitFor();
          await here.site.end();
          await page.getByRole('button', { name: 'Refresh the nodes' }).click();
          const gone = page.locator('#connection');
          await gone.waitFor();
          await keepPicture(page, `viewer-gone-${script}`);
          await gone.getByRole('button', { name: 'Try again' }).click();
          await gone.waitFor();
          await here.site.run();
          await gone.getByRole('button', { name: 'Try again' }).click();
          await gone.waitFor({ state: 'hidden' });
          await page.getByText('Read again.').waitFor();
        },
        { expected: /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/ },
      ),
    );
  },
  { fill: (path) => fillStore(path, { many: MILLION }), options: ['--edit'] },
);

/**
 * @param {Page} page
 * @param {string} key
 * @param {string} type
 * @param {string} value
 */
async function addChild(page, key, type, value) {
  await page.getByRole('button', { name: 'Add a child' }).click();
  await page.getByLabel('Subscript').fill(key);
  await page.getByLabel('Type').selectOption(type);
  await page.getByRole('textbox', { name: 'Value' }).fill(value);
  await page.getByRole('button', { name: 'Continue' }).click();
}

/** Whether the last line is a key above one. @param {number} known */
const LAST_KEY_ABOVE = (known) => {
  const keys = document.querySelectorAll('.tree-line .tree-key');
  return Number(keys[keys.length - 1]?.textContent) > known;
};

/** @param {Page} page @returns {Promise<number>} the last key in the page */
async function lastKey(page) {
  return Number(await page.locator('.tree-line .tree-key').last().textContent());
}

/**
 * Waits until a line is the active one.
 *
 * @param {Page} page
 * @param {string} text of the line, as a screen reader is told
 */
async function activeBecomes(page, text) {
  const isActive = (/** @type {string} */ wanted) => {
    const id = document.querySelector('[role="tree"]')?.getAttribute('aria-activedescendant');
    return id && document.getElementById(id)?.textContent === wanted;
  };
  await page.waitForFunction(isActive, text);
}
