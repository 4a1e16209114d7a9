// Promise: a person who opens the server's page in a browser can run a benchmark and read what it found, with a mouse or with the
// keyboard alone, on both servers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { onBothServers } from './both.mjs';
import { keepPicture, visit } from './site.mjs';

const SECTIONS = ['Set', 'Get by nested next', 'Get by cursor', 'Set document', 'Get document'];

const PERSON = `{
  name: 'Rob',
  address: {houseNo: 9, city: 'Redhill', county: 'Surrey'},
  telephone: '0790123456'
}`;

onBothServers('the benchmark page', (here) => {
  const { script, skip } = here;

  /**
   * @param {(page: import('playwright-core').Page) => Promise<void>} act
   * @param {{ refusals?: number, options?: import('playwright-core').BrowserContextOptions }} [expected] `refusals`: how many
   *   requests the server answers with an error status, each of which the browser's console shows
   */
  const onPage = async (act, { refusals = 0, options } = {}) => {
    const { page, faults, leave } = await visit(here.browser, here.site, options);
    try {
      await act(page);
      const statuses = faults.filter((fault) => fault.includes('the server responded with a status of'));
      assert.deepEqual(
        faults.filter((fault) => !statuses.includes(fault)),
        [],
      );
      assert.equal(statuses.length, refusals, statuses.join('\n'));
    } catch (error) {
      await keepPicture(page, `failed-${script}`);
      throw error;
    } finally {
      await leave();
    }
  };

  test('types a small document, presses Go!, reads five rates and opens the call counts', { skip }, () =>
    onPage(async (page) => {
      await page.getByLabel('JSON', { exact: true }).pressSequentially("{hello: 'world'}");
      await page.getByText('^bmTest(n,"hello")="world"').waitFor();
      await page.getByRole('button', { name: 'Go!' }).click();
      const results = page.getByRole('dialog', { name: 'Results' });
      await results.getByText('100 records in ^bmTest').waitFor();
      assert.equal((await ratesIn(results)).length, 5);
      assert.deepEqual(await barsIn(results), await ratesIn(results));
      assert.deepEqual(await countsIn(results, 'Set'), { set: ['100', '1'] });
      assert.deepEqual(await countsIn(results, 'Get by nested next'), {
        get: ['100', '1'],
        def: ['200', '2'],
        nxt: ['200', '2'],
      });
      assert.deepEqual(await countsIn(results, 'Get by cursor'), {
        def: ['100', '1'],
        nxt: ['100', '1'],
        nxq: ['199', '1.99'],
      });
      assert.deepEqual(await countsIn(results, 'Set document'), { doc: ['100', '1'] });
      assert.deepEqual(await countsIn(results, 'Get document'), { doc: ['100', '1'] });
      await results.getByRole('button', { name: 'Hide call counts of Set', exact: true }).click();
      assert.equal(
        await results.getByRole('table', { name: 'Database calls of Set', exact: true }).count(),
        0,
      );
      await page.getByRole('button', { name: 'Close the results' }).click();
      await results.waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'bmTest', exact: true }).waitFor();
      await page.getByRole('button', { name: 'Show the last results' }).click();
      await results.waitFor();
    }),
  );

  test('runs ten thousand persons of five leaves', { skip }, () =>
    onPage(async (page) => {
      await page.getByLabel('JSON', { exact: true }).fill(PERSON);
      await page.getByLabel('Document name').fill('bmPerson');
      await page.getByRole('button', { name: '10,000', exact: true }).click();
      await keepPicture(page, `benchmark-form-${script}`);
      await page.getByRole('button', { name: 'Go!' }).click();
      const results = page.getByRole('dialog', { name: 'Results' });
      await results.getByText('10,000 records in ^bmPerson').waitFor();
      await keepPicture(page, `benchmark-results-${script}`);
      assert.deepEqual(await countsIn(results, 'Set'), { set: ['50,000', '5'] });
      assert.deepEqual(await countsIn(results, 'Get by nested next'), {
        get: ['50,000', '5'],
        def: ['70,000', '7'],
        nxt: ['80,000', '8'],
      });
      const names = await globalsOf(here.site);
      assert.ok(names.includes('bmPerson') && !names.includes('%caretdb'), names.join());
    }),
  );

  test('asks what to do with bad JSON5: edit it', { skip }, () =>
    onPage(async (page) => {
      const json = page.getByLabel('JSON', { exact: true });
      await json.fill("{hello: 'world'");
      await page.getByRole('button', { name: 'Go!' }).click();
      const question = page.getByRole('dialog', { name: 'This is not a JSON5 document' });
      await question.getByText('invalid end of input').waitFor();
      await question.getByRole('button', { name: 'Edit' }).click();
      assert.equal(await json.evaluate((field) => field === document.activeElement), true);
      assert.equal(await page.getByRole('dialog').count(), 0);
      assert.equal(await json.inputValue(), "{hello: 'world'");
    }),
  );

  test('asks what to do with bad JSON5: submit it as text', { skip }, () =>
    onPage(async (page) => {
      await page.getByLabel('JSON', { exact: true }).fill("{hello: 'world'");
      await page.getByLabel('Document name').fill('bmText');
      await page.getByRole('button', { name: 'Go!' }).click();
      await page.getByRole('button', { name: 'Submit as text' }).click();
      const results = page.getByRole('dialog', { name: 'Results' });
      await results.waitFor();
      assert.deepEqual(await countsIn(results, 'Get by cursor'), { get: ['100', '1'], def: ['100', '1'] });
    }),
  );

  test('by keyboard alone: fills the form, goes, opens counts, and comes back to Go!', { skip }, () =>
    onPage(async (page) => {
      await tabTo(page, 'Skip to the page');
      await page.keyboard.press('Enter');
      await tabTo(page, 'Document name');
      await page.keyboard.type('bmKeys');
      await tabTo(page, 'Number of records');
      await page.keyboard.type('20');
      await tabTo(page, 'JSON');
      await page.keyboard.type("{hello: 'keys'}");
      await tabTo(page, 'Go!');
      await page.keyboard.press('Enter');
      const results = page.getByRole('dialog', { name: 'Results' });
      await results.getByText('20 records in ^bmKeys').waitFor();
      await tabTo(page, 'Show call counts of Get document');
      await page.keyboard.press('Space');
      await results.getByRole('table', { name: 'Database calls of Get document' }).waitFor();
      await page.keyboard.press('Escape');
      await results.waitFor({ state: 'detached' });
      assert.equal(await focusedName(page), 'Go!');
    }),
  );

  test('asks before it deletes data that no benchmark wrote', { skip }, () =>
    onPage(
      async (page) => {
        await page.getByLabel('JSON', { exact: true }).fill("{hello: 'world'}");
        await page.getByLabel('Document name').fill('Kept');
        await page.getByRole('button', { name: 'Go!' }).click();
        const question = page.getByRole('dialog', { name: '^Kept holds other data' });
        await question.getByRole('button', { name: 'Keep it' }).click();
        await question.waitFor({ state: 'detached' });
        assert.equal(await page.getByRole('dialog').count(), 0);
        await page.getByRole('button', { name: 'Go!' }).click();
        await question.getByRole('button', { name: 'Delete it and run' }).click();
        await page.getByRole('dialog', { name: 'Results' }).getByText('in ^Kept').waitFor();
      },
      { refusals: 2 },
    ),
  );

  test('says what is wrong with a name and with a number', { skip }, () =>
    onPage(
      async (page) => {
        await page.getByLabel('JSON', { exact: true }).fill('1');
        await page.getByLabel('Number of records').fill('0');
        await page.getByRole('button', { name: 'Go!' }).click();
        await page.getByText('Give a whole number from 1 to 10,000,000.').waitFor();
        assert.equal(await focusedName(page), 'Number of records');
        await page.getByLabel('Number of records').fill('1,000');
        await page.getByLabel('Document name').fill('no name');
        await page.getByRole('button', { name: 'Go!' }).click();
        await page.getByRole('alert').getByText('no name').waitFor();
        assert.equal(await focusedName(page), 'Document name');
      },
      { refusals: 1 },
    ),
  );

  test('shows how far a large run is, and cancels it', { skip }, () =>
    onPage(
      async (page) => {
        await page.getByLabel('JSON', { exact: true }).fill(PERSON);
        await page.getByLabel('Document name').fill('bmCancelled');
        await page.getByLabel('Number of records').fill('10000000');
        await page.getByRole('button', { name: 'Go!' }).click();
        const bar = page.getByRole('progressbar');
        await page.waitForFunction(() => Number(document.querySelector('progress')?.value) > 0);
        await bar.waitFor();
        await page
          .getByText(/^Set: [\d,]+ of 10,000,000 records$/)
          .first()
          .waitFor();
        await keepPicture(page, `benchmark-progress-${script}`);
        await page.getByRole('button', { name: 'Cancel' }).click();
        await page.getByRole('alert').getByText('Cancelled.').waitFor();
        assert.equal((await globalsOf(here.site)).includes('bmCancelled'), false);
      },
      { refusals: 1 },
    ),
  );

  test('a run ends when its page is closed', { skip }, () =>
    onPage(async (page) => {
      await page.getByLabel('JSON', { exact: true }).fill(PERSON);
      await page.getByLabel('Document name').fill('bmLeft');
      await page.getByLabel('Number of records').fill('10000000');
      await page.getByRole('button', { name: 'Go!' }).click();
      await page.getByRole('progressbar').waitFor();
      await page.goto('about:blank');
      await eventually(async () => !(await globalsOf(here.site)).includes('bmLeft'));
    }),
  );

  test('fits a telephone, in the dark', { skip }, () =>
    onPage(
      async (page) => {
        await page.getByRole('button', { name: 'Person' }).click();
        await page.getByRole('button', { name: 'Menu' }).click();
        await page.getByRole('navigation', { name: 'Pages' }).waitFor();
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'Go!' }).click();
        await page.getByRole('dialog', { name: 'Results' }).waitFor();
        await keepPicture(page, `benchmark-telephone-${script}`);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `the page is ${overflow} pixels wider than the screen`);
      },
      { options: { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } },
    ),
  );
});

/**
 * @param {import('./site.mjs').Site} site
 * @returns {Promise<string[]>} the directory, as the server tells it
 */
async function globalsOf(site) {
  const { names } = await (await fetch(`${site.url}/viewer/globaldirectory`)).json();
  return names;
}

/** @param {() => Promise<boolean>} condition */
async function eventually(condition) {
  for (let tries = 0; tries < 300; tries += 1) {
    if (await condition()) return;
    await pause(100);
  }
  assert.fail('it never became true');
}

/** @param {import('playwright-core').Locator} results */
async function ratesIn(results) {
  const rates = await Promise.all(
    SECTIONS.map((name) =>
      results.getByRole('region', { name, exact: true }).locator('.rate strong').textContent(),
    ),
  );
  for (const rate of rates) assert.match(String(rate), /^\d{1,3}(,\d{3})*$/);
  return rates;
}

/**
 * The figures at the bars of the chart, and that each bar is as long as its figure says.
 *
 * @param {import('playwright-core').Locator} results
 */
async function barsIn(results) {
  const bars = await results
    .locator('svg .bar')
    .evaluateAll((all) => all.map((bar) => Number(bar.getAttribute('width'))));
  const rates = await results.locator('svg .bar-rate').allTextContents();
  const perPixel = rates.map((rate, at) => Number(rate.replaceAll(',', '')) / bars[at]);
  const tallest = bars.indexOf(Math.max(...bars));
  bars.forEach((length, at) => {
    if (length > 20)
      assert.ok(Math.abs(perPixel[at] / perPixel[tallest] - 1) < 0.02, `bar ${at} of ${rates}`);
  });
  return rates;
}

/**
 * Opens a section's call counts.
 *
 * @param {import('playwright-core').Locator} results
 * @param {string} section
 * @returns {Promise<Record<string, string[]>>} by call: the calls, and the calls per record
 */
async function countsIn(results, section) {
  await results.getByRole('button', { name: `Show call counts of ${section}`, exact: true }).click();
  const table = results.getByRole('table', { name: `Database calls of ${section}`, exact: true });
  const rows = await table
    .locator('tbody tr')
    .evaluateAll((all) =>
      all.map((row) => [
        String(row.querySelector('code')?.textContent),
        Array.from(row.querySelectorAll('td'), (cell) => String(cell.textContent)),
      ]),
    );
  return Object.fromEntries(rows);
}

/**
 * Presses Tab until the part of the page with that name has the focus.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} name
 */
async function tabTo(page, name) {
  for (let presses = 0; presses < 40; presses += 1) {
    await page.keyboard.press('Tab');
    if ((await focusedName(page)) === name) return;
  }
  assert.fail(`Tab never reached ${name}`);
}

/**
 * @param {import('playwright-core').Page} page
 * @returns {Promise<string>} the label or the text of what has the focus
 */
function focusedName(page) {
  return page.evaluate(() => {
    const focused = document.activeElement;
    const labels = /** @type {HTMLInputElement | null} */ (focused)?.labels;
    return String(labels?.length ? labels[0].textContent : focused?.textContent).trim();
  });
}
