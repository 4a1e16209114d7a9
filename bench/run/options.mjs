// The options every benchmark takes.

import { parseArgs } from 'node:util';

/**
 * @typedef {object} Options
 * @property {number} rounds
 * @property {number} budget seconds after which a step ends
 * @property {boolean} quick
 * @property {string} out the folder for the result file
 * @property {string[] | undefined} peers
 * @property {string[] | undefined} runtimes
 * @property {Record<string, number>} sizes
 */

/**
 * Reads the command line.
 *
 * @param {string} name of the benchmark
 * @param {Record<string, { full: number, quick: number, meaning: string }>} sizes options with whole numbers of its own
 * @param {string} [about] more for `--help`
 * @returns {Options}
 */
export function readOptions(name, sizes, about = '') {
  /** @type {import('node:util').ParseArgsConfig['options']} */
  const own = Object.fromEntries(Object.keys(sizes).map((size) => [size, { type: 'string' }]));
  const values = parseCommandLine({
    ...own,
    rounds: { type: 'string' },
    budget: { type: 'string' },
    quick: { type: 'boolean', default: false },
    out: { type: 'string' },
    peers: { type: 'string' },
    runtimes: { type: 'string' },
    help: { type: 'boolean', default: false },
  });
  if (values.help) {
    console.log(help(name, sizes, about));
    process.exit(0);
  }
  const quick = values.quick === true;
  /** @type {Record<string, any>} */
  const given = values;
  return {
    rounds: whole(given.rounds, quick ? 1 : 5, 'rounds'),
    budget: whole(given.budget, quick ? 1 : 4, 'budget'),
    quick,
    out: given.out ?? (quick ? 'results-quick' : 'results'),
    peers: given.peers?.split(','),
    runtimes: given.runtimes?.split(','),
    sizes: Object.fromEntries(
      Object.entries(sizes).map(([size, { full, quick: small }]) => [
        size,
        whole(given[size], quick ? small : full, size),
      ]),
    ),
  };
}

/** @param {string} name @param {Record<string, { full: number, quick: number, meaning: string }>} sizes @param {string} about */
function help(name, sizes, about) {
  const own = Object.entries(sizes).map(
    ([size, { full, quick, meaning }]) =>
      `  --${size.padEnd(12)} ${meaning}; default ${full}, with --quick ${quick}`,
  );
  return `node ${name}.mjs [options]
${about}
${own.join('\n')}
  --rounds       how often each peer has its turn; default 5, with --quick 1
  --budget       seconds after which a step ends; the rate is that of what it did; default 4
  --quick        shows that it works; its figures mean little
  --peers        only the peers whose names contain one of these: --peers lmdb,CaretDB
  --runtimes     only these: node, bun, new-node
  --out          the folder for the result, ${name}.json; default results, with --quick results-quick

BENCH_DIR names the folder that holds the databases, else the system's temporary folder.`;
}

/**
 * What the command line says; what it should not say ends the program with a sentence.
 *
 * @template {NonNullable<import('node:util').ParseArgsConfig['options']>} Given
 * @param {Given} options
 */
export function parseCommandLine(options) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${/** @type {Error} */ (error).message}; --help says what there is`);
    process.exit(2);
  }
}

/** @param {string | undefined} text @param {number} otherwise @param {string} name */
export function whole(text, otherwise, name) {
  if (text === undefined) return otherwise;
  const number = Number(text);
  if (text.trim() === '' || !Number.isInteger(number) || number < 1) {
    console.error(`--${name} must be a whole number from 1, not '${text}'`);
    process.exit(2);
  }
  return number;
}
