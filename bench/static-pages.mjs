// Static pages: the files of the browser page, Node.js with Fastify against Bun.serve.

import { statSync } from 'node:fs';
import { CONNECTIONS, details, findServers, measureServers } from './http/measure.mjs';
import { readOptions } from './run/options.mjs';
import { beginResult, makeTable } from './run/report.mjs';
import { scenarios } from './workloads/static-pages.mjs';

const options = readOptions('static-pages', {
  milliseconds: { full: 1000, quick: 200, meaning: 'how long each page is asked for, in milliseconds' },
});
const seconds = options.sizes.milliseconds / 1000;
const result = beginResult('static-pages', 'Static pages', options);
const { servers, skipped } = findServers();
const found = await measureServers({
  servers,
  module: 'static-pages',
  settings: {},
  rounds: options.rounds,
  seconds,
});
const sizes = Object.keys(scenarios).map(
  (file) =>
    `\`${file}\` ${statSync(new URL(`../js/www/${file}`, import.meta.url)).size.toLocaleString('en')} bytes`,
);
const what =
  `${CONNECTIONS} kept-alive connections, each with one request in flight, ${seconds} s for each page; server and client share the machine. ` +
  `One operation is one request; ${sizes.join(', ')}; every status and every byte is checked.`;
const peers = servers.map(({ name }) => ({ name, durability: '' }));
const rates = found.map(({ server, scenario, rate }) => ({ peer: server, step: scenario, rate }));
const detailed = details(found);
const rows = [...new Set(detailed.map(({ peer }) => peer))].map((name) => ({
  name,
  durability: '',
}));
result.finish(
  [
    makeTable('Pages', what, peers, rates, 'requests a second'),
    {
      ...makeTable(
        'Latency of pages',
        'The same requests: milliseconds, and bytes for one request.',
        rows,
        detailed,
        'milliseconds or bytes',
      ),
      plot: false,
    },
  ],
  { runtimes: servers.map(({ runtime }) => runtime), notes: skipped },
);
