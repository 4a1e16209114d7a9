// A scale run: the five sections for growing numbers of records, each number on an empty global, so that a page can draw how the
// rates change with the number.

import { Pace } from './pace.mjs';
import { FEWEST_SCALED } from './request.mjs';
import { onOwnGlobal, timeSections } from './run.mjs';

/**
 * @typedef {import('./run.mjs').SectionName} SectionName
 * @typedef {{ records: number, rates: Record<SectionName, number> }} Point records a second, by section
 * @typedef {{ kind: 'scale', points: Point[] }} ScaleReport
 */

/** The steps within a power of ten. @type {Record<number, number[]>} */
const FACTORS = { 1: [1], 3: [1, 2, 5] };

/** A step below so many records takes milliseconds, which any other program can spoil: it runs several times, and the median counts. */
const QUICK = 20_000;
const QUICK_TIMES = 5;

/** @param {number} records */
function timesOf(records) {
  return records < QUICK ? QUICK_TIMES : 1;
}

/**
 * The numbers of records of a scale run.
 *
 * @param {number} most the last one
 * @param {number} perDecade 1 or 3
 * @returns {number[]} such as 1000, 2000, 5000, 10000
 */
export function scaleSteps(most, perDecade) {
  const steps = [];
  for (let power = FEWEST_SCALED; power < most; power *= 10) {
    steps.push(...FACTORS[perDecade].map((factor) => factor * power).filter((records) => records < most));
  }
  return [...steps, most];
}

/**
 * @param {import('./counted.mjs').CountedGlobal} global
 * @param {import('./counted.mjs').Mglobal} marks
 * @param {import('./request.mjs').BenchmarkRequest} request
 * @param {Pace} pace its progress gets `step`, `steps`, `records`, the `points` so far, and which
 *   `part` of all records were in earlier steps besides
 * @returns {Promise<ScaleReport>}
 */
export function runScale(global, marks, request, pace) {
  const numbers = scaleSteps(request.noOfRecords, request.perDecade);
  /** @type {Point[]} */
  const points = [];
  const all = FEWEST_SCALED + sum(numbers.map((records) => records * timesOf(records)));
  let before = 0;
  /** @param {number} records @param {number} step */
  const timeStep = async (records, step) => {
    const part = { before: before / all, now: records / all };
    before += records;
    const about = { step, steps: numbers.length, records, part, points: [...points] };
    const report = (/** @type {import('./pace.mjs').Progress} */ progress) =>
      pace.report({ ...progress, ...about });
    const sections = await timeSections(
      global,
      marks,
      { document: request.document, noOfRecords: records },
      new Pace(report, pace.signal),
    );
    return ratesOf(records, sections);
  };
  return onOwnGlobal(global, marks, request, pace, async () => {
    // The first time, the code that runs is not compiled yet: that would look as if few records were slow.
    await timeStep(FEWEST_SCALED, 0);
    for (const [at, records] of numbers.entries()) {
      const times = [];
      while (times.length < timesOf(records)) times.push(await timeStep(records, at + 1));
      points.push({ records, rates: medians(times) });
    }
    return { kind: 'scale', points };
  });
}

/**
 * @param {Record<SectionName, number>[]} times an odd number of them
 * @returns {Record<SectionName, number>} of each section the rate in the middle
 */
function medians(times) {
  const names = /** @type {SectionName[]} */ (Object.keys(times[0]));
  const middle = (times.length - 1) / 2;
  const pairs = names.map((name) => [name, times.map((rates) => rates[name]).sort((a, b) => a - b)[middle]]);
  return Object.fromEntries(pairs);
}

/** @param {number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

/**
 * @param {number} records
 * @param {import('./run.mjs').TimedSections} sections
 * @returns {Record<SectionName, number>}
 */
function ratesOf(records, sections) {
  const rates = Object.entries(sections).map(([name, { elapsed }]) => [
    name,
    Math.trunc((records * 1000) / elapsed),
  ]);
  return Object.fromEntries(rates);
}
