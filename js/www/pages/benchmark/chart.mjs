// The bar chart of the five rates, as SVG made by script. It is drawn for the width it has, and again when that changes.

import { svgElement } from '../../elements.mjs';
import { gridLine, scaleFor, ticksOf } from './axis.mjs';
import { numberOf, SECTIONS } from './sections.mjs';

/** Pixels. Below NARROW the names stand above the bars instead of beside them. */
const NARROW = 520;
const BAR = 26;
const GAP = 14;
const NAME_WIDTH = 158;
const NAME_HEIGHT = 22;
const RATE_WIDTH = 108;
const AXIS_HEIGHT = 26;

/**
 * @param {HTMLElement} place
 * @param {import('./sections.mjs').Report} report
 * @returns {() => void} stops following the width
 */
export function showChart(place, report) {
  let width = 0;
  const draw = () => {
    const now = Math.floor(place.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    place.replaceChildren(chart(report, width));
  };
  const observer = new ResizeObserver(draw);
  observer.observe(place);
  draw();
  return () => observer.disconnect();
}

/**
 * @param {import('./sections.mjs').Report} report
 * @param {number} width
 */
function chart(report, width) {
  const narrow = width < NARROW;
  const left = narrow ? 0 : NAME_WIDTH;
  const room = width - left - RATE_WIDTH;
  const row = BAR + GAP + (narrow ? NAME_HEIGHT : 0);
  const height = row * SECTIONS.length + AXIS_HEIGHT;
  const scale = scaleFor(Math.max(...SECTIONS.map(({ name }) => numberOf(report[name].rate))));
  const bars = SECTIONS.map((section, at) =>
    bar(section, report[section.name].rate, { left, top: at * row, narrow, perUnit: room / scale.end }),
  );
  const grid = ticksOf(scale).map((tick) =>
    gridLine(tick, left + (tick * room) / scale.end, height - AXIS_HEIGHT),
  );
  return svgElement(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': spoken(report) },
    ...grid,
    ...bars,
  );
}

/**
 * @param {import('./sections.mjs').SectionWords} section
 * @param {string} rate
 * @param {{ left: number, top: number, narrow: boolean, perUnit: number }} at
 */
function bar(section, rate, { left, top, narrow, perUnit }) {
  const barTop = top + (narrow ? NAME_HEIGHT : GAP / 2);
  const middle = barTop + BAR / 2;
  const length = Math.max(3, numberOf(rate) * perUnit);
  const name = narrow
    ? svgElement('text', { x: 0, y: top + NAME_HEIGHT - 8, class: 'bar-name' }, section.title)
    : svgElement(
        'text',
        { x: left - 12, y: middle, class: 'bar-name', 'text-anchor': 'end', dy: '0.35em' },
        section.title,
      );
  return svgElement(
    'g',
    {},
    name,
    svgElement('rect', {
      x: left,
      y: barTop,
      width: length.toFixed(1),
      height: BAR,
      rx: 4,
      class: section.oneCall ? 'bar one-call' : 'bar per-node',
    }),
    svgElement(
      'text',
      { x: (left + length + 9).toFixed(1), y: middle, class: 'bar-rate', dy: '0.35em' },
      rate,
    ),
  );
}

/** @param {import('./sections.mjs').Report} report */
function spoken(report) {
  const rates = SECTIONS.map(({ name, title }) => `${title}: ${report[name].rate}`);
  return `Bar chart of records a second. ${rates.join('. ')}.`;
}
