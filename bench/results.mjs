// Makes RESULTS.md and its plots out of the result files of the runs; nothing in it is written by hand.
//
//   node results.mjs [--from results]

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { spellMachine } from './run/machine.mjs';
import * as quoted from './run/quoted.mjs';
import { markdownTable, spell } from './run/report.mjs';
import { barPlot, linePlot } from './run/svg.mjs';
import { targets } from './run/targets.mjs';

/** The order of the sections. */
const ORDER = [
  'keyvalue',
  'documents',
  'http-documents',
  'static-pages',
  'attachments',
  'scale',
  'scaling',
  'start',
];

/** @type {Record<string, typeof quoted.gtm>} quoted figures that stand beside those of a benchmark */
const BESIDE = { keyvalue: quoted.gtm, scale: quoted.scale };

/** What `npm run floor` writes: no result of a benchmark, but what hot calls are held against. */
const FLOOR = 'floor.json';

/** @param {string} folder @returns {import('./run/targets.mjs').Results} */
function readResults(folder) {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const found = files.filter((file) => file.endsWith('.json') && file !== FLOOR);
  const results = found.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')));
  if (results.length === 0) throw new Error(`no results in ${folder}: run a benchmark first, or npm run all`);
  const place = (/** @type {{ benchmark: string }} */ { benchmark }) => (ORDER.indexOf(benchmark) + 99) % 99;
  results.sort((a, b) => place(a) - place(b));
  return new Map(results.map((result) => [result.benchmark, result]));
}

/** @param {import('./run/targets.mjs').Results} results @param {string} folder @returns {string[]} lines */
function targetLines(results, folder) {
  const file = join(folder, FLOOR);
  const floor = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  const lines = [
    '## Targets',
    '',
    'Each is a ratio of two medians of one run; CaretDB on Node.js with `relaxed` durability unless said.',
    '',
    '| call | to reach | measured | |',
    '| --- | --- | --- | --- |',
  ];
  for (const { call, mark, find } of targets) {
    const found = find(results, floor);
    if (found.length === 0) lines.push(`| ${call} | ${mark} | not in these runs | |`);
    for (const { label, ratio, mark: least, figure, unit, most } of found) {
      const reached = most ? ratio <= least : ratio >= least;
      lines.push(
        `| ${label === undefined ? call : `${call}: ${label}`} | ${mark} | ${ratio.toFixed(2)} x, ${spell(figure)}${unit ?? '/s'} | ${reached ? 'reached' : 'missed: [why](../docs/performance.md)'} |`,
      );
    }
  }
  return lines;
}

/** @param {typeof quoted.gtm} table @returns {string[]} */
function quotedLines({ title, steps, rows }) {
  return [
    `### Quoted: ${title}`,
    '',
    'No package of these is in a registry, so they were not in this run: the figures were measured before, on a machine of the same kind. Operations a second.',
    '',
    `| quoted, not from this run | a returned write survives | ${steps.join(' | ')} |`,
    `| --- | --- | ${steps.map(() => '---:').join(' | ')} |`,
    ...rows.map(
      ({ name, durability, figures }) =>
        `| ${name} | ${durability} | ${figures.map((figure) => (figure === undefined ? '' : spell(figure))).join(' | ')} |`,
    ),
    '',
  ];
}

/**
 * @param {import('./run/report.mjs').Result} result
 * @returns {{ name: string, svg: string, alt: string }[]}
 */
function plotsOf({ benchmark, tables, plots = [] }) {
  const bars = tables
    .filter(({ plot, rows }) => plot !== false && rows.length > 0)
    .map(({ title, unit, peers, rows }, at) => ({
      name: `${benchmark}${tables.length > 1 ? `-${at + 1}` : ''}`,
      alt: title,
      svg: barPlot(
        title,
        unit,
        [...new Set(rows.map(({ step }) => step))].map((step) => ({
          title: step,
          bars: peers.flatMap(({ name }) => {
            const row = rows.find((candidate) => candidate.peer === name && candidate.step === step);
            return row === undefined
              ? []
              : [{ label: name, value: row.median, least: row.least, most: row.most }];
          }),
        })),
      ),
    }));
  return [...bars, ...plots.map((plot) => ({ name: plot.name, alt: plot.title, svg: linePlot(plot) }))];
}

const BENCH = fileURLToPath(new URL('.', import.meta.url));

/** Whether the results are those that are committed. @param {string} folder */
const isCommitted = (folder) => folder === join(BENCH, 'results');

/** @param {string} benchmark @param {string} folder of the results @returns {string} */
function folderOfPlots(benchmark, folder) {
  // The page on performance explains these.
  if (benchmark === 'scaling' && isCommitted(folder)) return join(BENCH, '..', 'docs', 'performance');
  return folder;
}

/** @param {string} target a folder @param {string} folder of the results @returns {string} the way there from RESULTS.md */
function linkTo(target, folder) {
  return relative(isCommitted(folder) ? BENCH : folder, target) || '.';
}

/** @param {import('./run/report.mjs').Result} result @param {string} folder @returns {string[]} */
function section(result, folder) {
  const lines = [
    `## ${result.title}`,
    '',
    `\`${result.command}\` on ${result.date.slice(0, 10)}, ${result.seconds} s${result.quick ? '; **a quick run: these figures mean little**' : ''}.`,
    '',
  ];
  const plots = plotsOf(result);
  const target = folderOfPlots(result.benchmark, folder);
  mkdirSync(target, { recursive: true });
  for (const table of result.tables) lines.push(markdownTable(table, '###'));
  for (const { name, svg, alt } of plots) {
    writeFileSync(join(target, `${name}.svg`), svg);
    lines.push(`![${alt}](${linkTo(target, folder)}/${name}.svg)`, '');
  }
  if (BESIDE[result.benchmark] !== undefined) lines.push(...quotedLines(BESIDE[result.benchmark]));
  if (result.notes.length > 0) lines.push(...result.notes.map((note) => `- ${note}`), '');
  return lines;
}

/** @param {string} from */
function main(from) {
  const folder = resolve(from);
  const results = readResults(folder);
  const machines = new Set([...results.values()].map(({ machine }) => spellMachine(machine)));
  const lines = [
    '# Results',
    '',
    'Made by `npm run results` from the files that the benchmarks write; do not edit. `npm run all` measures again.',
    '',
    ...[...machines].map((machine) => `Measured on ${machine}\n`),
    'Peers took turns in every round, each in a fresh process on a fresh folder. k is a thousand, M a million.',
    '',
    ...targetLines(results, folder),
    '',
    ...[...results.values()].flatMap((result) => section(result, folder)),
  ];
  const file = join(isCommitted(folder) ? BENCH : folder, 'RESULTS.md');
  writeFileSync(file, `${lines.join('\n').trimEnd()}\n`);
  console.log(`${file}: ${results.size} benchmarks`);
}

main(parseArgs({ options: { from: { type: 'string', default: 'results' } } }).values.from);
