// Promise: /api shows the routes of the server by group, the filter and the keyboard find one and open it, and nothing comes from
// elsewhere or breaks the page's policy. On both servers.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onBothServers } from './both.mjs';
import { keepPicture, watched } from './site.mjs';

onBothServers('the API page', (here) => {
  const { script, skip } = here;

  test('a route is found by the filter, and opened by the keyboard', { skip }, async () => {
    const { page, faults, leave } = await watched(here.browser, here.site);
    try {
      await page.goto(`${here.site.url}/api`);
      await page.getByRole('heading', { name: 'API', exact: true }).waitFor();
      await page.getByRole('heading', { name: 'Documents', exact: true }).waitFor();
      assert.equal(
        await page.getByRole('link', { name: 'API', exact: true }).getAttribute('aria-current'),
        'page',
      );
      await page.getByLabel('Filter by path').fill('patch documents');
      await page
        .getByRole('status')
        .getByText(/^1 of \d+ routes$/)
        .waitFor();
      assert.equal(await page.locator('details.route:visible').count(), 1);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByText('application/merge-patch+json').first().waitFor();
      await keepPicture(page, `api-${script}`);
      assert.deepEqual(faults, []);
    } finally {
      await leave();
    }
  });
});
