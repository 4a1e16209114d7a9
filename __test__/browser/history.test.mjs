// Promise: a person sees on the page how the rates change with the number of records while a scale run goes on, finds past runs again,
// compares two, takes the figures away as files, and deletes what is kept. On both servers.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { onBothServers } from './both.mjs';
import { keepPicture, visit } from './site.mjs';

/** @typedef {import('playwright-core').Page} Page */

onBothServers('scale runs and the history on the page', (here) => {
  const { script, skip } = here;

  test('two runs and two scale runs are made, found, compared, saved and deleted', { skip }, async () => {
    const { page, faults, leave } = await visit(here.browser, here.site);
    try {
      await page.getByText('No run is kept yet').waitFor();
      await page.getByLabel('JSON', { exact: true }).fill("{hello: 'world'}");
      for (const records of ['50', '60']) await run(page, records);
      await page.getByLabel('Scale: how the rates change with size').check();
      assert.equal(await page.getByLabel('Up to how many records').inputValue(), '1000000');
      await page.getByLabel('Up to how many records').fill('999');
      await page.getByRole('button', { name: 'Go!' }).click();
      await page.getByText('Give a whole number from 1,000 to 10,000,000.').waitFor();

      await page.getByLabel('Up to how many records').fill('5000');
      await page.getByRole('button', { name: 'Go!' }).click();
      const results = page.getByRole('dialog', { name: 'Scale run' });
      await results.getByText('Up to 5,000 records in ^bmTest').waitFor();
      assert.deepEqual(await results.locator('tbody th').allTextContents(), ['1,000', '2,000', '5,000']);
      assert.equal(await results.locator('svg[role="img"] .line path').count(), 15);
      await keepPicture(page, `scale-${script}`);
      const svg = await saved(page, results.getByRole('button', { name: 'Download as SVG' }));
      assert.match(svg, /^<svg[^>]* xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
      assert.match(svg, /stroke="rgb/);
      assert.match(svg, />Get by nested next</);
      await page.keyboard.press('Escape');
      await run(page, '2000');

      await page.getByLabel('Compare run 1').check();
      const compare = page.getByRole('button', { name: 'Compare two' });
      assert.equal(await compare.isDisabled(), true);
      await page.getByLabel('Compare run 3').check();
      await page.getByText('A run and a scale run cannot be compared').waitFor();
      await page.getByLabel('Compare run 3').uncheck();
      await page.getByLabel('Compare run 2').check();
      await compare.click();
      const comparison = page.getByRole('dialog', { name: 'Comparison' });
      await comparison.getByRole('rowheader', { name: '50 and 60' }).waitFor();
      assert.equal(await comparison.getByRole('cell', { name: /^\d+\.\d\d ×$/ }).count(), 5);
      assert.equal(await comparison.locator('rect.bar').count(), 10);
      await page.keyboard.press('Escape');
      // Each tick beyond two takes the place of the oldest.
      await page.getByLabel('Compare run 3').check();
      await page.getByLabel('Compare run 4').check();
      assert.equal(await page.getByLabel('Compare run 1').isChecked(), false);
      await compare.click();
      // Of two scale runs, the numbers that both have.
      await comparison.getByRole('rowheader', { name: '2,000' }).waitFor();
      assert.deepEqual(await comparison.locator('tbody th').allTextContents(), ['1,000', '2,000']);
      await keepPicture(page, `comparison-${script}`);
      await page.keyboard.press('Escape');

      const history = page.getByRole('region', { name: 'History' });
      const csv = await saved(page, history.getByRole('button', { name: 'Download as CSV' }));
      const lines = csv.trimEnd().split('\r\n');
      // Five sections at one number, at one, at three and at two.
      assert.equal(lines.length, 1 + 5 * (1 + 1 + 3 + 2));
      assert.match(lines[0], /^run,made,kind,global,records,section,rate,processor,/);
      assert.match(lines[1], /^4,\d{4}-.*,scale,bmTest,1000,set,\d+,/);
      const json = JSON.parse(await saved(page, history.getByRole('button', { name: 'Download as JSON' })));
      assert.deepEqual(
        json.map((/** @type {any} */ { id, kind }) => [id, kind]),
        [
          [4, 'scale'],
          [3, 'scale'],
          [2, 'run'],
          [1, 'run'],
        ],
      );

      await page.getByRole('button', { name: 'Delete run 2' }).click();
      await page.getByLabel('Compare run 2').waitFor({ state: 'detached' });
      await page.reload();
      await page.getByRole('button', { name: 'Show run 3' }).click();
      await results.waitFor();
      await page.keyboard.press('Escape');
      await history.getByRole('button', { name: 'Delete all' }).click();
      await page.getByText('The figures of 3 runs go.').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete all' }).click();
      await page.getByText('No run is kept yet').waitFor();
      assert.deepEqual(faults, []);
    } catch (error) {
      await keepPicture(page, `failed-history-${script}`);
      throw error;
    } finally {
      await leave();
    }
  });

  test('a scale run draws as it goes, and can be cancelled; on a telephone too', { skip }, async () => {
    const options = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
    const { page, leave } = await visit(here.browser, here.site, options);
    try {
      await page.getByLabel('JSON', { exact: true }).fill("{hello: 'world'}");
      await page.getByLabel('Document name').fill('bmScaleCancelled');
      await page.getByLabel('Scale: how the rates change with size').check();
      await page.getByLabel('Up to how many records').fill('10000000');
      await page.getByRole('button', { name: 'Go!' }).click();
      await page.waitForFunction(
        () => document.querySelectorAll('#scale-live-canvas .line path').length >= 10,
      );
      await keepPicture(page, `scale-live-${script}`);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `the page is ${overflow} pixels wider than the screen`);
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('alert').getByText('Cancelled.').waitFor();
      await page.getByText('No run is kept yet').waitFor();
    } catch (error) {
      await keepPicture(page, `failed-scale-${script}`);
      throw error;
    } finally {
      await leave();
    }
  });
});

/** Makes a run of the kind that is chosen, and closes its results. @param {Page} page @param {string} records */
async function run(page, records) {
  await page.locator('#number-of-records').fill(records);
  await page.getByRole('button', { name: 'Go!' }).click();
  const results = page.getByRole('dialog');
  await results.waitFor();
  await page.keyboard.press('Escape');
  await results.waitFor({ state: 'detached' });
}

/**
 * @param {Page} page
 * @param {import('playwright-core').Locator} button
 * @returns {Promise<string>} what the file holds that the button saves
 */
async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return readFileSync(await download.path(), 'utf8');
}
