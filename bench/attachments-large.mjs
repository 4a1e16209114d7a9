// One large attachment through each server with little heap: it goes up and comes back piece by piece, the hashes are compared, and the
// most memory that the server's process ever had is told. `node attachments-large.mjs --size 1GB --heap 64`; Linux only.

import { parseArgs } from 'node:util';
import { throughServer } from '../__test__/documents-http/large-attachment.mjs';
import { workFolder } from './run/machine.mjs';
import { runtime } from './run/runtimes.mjs';

const UNITS = { KB: 1e3, MB: 1e6, GB: 1e9 };
const HELP = `node attachments-large.mjs [--size 1GB] [--heap 64]

  --size  of the attachment: a number with KB, MB or GB (default 1GB; the servers take 4 GiB at most)
  --heap  MB that the heap of a thread of Node.js may have (default 64); Bun has no such limit`;

/** @param {string} text such as 64MB @returns {number} bytes */
function readSize(text) {
  const [, number, unit] = /^(\d+)(KB|MB|GB)$/i.exec(text) ?? [];
  if (number === undefined) throw new Error(`--size ${text}: give a number with KB, MB or GB, as 1GB`);
  return Number(number) * UNITS[/** @type {keyof UNITS} */ (unit.toUpperCase())];
}

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '1GB' },
    heap: { type: 'string', default: '64' },
    help: { type: 'boolean' },
  },
});

if (values.help) {
  console.log(HELP);
} else {
  const size = readSize(values.size);
  if (!/^[1-9]\d*$/.test(values.heap)) throw new Error(`--heap ${values.heap}: give whole MB, as 64`);
  for (const [name, program, at] of /** @type {const} */ ([
    ['Fastify', 'nws.mjs', 'node'],
    ['Bun.serve', 'bws.js', 'bun'],
  ])) {
    const found = runtime(at);
    if (!('path' in found)) {
      console.log(`${name}: SKIPPED, ${found.missing}`);
      continue;
    }
    const heap = at === 'node' ? Number(values.heap) : undefined;
    const { up, down, peak } = await throughServer({
      path: found.path,
      program,
      size,
      heap,
      above: workFolder(),
    });
    const rate = (/** @type {number} */ seconds) => `${(size / 1e6 / seconds).toFixed(0)} MB/s`;
    console.log(
      `${name}, ${found.title}: ${values.size} up at ${rate(up)}, down at ${rate(down)}, at most ${(peak / 1e6).toFixed(0)} MB of memory`,
    );
  }
}
