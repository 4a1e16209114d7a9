// Two runs beside each other: bars or lines of both, and for each section how many times the second is the first.

import { element, svgElement } from '../../elements.mjs';
import { gridLine, scaleFor, ticksOf } from './axis.mjs';
import { downloadButtons } from './download.mjs';
import { lineLegend, showLines } from './line-chart.mjs';
import { openResults } from './results-dialog.mjs';
import { pointsOf, SECTIONS } from './sections.mjs';

/**
 * @typedef {import('./sections.mjs').Run} Run
 * @typedef {import('./sections.mjs').Point} Point
 */

/** Pixels. */
const BAR = 16;
const GAP = 16;
const NAME_HEIGHT = 22;
const RATE_WIDTH = 100;
const AXIS_HEIGHT = 26;

/**
 * @param {Run} first the older
 * @param {Run} second
 */
export function showComparison(first, second) {
  const [before, after] = [pointsOf(first), pointsOf(second)];
  const isScale = first.kind === 'scale';
  openResults({
    title: 'Comparison',
    subtitle: [runLine('first', first), runLine('second', second)],
    legend: isScale ? lineLegend() : [],
    draw: (place) =>
      isScale ? showLines(place, () => [before, after]).stop : showPairs(place, before[0], after[0]),
    sections: [ratioTable(before, after)],
    downloads: (chart) => downloadButtons('caretdb-comparison', () => [first, second], chart),
  });
}

/** @param {'first' | 'second'} which @param {Run} run */
function runLine(which, run) {
  const { documentName, noOfRecords } = run.options;
  const about = [
    `#${run.id}`,
    `^${documentName}, ${noOfRecords.toLocaleString('en-US')} records`,
    run.machine?.runtime,
    run.machine?.processor,
    run.machine?.engine,
    run.machine?.durability,
  ];
  return element('span', { class: `compared ${which}` }, about.filter(Boolean).join(' · '));
}

/**
 * @param {HTMLElement} place
 * @param {Point} first
 * @param {Point} second
 */
function showPairs(place, first, second) {
  const draw = () => {
    const width = Math.floor(place.clientWidth);
    if (width > 0) place.replaceChildren(pairChart(first, second, width));
  };
  const observer = new ResizeObserver(draw);
  observer.observe(place);
  return () => observer.disconnect();
}

/** @param {Point} first @param {Point} second @param {number} width */
function pairChart(first, second, width) {
  const rates = SECTIONS.flatMap(({ name }) => [first.rates[name], second.rates[name]]);
  const scale = scaleFor(Math.max(...rates));
  const perUnit = (width - RATE_WIDTH) / scale.end;
  const row = NAME_HEIGHT + 2 * BAR + GAP;
  const bottom = row * SECTIONS.length;
  const spoken = SECTIONS.map(
    ({ name, title }) => `${title}: ${figure(first.rates[name])} and ${figure(second.rates[name])}`,
  );
  return svgElement(
    'svg',
    {
      viewBox: `0 0 ${width} ${bottom + AXIS_HEIGHT}`,
      width,
      height: bottom + AXIS_HEIGHT,
      role: 'img',
      'aria-label': `Pairs of bars of records a second. ${spoken.join('. ')}.`,
    },
    ...ticksOf(scale).map((tick) => gridLine(tick, tick * perUnit, bottom)),
    ...SECTIONS.flatMap(({ name, title }, at) => [
      svgElement('text', { x: 0, y: at * row + 15, class: 'bar-name' }, title),
      ...pairBar(first.rates[name], perUnit, at * row + NAME_HEIGHT, 'first'),
      ...pairBar(second.rates[name], perUnit, at * row + NAME_HEIGHT + BAR + 2, 'second'),
    ]),
  );
}

/** @param {number} rate @param {number} perUnit @param {number} top @param {string} which */
function pairBar(rate, perUnit, top, which) {
  const length = Math.max(3, rate * perUnit);
  return [
    svgElement('rect', { x: 0, y: top, width: length.toFixed(1), height: BAR, rx: 3, class: `bar ${which}` }),
    svgElement(
      'text',
      { x: (length + 8).toFixed(1), y: top + BAR / 2, dy: '0.35em', class: 'bar-rate' },
      figure(rate),
    ),
  ];
}

/** @param {number} rate */
function figure(rate) {
  return rate.toLocaleString('en-US');
}

/**
 * @param {Point[]} before
 * @param {Point[]} after
 * @returns {HTMLElement}
 */
function ratioTable(before, after) {
  // Two single runs are compared whatever their numbers of records; of scale runs, the numbers that both have.
  const pairs =
    before.length === 1 && after.length === 1
      ? [[before[0], after[0]]]
      : before.flatMap((first) => {
          const second = after.find(({ records }) => records === first.records);
          return second ? [[first, second]] : [];
        });
  const rows = pairs.map(([first, second]) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, recordsText(first, second)),
      ...SECTIONS.map(({ name }) => ratioCell(first.rates[name], second.rates[name])),
    ),
  );
  const head = SECTIONS.map(({ title }) => element('th', { scope: 'col' }, title));
  const table = element(
    'table',
    { class: 'figures' },
    element('caption', {}, 'How many times the rate of the first run the second one has'),
    element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, 'Records'), ...head)),
    element('tbody', {}, ...rows),
  );
  return element(
    'div',
    { class: 'figures-place', tabindex: 0, role: 'group', 'aria-label': 'The ratios' },
    table,
  );
}

/** @param {Point} first @param {Point} second */
function recordsText(first, second) {
  const texts = [first, second].map(({ records }) => figure(records));
  return texts[0] === texts[1] ? texts[0] : texts.join(' and ');
}

/** @param {number} first @param {number} second */
function ratioCell(first, second) {
  const ratio = second / Math.max(1, first);
  const tone = ratio >= 1.05 ? 'faster' : ratio <= 0.95 ? 'slower' : 'same';
  return element('td', { class: tone }, `${ratio.toFixed(2)} ×`);
}
