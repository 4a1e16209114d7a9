// Reports: one table in Markdown, a row for each peer, a column for each step, operations a second.

import { describeMachine, summarise } from './measure.mjs';

/** @param {number} rate */
function spell(rate) {
  if (rate >= 1e6) return `${(rate / 1e6).toFixed(2)}M`;
  return rate >= 1e3 ? `${Math.round(rate / 1e3)}k` : String(Math.round(rate));
}

/**
 * @param {string} title
 * @param {string} what what one operation is, and how large keys and values are
 * @param {import('./measure.mjs').Peer[]} peers
 * @param {import('./measure.mjs').Sample[]} samples
 * @returns {string} Markdown
 */
export function table(title, what, peers, samples) {
  const rows = summarise(samples);
  const steps = [...new Set(rows.map((row) => row.step))];
  const lines = [
    `### ${title}`,
    '',
    `${what} ${describeMachine()}; median (least to most) of ${Math.max(...rows.map((row) => row.samples))} rounds, operations a second.`,
    '',
    `| peer | a returned write survives | ${steps.join(' | ')} |`,
    `| --- | --- | ${steps.map(() => '---').join(' | ')} |`,
  ];
  for (const peer of peers) {
    const cells = steps.map((step) => {
      const row = rows.find((candidate) => candidate.peer === peer.name && candidate.step === step);
      return row === undefined ? '' : `${spell(row.median)} (${spell(row.least)} to ${spell(row.most)})`;
    });
    lines.push(`| ${peer.name} | ${peer.durability} | ${cells.join(' | ')} |`);
  }
  return `${lines.join('\n')}\n`;
}
