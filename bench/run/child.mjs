// Measures one part of a workload on one peer, in a process of its own: no peer finds the heap, the compiled code or the
// open files of another. Where the part is done more than once, with other settings, each time has a store of its own.
// Started by compare.mjs with one JSON argument; answers one line of JSON for each step.

import { mkdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const { workload, part, peer, kind, variant, folder, turns } = JSON.parse(process.argv[2]);
const { parts } = await import(`../workloads/${workload}.mjs`);
const variants = (await import(`../peers/${peer}.mjs`))[kind];
const { open } = variants.find((/** @type {{name: string}} */ { name }) => name === variant);
for (const [turn, settings] of turns.entries()) {
  const own = join(folder, String(turn));
  mkdirSync(own);
  await measure(turn, await open(own), settings);
}

/** @param {number} turn @param {any} store @param {Record<string, unknown>} settings */
async function measure(turn, store, settings) {
  try {
    for (const step of parts[part](settings)) {
      if (step.needs?.some((/** @type {string} */ method) => store[method] === undefined)) continue;
      await step.prepare?.(store);
      const begun = process.hrtime.bigint();
      const operations = await step.run(store);
      const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
      await step.finish?.(store, operations);
      writeSync(1, `${JSON.stringify({ turn, step: step.name, rate: operations / seconds, operations })}\n`);
    }
  } finally {
    await store.close();
  }
}
