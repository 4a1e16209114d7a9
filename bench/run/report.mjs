// Reports: a benchmark's result as a file of JSON, and as a table in Markdown.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describeMachine, spellMachine } from './machine.mjs';
import { summarise } from './statistics.mjs';

/**
 * @typedef {object} Table figures that stand together
 * @property {string} title
 * @property {string} what what one operation is, how large keys and values are, and how it was checked
 * @property {string} unit of the figures, for the axis of a plot: `operations a second`
 * @property {{ name: string, durability: string }[]} peers the rows, in order
 * @property {import('./statistics.mjs').Summary[]} rows
 * @property {boolean} [plot] false for a table that a plot would not make clearer
 *
 * @typedef {object} Result what one run of one benchmark found
 * @property {string} benchmark
 * @property {string} title
 * @property {string} date of the run, ISO 8601
 * @property {boolean} quick
 * @property {string} command that makes it again
 * @property {number} rounds
 * @property {number} seconds it took
 * @property {import('./machine.mjs').Machine} machine
 * @property {Table[]} tables
 * @property {string[]} notes what could not be measured here, and why
 * @property {import('./svg.mjs').LinePlot[]} [plots]
 */

/**
 * Begins a result; `finish` writes it.
 *
 * @param {string} benchmark
 * @param {string} title
 * @param {import('./options.mjs').Options} options
 */
export function beginResult(benchmark, title, options) {
  const begun = Date.now();
  return {
    /**
     * Writes the result's file and prints its tables.
     *
     * @param {Table[]} tables
     * @param {{ runtimes: string[], notes?: string[], plots?: import('./svg.mjs').LinePlot[] }} more
     */
    finish(tables, { runtimes, notes = [], plots }) {
      const given = process.argv.slice(2).filter((argument) => !argument.startsWith('--out'));
      /** @type {Result} */
      const result = {
        benchmark,
        title,
        date: new Date().toISOString(),
        quick: options.quick,
        command: ['npm run', benchmark, ...(given.length > 0 ? ['--', ...given] : [])].join(' '),
        rounds: options.rounds,
        seconds: Math.round((Date.now() - begun) / 1000),
        machine: describeMachine([...new Set(runtimes)]),
        tables,
        notes,
        ...(plots === undefined ? {} : { plots }),
      };
      const folder = resolve(options.out);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${benchmark}.json`), `${JSON.stringify(result, undefined, 1)}\n`);
      for (const table of tables) console.log(markdownTable(table, '###'));
      for (const note of notes) console.log(`- ${note}`);
      console.log(`${spellMachine(result.machine)} ${result.seconds} s.`);
    },
  };
}

/**
 * @param {string} title
 * @param {string} what
 * @param {{ name: string, durability: string }[]} peers
 * @param {import('./statistics.mjs').Sample[]} samples
 * @param {string} [unit]
 * @returns {Table}
 */
export function makeTable(title, what, peers, samples, unit = 'operations a second') {
  const rows = summarise(samples);
  const measured = peers.filter(({ name }) => rows.some(({ peer }) => peer === name));
  return { title, what, unit, peers: measured.map(({ name, durability }) => ({ name, durability })), rows };
}

/**
 * @param {Table} table
 * @param {string} level of its heading: `###`
 * @returns {string} Markdown
 */
export function markdownTable({ title, what, unit, peers, rows }, level) {
  const steps = [...new Set(rows.map((row) => row.step))];
  const rounds = Math.max(0, ...rows.map((row) => row.samples));
  // Where nothing is written there is no durability to tell.
  const writes = peers.some(({ durability }) => durability !== '');
  const lines = [
    `${level} ${title}`,
    '',
    `${what} ${rounds > 1 ? `Median (least to most) of ${rounds} rounds` : 'One round'}, ${unit}.`,
    '',
    `| |${writes ? ' a returned write survives |' : ''} ${steps.join(' | ')} |`,
    `| --- |${writes ? ' --- |' : ''} ${steps.map(() => '---:').join(' | ')} |`,
  ];
  for (const { name, durability } of peers) {
    const cells = steps.map((step) => {
      const row = rows.find((candidate) => candidate.peer === name && candidate.step === step);
      if (row === undefined) return '';
      return row.samples > 1
        ? `**${spell(row.median)}** (${spell(row.least)} to ${spell(row.most)})`
        : `**${spell(row.median)}**`;
    });
    lines.push(`| ${name} |${writes ? ` ${durability} |` : ''} ${cells.join(' | ')} |`);
  }
  return `${lines.join('\n')}\n`;
}

/** @param {number} figure @returns {string} three digits or so: `1.25M`, `480k`, `3.20` */
export function spell(figure) {
  if (figure >= 1e6) return `${(figure / 1e6).toFixed(2)}M`;
  if (figure >= 1e4) return `${Math.round(figure / 1e3)}k`;
  if (figure >= 1e3) return `${(figure / 1e3).toFixed(1)}k`;
  if (figure >= 100) return figure.toFixed(0);
  return figure >= 10 ? figure.toFixed(1) : figure.toFixed(2);
}
