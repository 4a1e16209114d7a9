// Figures as files: the runs as JSON, a line for each figure as CSV, and a chart as an SVG that stands alone.

import { element, svgElement } from '../../elements.mjs';
import { pointsOf, SECTIONS } from './sections.mjs';

/** @typedef {import('./sections.mjs').Run} Run */

/**
 * The buttons that save runs.
 *
 * @param {string} name of the files, without ending
 * @param {() => Run[]} runs
 * @param {() => SVGElement | null} [chart] where there is one
 * @returns {HTMLElement}
 */
export function downloadButtons(name, runs, chart) {
  const group = element('fieldset', { class: 'downloads', 'aria-label': 'Download' });
  /** @param {string} label @param {() => Blob | undefined} make @param {string} ending */
  const add = (label, make, ending) => {
    const button = element('button', { type: 'button', class: 'quiet' }, label);
    button.setAttribute('aria-label', `Download as ${label}`);
    button.addEventListener('click', () => {
      const blob = make();
      if (blob) save(`${name}.${ending}`, blob);
    });
    group.append(button);
  };
  add('CSV', () => new Blob([csvOf(runs())], { type: 'text/csv' }), 'csv');
  add('JSON', () => new Blob([JSON.stringify(runs(), null, 2)], { type: 'application/json' }), 'json');
  if (chart) {
    add(
      'SVG',
      () => {
        const drawn = chart();
        return drawn ? new Blob([standalone(drawn)], { type: 'image/svg+xml' }) : undefined;
      },
      'svg',
    );
  }
  return group;
}

/** @param {string} name @param {Blob} blob */
function save(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = element('a', { href: url, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has taken hold of it by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

const COLUMNS = [
  'run',
  'made',
  'kind',
  'global',
  'records',
  'section',
  'rate',
  'processor',
  'system',
  'runtime',
  'server',
  'engine',
  'durability',
  'caretdb',
];

/**
 * @param {Run[]} runs
 * @returns {string} a line for each run, number of records and section
 */
export function csvOf(runs) {
  const rows = runs.flatMap((run) =>
    pointsOf(run).flatMap(({ records, rates }) =>
      SECTIONS.map(({ name }) => {
        const { processor, system, runtime, server, engine, durability, caretdb } = run.machine ?? {};
        const about = [processor, system, runtime, server, engine, durability, caretdb];
        return [run.id, run.made, run.kind, run.options.documentName, records, name, rates[name], ...about];
      }),
    ),
  );
  return [COLUMNS, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('');
}

/** @param {unknown} value */
function field(value) {
  const text = value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What the page's style sheet says of a chart's parts, which a file has no style sheet for. */
const STYLES = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-linejoin',
  'font-family',
  'font-size',
  'font-weight',
];

/** The height of a line of the legend in pixels. */
const LEGEND_LINE = 20;

/**
 * In the page a chart's lines are named beside it; in a file they must be named in it.
 *
 * @param {SVGElement} copy
 * @param {Element[]} parts all of it
 */
function addLegend(copy, parts) {
  const lines = parts.filter((part) => part.getAttribute('data-section') !== null).slice(0, SECTIONS.length);
  if (lines.length === 0) return;
  const [, , width, height] = String(copy.getAttribute('viewBox')).split(' ').map(Number);
  const whole = height + LEGEND_LINE * (lines.length + 0.5);
  copy.setAttribute('viewBox', `0 0 ${width} ${whole}`);
  copy.setAttribute('height', String(whole));
  for (const [at, line] of lines.entries()) {
    const y = height + LEGEND_LINE * (at + 0.75);
    const mark = line.querySelector('path')?.cloneNode(true);
    if (mark instanceof Element) {
      mark.setAttribute('transform', `translate(16,${y})`);
      copy.append(mark);
    }
    const fill = getComputedStyle(document.documentElement).getPropertyValue('--ink');
    const text = { x: 32, y, dy: '0.35em', fill, 'font-size': 13, 'font-family': 'sans-serif' };
    copy.append(svgElement('text', text, SECTIONS[Number(line.getAttribute('data-section'))].title));
  }
}

/**
 * @param {SVGElement} drawn in the page
 * @returns {string}
 */
function standalone(drawn) {
  const copy = /** @type {SVGElement} */ (drawn.cloneNode(true));
  const originals = [drawn, ...drawn.querySelectorAll('*')];
  const copies = [copy, ...copy.querySelectorAll('*')];
  for (const [at, original] of originals.entries()) {
    const style = getComputedStyle(original);
    for (const name of STYLES) copies[at].setAttribute(name, style.getPropertyValue(name));
    copies[at].removeAttribute('class');
  }
  addLegend(copy, copies);
  const background = document.createElementNS(copy.namespaceURI, 'rect');
  background.setAttribute('width', '100%');
  background.setAttribute('height', '100%');
  background.setAttribute('fill', getComputedStyle(document.documentElement).getPropertyValue('--surface'));
  copy.prepend(background);
  return new XMLSerializer().serializeToString(copy);
}
