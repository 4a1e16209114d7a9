// The results of a benchmark, in a pop-up: the chart of the rates, and a card for each section with its call counts to open.

import { element } from '../../elements.mjs';
import { showChart } from './chart.mjs';
import { downloadButtons } from './download.mjs';
import { openResults } from './results-dialog.mjs';
import { showScale } from './scale-results.mjs';
import { CALLS, numberOf, SECTIONS } from './sections.mjs';

/** Shows a run of either kind. @param {import('./sections.mjs').Run} run */
export function showRun(run) {
  if (run.kind === 'scale') return showScale(run);
  const report = /** @type {import('./sections.mjs').Report} */ (run.report);
  openResults({
    title: 'Results',
    subtitle: [
      `${report.set.noOfRecords} ${report.set.noOfRecords === '1' ? 'record' : 'records'} in `,
      element('code', {}, `^${run.options.documentName}`),
      ', each read back and compared.',
    ],
    legend: [
      element('span', { class: 'key per-node' }, 'a call per node'),
      element('span', { class: 'key one-call' }, 'one call per document'),
    ],
    draw: (place) => showChart(place, report),
    sections: SECTIONS.map((section) => card(section, report)),
    downloads: (chart) => downloadButtons('caretdb-benchmark', () => [run], chart),
  });
}

/**
 * @param {import('./sections.mjs').SectionWords} about
 * @param {import('./sections.mjs').Report} report
 */
function card(about, report) {
  const section = report[about.name];
  const counts = element(
    'div',
    { class: 'counts', id: `counts-${about.name}`, hidden: true },
    ...countsOf(about, section),
  );
  const toggle = element(
    'button',
    { type: 'button', class: 'quiet', 'aria-expanded': 'false', 'aria-controls': counts.id },
    ...toggleLabel('Show', about.title),
  );
  toggle.addEventListener('click', () => {
    counts.hidden = !counts.hidden;
    toggle.setAttribute('aria-expanded', String(!counts.hidden));
    toggle.replaceChildren(...toggleLabel(counts.hidden ? 'Show' : 'Hide', about.title));
  });
  return element(
    'section',
    {
      class: about.oneCall ? 'section one-call' : 'section per-node',
      'aria-labelledby': `section-${about.name}`,
    },
    element('h3', { id: `section-${about.name}` }, about.title),
    element('p', { class: 'how' }, about.how),
    element('p', { class: 'rate' }, element('strong', {}, section.rate), ' records a second'),
    element('p', { class: 'time' }, `${section.noOfRecords} in ${spanOf(numberOf(section.totalTime))}`),
    ...against(about, report),
    toggle,
    counts,
  );
}

/**
 * The section's name is for screen readers, who hear the button without its card.
 *
 * @param {string} verb
 * @param {string} title
 */
function toggleLabel(verb, title) {
  return [`${verb} call counts`, element('span', { class: 'for-readers' }, ` of ${title}`)];
}

/**
 * How a one-call section compares with its per-node twin.
 *
 * @param {import('./sections.mjs').SectionWords} about
 * @param {import('./sections.mjs').Report} report
 */
function against({ name, twin }, report) {
  if (!twin) return [];
  const ratio = numberOf(report[name].rate) / Math.max(1, numberOf(report[twin.name].rate));
  return [element('p', { class: 'against' }, `${ratio.toFixed(1)} × the rate of “${twin.title}”`)];
}

/**
 * @param {import('./sections.mjs').SectionWords} about
 * @param {import('./sections.mjs').Section} section
 */
function countsOf({ title }, { dbxCounts, noOfRecords }) {
  const records = numberOf(noOfRecords);
  const made = CALLS.filter(({ name }) => dbxCounts[name] > 0);
  const absent = CALLS.filter(({ name }) => dbxCounts[name] === 0);
  const rows = made.map(({ name, meaning }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, element('code', {}, name), element('span', {}, meaning)),
      element('td', {}, dbxCounts[name].toLocaleString('en-US')),
      element('td', {}, perRecord(dbxCounts[name] / records)),
    ),
  );
  const head = ['Call', 'Calls', 'Per record'].map((label) => element('th', { scope: 'col' }, label));
  return [
    element(
      'table',
      {},
      element('caption', { class: 'for-readers' }, `Database calls of ${title}`),
      element('thead', {}, element('tr', {}, ...head)),
      element('tbody', {}, ...rows),
    ),
    element('p', { class: 'absent' }, `None of ${absent.map(({ name }) => name).join(', ')}.`),
  ];
}

/** @param {number} calls */
function perRecord(calls) {
  return Number.isInteger(calls) ? String(calls) : calls.toFixed(2);
}

/**
 * A time in the unit a person would use.
 *
 * @param {number} seconds
 */
function spanOf(seconds) {
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  return seconds >= 0.001 ? `${(seconds * 1e3).toPrecision(3)} ms` : `${(seconds * 1e6).toPrecision(3)} µs`;
}
