// Runs a suite in the browser against both servers, each as a real process with a store of its own.

import { after, before, describe } from 'node:test';

import { findBun } from '../real/bun.mjs';
import { findChromium } from '../real/chromium.mjs';
import { currentRuntime } from '../runner/runtimes.mjs';
import { isSample } from '../runner/sample.mjs';
import { launchBrowser, Site } from './site.mjs';

const chromium = findChromium();
const bun = findBun();
const node = currentRuntime();

// Playwright drives a browser from Node.js only. Bun's part in these tests is the server.
const notHere = node.kind === 'bun' && 'the browser is driven from Node.js, which tests both servers';

/**
 * @typedef {object} Here where a suite runs
 * @property {'nws.mjs' | 'bws.js'} script the server
 * @property {string | false} skip why it cannot run
 * @property {Site} site filled in before the tests run
 * @property {import('playwright-core').Browser} browser filled in before the tests run
 */

// Node.js 24 drives the pages of Bun's server no other than the first Node.js of a test run does.
const SERVERS = /** @type {const} */ ([
  ['nws.mjs', node],
  ['bws.js', bun],
]).slice(0, isSample ? 1 : 2);

/**
 * @param {string} what is tested
 * @param {(here: Here) => void} suite defines the tests
 * @param {Parameters<typeof Site.start>[2]} [options] of the server
 */
export function onBothServers(what, suite, options) {
  for (const [script, runtime] of SERVERS) {
    const skip = notHere || chromium.skip || runtime.skip;
    describe(`${what} of ${script}`, () => {
      const here = /** @type {Here} */ ({ script, skip });
      before(async () => {
        if (skip) return;
        here.site = await Site.start(String(runtime.path), script, options);
        here.browser = await launchBrowser(String(chromium.path));
      });
      after(async () => {
        await here.browser?.close();
        await here.site?.stop();
      });
      suite(here);
    });
  }
}
