// A server of this repository as a real process on a free port and a store of its own, and a browser that opens its pages.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

import { mglobal, server } from '../../js/mg-dbx.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Pictures of the pages, kept for whoever reviews a change; not part of the repository. */
const artifacts = join(root, 'artifacts');

/** How long a server may take to answer, and a page to show something; it bounds a hang, and measures nothing. */
const PATIENCE = 60_000;

const BROWSER_ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * A running server. `^Kept` is in its store from the start, with data that no benchmark wrote.
 */
export class Site {
  /**
   * @param {string} program the runtime
   * @param {string} script `nws.mjs` or `bws.js`
   * @returns {Promise<Site>}
   */
  static async start(program, script) {
    const folder = mkdtempSync(join(tmpdir(), 'caretdb-browser-'));
    const data = join(folder, 'store');
    writeOtherData(data);
    const port = await freePort();
    const process_ = spawn(
      program,
      [join(root, script), 'true', '2', '--port', String(port), '--data', data],
      {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    const site = new Site(process_, folder, `http://127.0.0.1:${port}`);
    await site.waitUntilItAnswers();
    return site;
  }

  /**
   * @param {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, import('node:stream').Readable>} server_
   * @param {string} folder
   * @param {string} url
   */
  constructor(server_, folder, url) {
    this.server = server_;
    this.folder = folder;
    this.url = url;
    this.output = '';
    /** @param {Buffer} text */
    const keep = (text) => {
      this.output = (this.output + text).slice(-20_000);
    };
    server_.stdout.on('data', keep);
    server_.stderr.on('data', keep);
    this.ended = new Promise((resolve) => server_.once('exit', resolve));
  }

  async waitUntilItAnswers() {
    const end = Date.now() + PATIENCE;
    while (Date.now() < end && this.server.exitCode === null) {
      const reply = await fetch(`${this.url}/local`).catch(() => undefined);
      if (reply?.ok) return;
      await pause(100);
    }
    await this.stop();
    assert.fail(`the server did not start:\n${this.output}`);
  }

  async stop() {
    this.server.kill('SIGTERM');
    const late = setTimeout(() => this.server.kill('SIGKILL'), PATIENCE);
    await this.ended;
    clearTimeout(late);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} executablePath
 * @returns {Promise<import('playwright-core').Browser>} with a profile folder of its own, removed when it closes
 */
export function launchBrowser(executablePath) {
  return chromium.launch({ executablePath, args: BROWSER_ARGUMENTS });
}

/**
 * Opens the benchmark page as a new visitor, and notes what should not happen there.
 *
 * @param {import('playwright-core').Browser} browser
 * @param {Site} site
 * @param {import('playwright-core').BrowserContextOptions} [options]
 */
export async function visit(browser, site, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  /** @type {string[]} */
  const faults = [];
  page.on('pageerror', (error) => faults.push(`error on the page: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(site.url)) faults.push(`loaded from elsewhere: ${request.url()}`);
  });
  await page.goto(site.url);
  await page.getByRole('heading', { name: 'Benchmark' }).waitFor();
  return { page, faults, leave: () => context.close() };
}

/**
 * @param {import('playwright-core').Page} page
 * @param {string} name
 */
export async function keepPicture(page, name) {
  mkdirSync(artifacts, { recursive: true });
  await page.screenshot({ path: join(artifacts, `${name}.png`), animations: 'disabled' });
}

/** @param {string} path */
function writeOtherData(path) {
  const db = new server();
  db.open({ type: 'CaretDB', path });
  new mglobal(db, 'Kept').set(1, 'name', 'Ada');
  db.close();
}

/** @returns {Promise<number>} */
async function freePort() {
  const listener = createServer();
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (listener.address());
  await new Promise((resolve) => listener.close(resolve));
  return port;
}
