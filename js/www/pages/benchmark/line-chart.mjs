// Rates against numbers of records, as lines: the numbers on a logarithmic axis, the rates on a linear one from zero. Each section
// has a colour and a mark of its own, so that nobody needs the colour; a second run's lines are dashed.

import { svgElement } from '../../elements.mjs';
import { compact, scaleFor, ticksOf } from './axis.mjs';
import { SECTIONS } from './sections.mjs';

/** @typedef {import('./sections.mjs').Point} Point */

/** Pixels. */
const HEIGHT = 340;
const LEFT = 56;
const RIGHT = 22;
const TOP = 12;
const BOTTOM = 48;

/** Marks around a point, as paths; in the order of the sections. */
const MARKS = [
  'M-4,-4H4V4H-4Z',
  'M0,-5L5,4H-5Z',
  'M0,-5.5L5.5,0L0,5.5L-5.5,0Z',
  'M-4.5,0A4.5,4.5 0 1 0 4.5,0A4.5,4.5 0 1 0 -4.5,0',
  'M0,5L5,-4H-5Z',
];

/**
 * @param {HTMLElement} place
 * @param {() => Point[][]} pointsOf of one run or two, asked for each drawing
 * @param {() => number} [most] how many records the axis must reach at least
 * @returns {{ draw: () => void, stop: () => void }} draws again; stops following the width
 */
export function showLines(place, pointsOf, most = () => 0) {
  const draw = () => {
    const width = Math.floor(place.clientWidth);
    if (width > 0) place.replaceChildren(lineChart(pointsOf(), width, most()));
  };
  const observer = new ResizeObserver(draw);
  observer.observe(place);
  return { draw, stop: () => observer.disconnect() };
}

/**
 * @param {Point[][]} runs
 * @param {number} width
 * @param {number} reach
 */
function lineChart(runs, width, reach) {
  const points = runs.flat();
  const most = Math.max(10_000, reach, ...points.map(({ records }) => records));
  const rates = points.flatMap((point) => SECTIONS.map(({ name }) => point.rates[name]));
  const scale = scaleFor(Math.max(1, ...rates));
  const [low, high] = [3, Math.log10(most)];
  /** @param {number} records */
  const x = (records) => LEFT + ((Math.log10(records) - low) / (high - low)) * (width - LEFT - RIGHT);
  /** @param {number} rate */
  const y = (rate) => HEIGHT - BOTTOM - (rate / scale.end) * (HEIGHT - BOTTOM - TOP);
  return svgElement(
    'svg',
    { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: 'img', 'aria-label': spoken(runs) },
    ...ticksOf(scale).map((rate) => rateLine(rate, y(rate), width)),
    ...decades(high).map((records) => decadeLine(records, x(records))),
    svgElement(
      'text',
      { x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 6, class: 'axis-name', 'text-anchor': 'middle' },
      'records',
    ),
    ...runs.flatMap((run, at) => SECTIONS.map((_, section) => line(run, section, at === 1, x, y))),
  );
}

/** @param {number} high the power of ten where the axis ends */
function decades(high) {
  return Array.from({ length: Math.floor(high + 1e-9) - 2 }, (_, at) => 10 ** (at + 3));
}

/** @param {number} rate @param {number} y @param {number} width */
function rateLine(rate, y, width) {
  return svgElement(
    'g',
    { class: 'grid' },
    svgElement('line', { x1: LEFT, x2: width - RIGHT, y1: y, y2: y }),
    svgElement('text', { x: LEFT - 8, y, dy: '0.35em', 'text-anchor': 'end' }, compact(rate)),
  );
}

/** @param {number} records @param {number} x */
function decadeLine(records, x) {
  return svgElement(
    'g',
    { class: 'grid' },
    svgElement('line', { x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM }),
    svgElement('text', { x, y: HEIGHT - BOTTOM + 18, 'text-anchor': 'middle' }, compact(records)),
  );
}

/**
 * @param {Point[]} points
 * @param {number} section
 * @param {boolean} isSecond
 * @param {(records: number) => number} x
 * @param {(rate: number) => number} y
 */
function line(points, section, isSecond, x, y) {
  const { name } = SECTIONS[section];
  const places = points.map(({ records, rates }) => [x(records).toFixed(1), y(rates[name]).toFixed(1)]);
  const kind = isSecond ? 'second' : 'first';
  return svgElement(
    'g',
    { class: `line line-${section + 1} ${kind}`, 'data-section': section },
    svgElement('polyline', { points: places.map((place) => place.join()).join(' ') }),
    ...places.map((place) =>
      svgElement('path', { d: MARKS[section], transform: `translate(${place.join()})` }),
    ),
  );
}

/** What each line is, with its mark; for a place beside the chart. @returns {Element[]} */
export function lineLegend() {
  return SECTIONS.map(({ title }, at) =>
    svgLegendEntry(
      title,
      svgElement(
        'svg',
        { viewBox: '-12 -7 24 14', width: 24, height: 14, 'aria-hidden': 'true' },
        svgElement(
          'g',
          { class: `line line-${at + 1} first` },
          svgElement('polyline', { points: '-12,0 12,0' }),
          svgElement('path', { d: MARKS[at] }),
        ),
      ),
    ),
  );
}

/** @param {string} title @param {Element} mark */
function svgLegendEntry(title, mark) {
  const entry = document.createElement('span');
  entry.className = 'line-key';
  entry.append(mark, title);
  return entry;
}

/** @param {Point[][]} runs */
function spoken(runs) {
  const last = runs.map((points) => points.at(-1)).filter((point) => point !== undefined);
  const ends = last.map(
    ({ records, rates }) =>
      `At ${records.toLocaleString('en-US')} records: ${SECTIONS.map(({ name, title }) => `${title} ${rates[name].toLocaleString('en-US')}`).join(', ')}.`,
  );
  return `Lines of records a second against the number of records. ${ends.join(' ')}`;
}
