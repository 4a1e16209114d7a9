// One of the workers of crowd.test.mjs: does its job on the store it is given, and says how that went.

import { parentPort, workerData } from 'node:worker_threads';
import { glsDB } from '../../js/glsdb.mjs';

const { store, job, id, rounds } = workerData;
const glsdb = new glsDB();
glsdb.open({ type: 'CaretDB', ...store, timeout: 60 });

/** @type {Record<string, () => unknown>} */
const jobs = {
  push() {
    const list = new glsdb.node('Crowd.list');
    for (let round = 0; round < rounds; round += 1) list.push(`${id}-${round}`);
  },
  count() {
    const counter = new glsdb.node('Crowd.counter');
    for (let round = 0; round < rounds; round += 1) counter.increment();
  },
  replace() {
    const node = new glsdb.node('Crowd.document');
    for (let round = 0; round < rounds; round += 1) {
      node.document = Array.from({ length: 5 + (round % 40) }, () => ({ by: id, round }));
    }
  },
  look() {
    const node = new glsdb.node('Crowd.document');
    let mixtures = 0;
    for (let round = 0; round < rounds; round += 1) {
      const [first, ...others] = node.document;
      const isWhole = others.every(
        (/** @type {any} */ each) => each.by === first.by && each.round === first.round,
      );
      if (!isWhole || others.length !== 4 + (first.round % 40)) mixtures += 1;
    }
    return mixtures;
  },
};
const result = jobs[job]();
glsdb.close();
parentPort?.postMessage(result);
