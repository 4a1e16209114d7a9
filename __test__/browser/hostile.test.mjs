// Promise: what is in a store is text to the pages, whatever it looks like. Nothing of it is executed or loaded, no key is unreachable, and
// long, deep and many things do not break the page. On both servers.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { open } from '../../js/native.mjs';
import { onBothServers } from './both.mjs';
import { keepPicture, visit } from './site.mjs';

/** What would set `window.hacked`, or load something, where a page took it for more than text. */
const PAYLOADS = [
  '<script>window.hacked = 1</script>',
  '<img src=x onerror="window.hacked = 1">',
  '"><svg onload="window.hacked = 1">',
  "'-window.hacked=1-'",
  'javascript:window.hacked=1',
  '{{window.hacked = 1}}',
  '</textarea></template></script><iframe src="javascript:parent.hacked=1">',
];

const KEYS = [
  ...PAYLOADS,
  '__proto__',
  'constructor',
  'a.b[0].c',
  '[000000]',
  '#/global/Wide',
  '\u202egnp.exe',
  'مرحبا بالعالم',
  '👩‍👩‍👧‍👦🏳️‍🌈',
  `long ${'k'.repeat(495)}`,
  `lang ${'字'.repeat(165)}`,
];

const DEPTH = 12;
const MEGABYTE = 1_000_000;

/** @param {string} path */
function fill(path) {
  const db = open(path);
  const hostile = db.global('Hostile');
  for (const [at, key] of KEYS.entries()) hostile.set(key, PAYLOADS[at % PAYLOADS.length]);
  hostile.set(new Uint8Array([0, 0xff, 0xfe, 0x3c]), 'bytes as a key');
  db.global('Documents').setDocument(1, Object.fromEntries(KEYS.map((key) => [key, [key]])));
  const large = db.global('Large');
  const text = PAYLOADS.join(' ');
  db.transaction(() => {
    for (let at = 1; at <= 60; at += 1) large.set(at, text.repeat(MEGABYTE / text.length));
    large.set('bytes', new Uint8Array(MEGABYTE).fill(0x3c));
    large.set('line', 'x'.repeat(MEGABYTE));
  });
  const levels = Array.from({ length: DEPTH }, (_, level) => `level ${level + 1}`);
  db.global('Deep').set(...levels, PAYLOADS[0]);
  db.global('Name.with-all_of.it').set(1, 1);
  db.close();
}

/** @typedef {import('playwright-core').Page} Page */

onBothServers(
  'hostile data on the pages',
  (here) => {
    const { script, skip } = here;

    /**
     * @param {string} name
     * @param {(page: Page, tree: import('playwright-core').Locator) => Promise<void>} act
     * @param {import('playwright-core').BrowserContextOptions} [options]
     */
    const onGlobal = async (name, act, options) => {
      const { page, faults, leave } = await visit(here.browser, here.site, options);
      page.on('dialog', (dialog) => {
        faults.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      try {
        await page.goto(`${here.site.url}/#/global/${name}`);
        const tree = page.getByRole('tree', { name: `Nodes of ^${name}` });
        await tree.getByRole('treeitem').nth(1).waitFor();
        await act(page, tree);
        const found = await page.evaluate(() => [
          Reflect.get(window, 'hacked'),
          Reflect.get({}, 'polluted'),
          document.querySelectorAll('iframe, img[src="x"], svg[onload], a[href^="javascript:"]').length,
        ]);
        assert.deepEqual([found, faults], [[undefined, undefined, 0], []]);
      } catch (error) {
        await keepPicture(page, `failed-hostile-${script}`);
        throw error;
      } finally {
        await leave();
      }
    };

    test('keys and values that look like code are shown as they are, and each can be opened', { skip }, () =>
      onGlobal('Hostile', async (page, tree) => {
        await tree.focus();
        const lines = KEYS.length + 1;
        const shown = new Set();
        for (let at = 0; at < lines; at += 1) {
          await page.keyboard.press('ArrowDown');
          await page.keyboard.press('Enter');
          await page.waitForFunction(() => document.activeElement?.id === 'details-title');
          shown.add(await page.locator('#details-title').textContent());
          await page.keyboard.press('Escape');
        }
        assert.equal(shown.size, lines, [...shown].join('\n'));
        for (const payload of PAYLOADS)
          assert.ok(
            [...shown].some((title) => title.includes(payload.replaceAll('"', '""'))),
            payload,
          );
        assert.ok(
          [...shown].some((title) => title.includes('\\u202egnp.exe')),
          'no text runs backwards',
        );
        assert.ok(shown.has('^Hostile(<00fffe3c>)'));
        await keepPicture(page, `hostile-keys-${script}`);
      }),
    );

    test('a document of them is shown as JSON', { skip }, () =>
      onGlobal('Documents', async (page, tree) => {
        await tree.getByRole('treeitem', { name: /^1 = / }).click();
        await page.getByRole('button', { name: 'Show as JSON' }).click();
        const json = JSON.parse(String(await page.getByLabel('The document as JSON').textContent()));
        assert.deepEqual(Object.keys(json).toSorted(), KEYS.toSorted(), 'every key, __proto__ too');
        for (const [key, value] of Object.entries(json))
          assert.equal(JSON.stringify(value), JSON.stringify([key]));
      }),
    );

    test('attachments of such names and types are listed, and none is a page of this server', {
      skip,
    }, async () => {
      const page_ = PAYLOADS[0];
      const path = `${here.site.url}/documents/Documents/1/attachments/`;
      for (const name of [...PAYLOADS, 'page.html', '\u202egnp.svg']) {
        const headers = { 'content-type': name.endsWith('.svg') ? 'image/svg+xml' : 'text/html' };
        const reply = await fetch(path + encodeURIComponent(name), { method: 'PUT', headers, body: page_ });
        assert.equal(reply.status, 201, await reply.text());
      }
      await onGlobal('Documents', async (page, tree) => {
        await tree.getByRole('treeitem', { name: /^1 = / }).click();
        const list = page.getByRole('list', { name: 'Attachments' });
        await page.getByRole('heading', { name: `${PAYLOADS.length + 2} attachments` }).waitFor();
        for (const payload of PAYLOADS) await list.getByText(payload, { exact: true }).first().waitFor();
      });
      const { page, leave } = await visit(here.browser, here.site);
      await page.goto(`${path}page.html`);
      const done = await page.evaluate(() => [Reflect.get(window, 'hacked'), window.origin]);
      assert.deepEqual(done, [undefined, 'null'], 'it has no rights of this origin');
      await leave();
    });

    test('values of a megabyte are cut, in the tree and beside it', { skip }, () =>
      onGlobal('Large', async (page, tree) => {
        await tree.focus();
        for (const key of ['End', 'Enter']) await page.keyboard.press(key);
        await page
          .getByRole('region', { name: '^Large("line")', exact: true })
          .getByText('The first 262,144 of 1,000,000 characters.')
          .waitFor();
        await keepPicture(page, `hostile-large-${script}`);
        await page.keyboard.press('Escape');
        for (const key of ['Home', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
        await page.getByRole('region', { name: '^Large(1)', exact: true }).waitFor();
        const text = await page.evaluate(() => document.body.textContent?.length ?? 0);
        assert.ok(text < 600_000, `${text} characters are on the page`);
      }),
    );

    const telephone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
    for (const [how, options] of /** @type {const} */ ([
      ['by keyboard', undefined],
      ['by touch on a telephone', telephone],
    ])) {
      test(`twelve levels are opened ${how}, and the page stays as wide as the screen`, { skip }, () =>
        onGlobal(
          'Deep',
          async (page, tree) => {
            await tree.focus();
            if (options === undefined) await page.keyboard.press('ArrowDown');
            for (let level = 1; level <= DEPTH; level += 1) {
              const name = level === DEPTH ? new RegExp(`^level ${level} = `) : `level ${level}`;
              const line = tree.getByRole('treeitem', { name, exact: true });
              await line.waitFor();
              if (options !== undefined) {
                // Its name: a tap on the mark in front of it opens it at once.
                await line.locator('.tree-key').tap();
                await page.getByRole('heading', { name: new RegExp(`"level ${level}"\\)$`) }).waitFor();
                if (level < DEPTH) await line.locator('.tree-key').tap();
              } else if (level < DEPTH) {
                await page.keyboard.press('ArrowRight');
                await tree.getByRole('treeitem', { name: new RegExp(`^level ${level + 1}`) }).waitFor();
                await page.keyboard.press('ArrowRight');
              } else await page.keyboard.press('Enter');
            }
            await page.getByRole('heading', { name: /^\^Deep\("level 1",.*"level 12"\)$/ }).waitFor();
            await keepPicture(page, `hostile-deep-${script}`);
            const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
            assert.ok(overflow <= 0, `the page is ${overflow} pixels wider than the screen`);
          },
          options,
        ),
      );
    }
  },
  { fill, options: ['--edit'] },
);
