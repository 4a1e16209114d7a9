// Promise: on a server that needs a token a person logs in with the browser, comes to the page that was asked for, is told when the
// login is over, and can end it. On both servers, and in a browser as it is: what its form sends must pass the server's checks.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onBothServers } from './both.mjs';
import { keepPicture, watched } from './site.mjs';

const TOKEN = 'a-token-for-the-browser-2f81c3';

/** @typedef {import('playwright-core').Page} Page */

onBothServers(
  'the login',
  (here) => {
    const { script, skip } = here;

    /** @param {(page: Page) => Promise<void>} act @param {{ expected?: RegExp }} [more] what the console may say */
    const asVisitor = async (act, { expected } = {}) => {
      const { page, faults, leave } = await watched(here.browser, here.site, { colorScheme: 'dark' });
      try {
        await act(page);
        assert.deepEqual(
          faults.filter((fault) => !expected?.test(fault)),
          [],
        );
      } catch (error) {
        await keepPicture(page, `failed-login-${script}`);
        throw error;
      } finally {
        await leave();
      }
    };

    /** @param {Page} page */
    const logIn = async (page) => {
      await page.getByLabel('Token').fill(TOKEN);
      await page.getByRole('button', { name: 'Log in' }).click();
    };

    test('a wrong token is refused, the right one leads to the page that was asked for', { skip }, () =>
      asVisitor(
        async (page) => {
          await page.goto(`${here.site.url}/#/global/Kept`);
          await page.getByLabel('Token').fill('wrong');
          await page.getByRole('button', { name: 'Log in' }).click();
          await page.getByRole('alert').getByText('That is not the token of this server').waitFor();
          await keepPicture(page, `login-${script}`);
          await logIn(page);
          await page.getByRole('heading', { name: '^Kept', exact: true }).first().waitFor();
          await page.getByRole('button', { name: 'Log out' }).waitFor();
          await keepPicture(page, `login-done-${script}`);
        },
        { expected: /status of 401/ },
      ),
    );

    test('a log-out leads to the login, and ends the session', { skip }, () =>
      asVisitor(async (page) => {
        await page.goto(here.site.url);
        await logIn(page);
        // What the page still loads when the session ends would be refused.
        await page.waitForLoadState('networkidle');
        await page.getByRole('button', { name: 'Log out' }).click();
        await page.getByLabel('Token').waitFor();
        assert.equal(new URL(page.url()).pathname, '/login');
        await page.goto(here.site.url);
        await page.getByLabel('Token').waitFor();
      }),
    );

    test('a login that is over is said, and a new one leads back', { skip }, () =>
      asVisitor(
        async (page) => {
          await page.goto(`${here.site.url}/#/global/Kept`);
          await logIn(page);
          await page.getByRole('tree').getByRole('treeitem', { name: '1', exact: true }).waitFor();
          await page.getByRole('button', { name: 'Log out' }).waitFor();
          await page.context().clearCookies();
          await page.getByRole('button', { name: 'Refresh the nodes' }).click();
          await page.getByText('This server wants a login, and yours is over.').waitFor();
          await page.getByRole('button', { name: 'Log out' }).waitFor({ state: 'hidden' });
          await keepPicture(page, `login-over-${script}`);
          await page.getByRole('link', { name: 'Log in' }).click();
          await logIn(page);
          await page.getByRole('tree').getByRole('treeitem', { name: '1', exact: true }).waitFor();
          assert.equal(new URL(page.url()).hash, '#/global/Kept');
        },
        { expected: /status of 401/ },
      ),
    );
  },
  { token: TOKEN },
);
