// One point of the scaling benchmark, in a process of its own. Answers one line of JSON.

import { open } from '../../js/index.mjs';
import * as workloads from '../workloads/scaling.mjs';

const { folder, dimension, at } = JSON.parse(process.argv[2]);
const db = open(folder, { durability: 'relaxed' });
const measure = /** @type {Record<string, (db: any, at: number) => Record<string, number>>} */ (
  /** @type {unknown} */ (workloads)
)[dimension];
console.log(JSON.stringify(measure(db, at)));
db.close();
