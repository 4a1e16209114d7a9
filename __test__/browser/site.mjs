// A server of this repository as a real process on a free port and a store of its own, and a browser that opens its pages.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

import { mglobal, server } from '../../js/mg-dbx.mjs';
import { freePort } from '../real/port.mjs';

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
   * @param {{ fill?: (path: string) => void, options?: string[], token?: string }} [more] `fill` writes what the store holds at the
   *   start
   * @returns {Promise<Site>}
   */
  static async start(program, script, { fill = writeOtherData, options = [], token } = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'caretdb-browser-'));
    const data = join(folder, 'store');
    fill(data);
    const port = await freePort();
    const command = [join(root, script), 'true', '2', '--port', String(port), '--data', data, ...options];
    const site = new Site(program, command, folder, `http://127.0.0.1:${port}`, token);
    await site.run();
    return site;
  }

  /**
   * @param {string} program
   * @param {string[]} command
   * @param {string} folder
   * @param {string} url
   * @param {string} [token]
   */
  constructor(program, command, folder, url, token) {
    this.token = token;
    this.program = program;
    this.command = command;
    this.folder = folder;
    this.url = url;
    this.output = '';
  }

  /** Starts the server, the first time or again. */
  async run() {
    const server_ = spawn(this.program, this.command, {
      cwd: this.folder,
      env: this.token === undefined ? process.env : { ...process.env, CARETDB_TOKEN: this.token },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.server = server_;
    /** @param {Buffer} text */
    const keep = (text) => {
      this.output = (this.output + text).slice(-20_000);
    };
    server_.stdout.on('data', keep);
    server_.stderr.on('data', keep);
    this.ended = new Promise((resolve) => server_.once('exit', resolve));
    const end = Date.now() + PATIENCE;
    while (Date.now() < end && server_.exitCode === null && server_.signalCode === null) {
      const reply = await fetch(`${this.url}/${this.token === undefined ? 'local' : 'health'}`).catch(
        () => undefined,
      );
      if (reply?.ok) return;
      await pause(100);
    }
    await this.stop();
    assert.fail(`the server did not start:\n${this.output}`);
  }

  /** Ends the server; what it has stored stays. */
  async end() {
    const server_ = this.server;
    server_?.kill('SIGTERM');
    const late = setTimeout(() => server_?.kill('SIGKILL'), PATIENCE);
    await this.ended;
    clearTimeout(late);
  }

  async stop() {
    await this.end();
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
  const visitor = await watched(browser, site, options);
  await visitor.page.goto(site.url);
  await visitor.page.getByRole('heading', { name: 'Benchmark' }).waitFor();
  return visitor;
}

/**
 * An empty page of a new visitor, watched for what should not happen.
 *
 * @param {import('playwright-core').Browser} browser
 * @param {Site} site
 * @param {import('playwright-core').BrowserContextOptions} [options]
 */
export async function watched(browser, site, options = {}) {
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
    const url = request.url().replace(/^blob:/, '');
    if (!url.startsWith(site.url)) faults.push(`loaded from elsewhere: ${request.url()}`);
  });
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
