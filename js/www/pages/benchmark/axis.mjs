// The axis of a chart: from zero to just past the highest value, in round steps, and its lines.

import { svgElement } from '../../elements.mjs';

/**
 * @param {number} highest
 * @returns {{ step: number, end: number }} a step of 1, 2 or 5 times a power of ten
 */
export function scaleFor(highest) {
  const rough = Math.max(highest, 1) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? rough;
  return { step, end: Math.max(highest, step) };
}

/** @param {{ step: number, end: number }} scale @returns {number[]} */
export function ticksOf({ step, end }) {
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, at) => at * step);
}

const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact' });

/** @param {number} value @returns {string} `10K` */
export function compact(value) {
  return COMPACT.format(value);
}

/**
 * @param {number} value
 * @param {number} x
 * @param {number} bottom
 * @returns {SVGElement} a line down to the value's name
 */
export function gridLine(value, x, bottom) {
  return svgElement(
    'g',
    { class: 'grid' },
    svgElement('line', { x1: x, x2: x, y1: 0, y2: bottom }),
    svgElement(
      'text',
      { x, y: bottom + 18, 'text-anchor': value === 0 ? 'start' : 'middle' },
      compact(value),
    ),
  );
}
