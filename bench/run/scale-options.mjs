// The options of the scale benchmark, spelt as those of NuDB's.

import { existsSync } from 'node:fs';
import { PEERS, whyMissing } from './compare.mjs';
import { parseCommandLine, whole } from './options.mjs';

const HELP = `node scale.mjs [options], as NuDB's benchmark has them

  --batch_size   items that a batch inserts, and then fetches; default 20000
  --num_batches  default 500; with --quick 5 of 2000
  --db_dir       the folder for the databases; default the system's temporary folder
  --raw_out      a file for all samples: num_db_items,db,op,ops/sec
  --dbs          the databases, with commas between them; default all
  --key_size     bytes of a key, 64
  --quick        shows that it works
  --out          the folder for the result, scale.json; default results, with --quick results-quick

A million items take --num_batches 50; the ten million of the default, with all databases, about 60 GB of disk.`;

/** Options of NuDB's benchmark that have no meaning here. */
const REFUSED = {
  block_size: "it is the size of a NuDB key file's blocks; no database here has such a file",
  load_factor: "it is how full NuDB keeps its hash table's buckets; no database here has a hash table",
};

/** @param {string} message @returns {never} */
function refuse(message) {
  console.error(message);
  process.exit(2);
}

/** @returns {Promise<{ id: string, name: string, durability: string, peer: string }[]>} of all peers */
async function allDatabases() {
  const found = [];
  for (const peer of PEERS) {
    const { items = [], probe } = await import(`../peers/${peer}.mjs`);
    const missing = items.length === 0 ? undefined : await whyMissing(probe);
    if (missing !== undefined) {
      console.error(`SKIPPED ${peer}: ${missing}`);
      continue;
    }
    found.push(
      ...items.map((/** @type {any} */ { id, name, durability }) => ({ id, name, durability, peer })),
    );
  }
  return found;
}

/** Reads the command line. */
export async function readScaleOptions() {
  const text = /** @type {const} */ ({ type: 'string' });
  const values = parseCommandLine({
    batch_size: text,
    num_batches: text,
    db_dir: text,
    raw_out: text,
    dbs: text,
    key_size: text,
    block_size: text,
    load_factor: text,
    out: text,
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  });
  if (values.help) {
    console.log(HELP);
    process.exit(0);
  }
  for (const [option, why] of Object.entries(REFUSED)) {
    if (values[/** @type {keyof typeof REFUSED} */ (option)] !== undefined) refuse(`--${option}: ${why}`);
  }
  const keySize = whole(values.key_size, 64, 'key_size');
  if (keySize > 500)
    refuse('--key_size must be at most 500: longer keys are more than some database here can have');
  if (values.db_dir !== undefined && !existsSync(values.db_dir))
    refuse(`--db_dir: there is no folder ${values.db_dir}`);
  const all = await allDatabases();
  const names = all.map(({ id }) => id);
  const wanted = values.dbs?.split(',') ?? names;
  for (const name of wanted) {
    if (name === 'nudb') refuse('--dbs: NuDB is in no registry; its figures are quoted in RESULTS.md');
    if (!names.includes(name)) refuse(`--dbs: there is no ${name} here, only ${names.join(', ')}`);
  }
  const quick = values.quick === true;
  const numBatches = whole(values.num_batches, quick ? 5 : 500, 'num_batches');
  return {
    dbs: all.filter(({ id }) => wanted.includes(id)),
    batchSize: whole(values.batch_size, quick ? 2_000 : 20_000, 'batch_size'),
    numBatches,
    keySize,
    dbDir: values.db_dir ?? process.env.BENCH_DIR,
    rawOut: values.raw_out,
    options: {
      quick,
      rounds: numBatches,
      budget: 0,
      out: values.out ?? (quick ? 'results-quick' : 'results'),
      peers: undefined,
      runtimes: undefined,
      sizes: {},
    },
  };
}
