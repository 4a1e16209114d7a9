// Plots as SVG: bars for tables, lines for curves. Grey text and lines, colours of middle lightness and no background, so
// that they can be read on a light page and on a dark one.

/**
 * @typedef {{ label: string, points: [number, number][] }} Series
 *
 * @typedef {object} LinePlot
 * @property {string} name of the file, without `.svg`
 * @property {string} title
 * @property {Axis} x
 * @property {Axis} y
 * @property {Series[]} series
 *
 * @typedef {{ label: string, log?: boolean }} Axis the label has the unit
 *
 * @typedef {{ label: string, value: number, least: number, most: number }} Bar
 */

const GREY = '#8a8a8a';
const COLOURS = [
  '#3b82c4',
  '#d9822b',
  '#3c9d5d',
  '#c8504e',
  '#8e6bbf',
  '#9c6b4e',
  '#c667a5',
  '#6f8f2f',
  '#2a9d9d',
];
const FONT = 'font-family="system-ui, sans-serif"';

/** @param {string} text */
function markup(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** @param {number} x @param {number} y @param {string} content @param {{ anchor?: string, size?: number, weight?: number, turn?: boolean }} [style] */
function text(x, y, content, { anchor = 'start', size = 12, weight = 400, turn = false } = {}) {
  const turned = turn ? ` transform="rotate(-90 ${x} ${y})"` : '';
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" font-size="${size}" font-weight="${weight}"${turned}>${markup(content)}</text>`;
}

/** @param {number} number */
const round = (number) => Math.round(number * 10) / 10;

/** @param {number} number @returns {string} `1M`, `20k`, `0.5` */
export function short(number) {
  for (const [size, unit] of /** @type {const} */ ([
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ])) {
    if (number >= size) return `${Number((number / size).toPrecision(3))}${unit}`;
  }
  return String(Number(number.toPrecision(3)));
}

/**
 * @param {number} width
 * @param {number} height
 * @param {string} title
 * @param {string[]} parts
 */
function document(width, height, title, parts) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${markup(title)}" ${FONT} fill="${GREY}">
<title>${markup(title)}</title>
${parts.join('\n')}
</svg>
`;
}

/**
 * The marks of an axis: for a logarithmic one the powers of ten, with twos and fives between where there are few.
 *
 * @param {number} least
 * @param {number} most
 * @param {boolean} log
 */
function marks(least, most, log) {
  if (log) {
    const low = Math.floor(Math.log10(least));
    const high = Math.ceil(Math.log10(most));
    const factors = high - low <= 2 ? [1, 2, 5] : [1];
    const all = [];
    for (let power = low; power <= high; power++) {
      for (const factor of factors) all.push(factor * 10 ** power);
    }
    const from = all.findLastIndex((mark) => mark <= least);
    const to = all.findIndex((mark) => mark >= most);
    return all.slice(Math.max(0, from), to < 0 ? undefined : to + 1);
  }
  const rough = (most - least) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const all = [];
  for (let mark = Math.floor(least / step) * step; mark < most + step; mark += step) all.push(mark);
  return all;
}

/**
 * @param {number[]} values
 * @param {Axis} axis
 * @param {number} from where the least value is drawn
 * @param {number} to
 */
function scale(values, { log = false }, from, to) {
  const least = Math.min(...values);
  const ticks = marks(log ? least : Math.min(0, least), Math.max(...values), log);
  const place = log ? Math.log10 : (/** @type {number} */ value) => value;
  const [low, high] = [place(ticks[0]), place(/** @type {number} */ (ticks.at(-1)))];
  return {
    ticks,
    /** @param {number} value */
    at: (value) => from + ((place(value) - low) / (high - low || 1)) * (to - from),
  };
}

/**
 * @param {LinePlot} plot
 * @returns {string} SVG
 */
export function linePlot({ title, x, y, series }) {
  const width = 760;
  const legendRows = Math.ceil(series.length / 3);
  const top = 44 + legendRows * 18;
  const height = top + 330;
  const [left, right, bottom] = [76, width - 24, height - 56];
  const points = series.flatMap((one) => one.points);
  const xScale = scale(
    points.map(([at]) => at),
    x,
    left,
    right,
  );
  const yScale = scale(
    points.map(([, value]) => value),
    y,
    bottom,
    top,
  );
  const parts = [text(width / 2, 22, title, { anchor: 'middle', size: 15, weight: 600 })];
  for (const [at, { label }] of series.entries()) {
    const [x0, y0] = [left + (at % 3) * 228, 42 + Math.floor(at / 3) * 18];
    parts.push(
      `<rect x="${x0}" y="${y0 - 8}" width="16" height="4" fill="${COLOURS[at % COLOURS.length]}"/>`,
    );
    parts.push(text(x0 + 22, y0, label));
  }
  for (const tick of yScale.ticks) {
    const at = round(yScale.at(tick));
    parts.push(`<path d="M${left} ${at}H${right}" stroke="${GREY}" stroke-opacity=".25"/>`);
    parts.push(text(left - 8, at + 4, short(tick), { anchor: 'end' }));
  }
  for (const tick of xScale.ticks) {
    const at = round(xScale.at(tick));
    parts.push(`<path d="M${at} ${top}V${bottom}" stroke="${GREY}" stroke-opacity=".25"/>`);
    parts.push(text(at, bottom + 18, short(tick), { anchor: 'middle' }));
  }
  parts.push(`<path d="M${left} ${top}V${bottom}H${right}" stroke="${GREY}" fill="none"/>`);
  parts.push(
    text((left + right) / 2, height - 14, x.label + (x.log ? ' (log scale)' : ''), { anchor: 'middle' }),
  );
  parts.push(
    text(20, (top + bottom) / 2, y.label + (y.log ? ' (log scale)' : ''), { anchor: 'middle', turn: true }),
  );
  for (const [at, one] of series.entries()) {
    const colour = COLOURS[at % COLOURS.length];
    const line = one.points.map(([px, py]) => `${round(xScale.at(px))},${round(yScale.at(py))}`).join(' ');
    parts.push(`<polyline points="${line}" fill="none" stroke="${colour}" stroke-width="2"/>`);
    if (one.points.length <= 40) {
      for (const [px, py] of one.points) {
        parts.push(
          `<circle cx="${round(xScale.at(px))}" cy="${round(yScale.at(py))}" r="3" fill="${colour}"/>`,
        );
      }
    }
  }
  return document(width, height, title, parts);
}

/**
 * Panels of horizontal bars from zero, each panel on a scale of its own; the thin line is the spread.
 *
 * @param {string} title
 * @param {string} unit
 * @param {{ title: string, bars: Bar[] }[]} panels
 * @returns {string} SVG
 */
export function barPlot(title, unit, panels) {
  const width = 760;
  const labels = panels.flatMap(({ bars }) => bars.map(({ label }) => label));
  const left = 20 + Math.max(...labels.map((label) => label.length)) * 6.4;
  const parts = [text(width / 2, 22, title, { anchor: 'middle', size: 15, weight: 600 })];
  let y = 40;
  for (const panel of panels) {
    const drawn = drawPanel(panel, unit, left, width - 70, y);
    parts.push(...drawn.parts);
    y = drawn.bottom + 20;
  }
  return document(width, y, title, parts);
}

/**
 * @param {{ title: string, bars: Bar[] }} panel
 * @param {string} unit
 * @param {number} left
 * @param {number} right
 * @param {number} top
 */
function drawPanel({ title, bars }, unit, left, right, top) {
  const { ticks, at } = scale([0, ...bars.map(({ most }) => most)], { label: unit }, left, right);
  const parts = [text(left, top + 14, `${title}, ${unit}`, { weight: 600 })];
  const bottom = top + 22 + bars.length * 18;
  for (const tick of ticks) {
    parts.push(`<path d="M${round(at(tick))} ${top + 20}V${bottom}" stroke="${GREY}" stroke-opacity=".25"/>`);
    parts.push(text(at(tick), bottom + 13, short(tick), { anchor: 'middle', size: 11 }));
  }
  for (const [index, { label, value, least, most }] of bars.entries()) {
    const y = top + 22 + index * 18;
    const colour = label.startsWith('CaretDB') ? COLOURS[0] : COLOURS[1];
    parts.push(
      text(left - 6, y + 12, label, { anchor: 'end', size: 11 }),
      `<rect x="${round(left)}" y="${y + 2}" width="${round(at(value) - left)}" height="12" fill="${colour}" fill-opacity=".75"/>`,
      `<path d="M${round(at(least))} ${y + 8}H${round(at(most))}" stroke="${GREY}" stroke-width="2"/>`,
      text(at(most) + 5, y + 12, short(value), { size: 11 }),
    );
  }
  return { parts, bottom: bottom + 16 };
}
