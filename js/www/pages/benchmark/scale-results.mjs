// The results of a scale run, or of two beside each other: the lines, and the same figures as a table.

import { element } from '../../elements.mjs';
import { downloadButtons } from './download.mjs';
import { lineLegend, showLines } from './line-chart.mjs';
import { openResults } from './results-dialog.mjs';
import { pointsOf, SECTIONS } from './sections.mjs';

/**
 * @typedef {import('./sections.mjs').Run} Run
 * @typedef {import('./sections.mjs').Point} Point
 */

/** @param {Run} run */
export function showScale(run) {
  const points = pointsOf(run);
  openResults({
    title: 'Scale run',
    subtitle: [
      `Up to ${run.options.noOfRecords.toLocaleString('en-US')} records in `,
      element('code', {}, `^${run.options.documentName}`),
      ', each read back and compared.',
    ],
    legend: lineLegend(),
    draw: (place) => showLines(place, () => [points]).stop,
    sections: [scaleTable(points)],
    downloads: (chart) => downloadButtons('caretdb-scale', () => [run], chart),
  });
}

/** @param {Point[]} points @returns {HTMLElement} */
function scaleTable(points) {
  const head = SECTIONS.map(({ title }) => element('th', { scope: 'col' }, title));
  const rows = points.map(({ records, rates }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, records.toLocaleString('en-US')),
      ...SECTIONS.map(({ name }) => element('td', {}, rates[name].toLocaleString('en-US'))),
    ),
  );
  const table = element(
    'table',
    { class: 'figures' },
    element('caption', { class: 'for-readers' }, 'Records a second, by number of records and section'),
    element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, 'Records'), ...head)),
    element('tbody', {}, ...rows),
  );
  return element(
    'div',
    { class: 'figures-place', tabindex: 0, role: 'group', 'aria-label': 'The figures' },
    table,
  );
}
