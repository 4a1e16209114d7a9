// Says whether a global may be cleared: one that holds nothing, one that an earlier benchmark made, or one the caller agrees to lose.
//
// `^%caretdb("benchmark", name)` says that a benchmark made the global. It holds how many records were written and a digest of
// one record, so that data somebody put under the same name since then is not taken for the benchmark's own.

import { createHash } from 'node:crypto';

import { leavesOf } from './leaves.mjs';
import { Refusal } from './request.mjs';

/**
 * @typedef {import('./counted.mjs').CountedGlobal} CountedGlobal
 * @typedef {import('./counted.mjs').Mglobal} Mglobal
 * @typedef {import('./leaves.mjs').Leaf} Leaf
 *
 * @typedef {object} Mark
 * @property {string} made when, in ISO 8601
 * @property {number} records the highest record number that the run writes
 * @property {string} digest of the leaves of each record
 */

/**
 * @param {CountedGlobal} global
 * @param {Mglobal} marks `^%caretdb("benchmark")`
 * @param {boolean} confirm
 * @throws {Refusal} 409 when the global holds what no benchmark wrote, and the caller has not confirmed
 */
export function requireOwnGlobal(global, marks, confirm) {
  if (confirm || global.uncounted.defined() === '0' || isOwnWork(global, readMark(marks, global.name)))
    return;
  throw new Refusal(
    409,
    'confirm',
    `^${global.name} holds data that no benchmark wrote, and a benchmark deletes what its global holds. Name another global, or confirm: true`,
  );
}

/**
 * @param {Mglobal} marks
 * @param {string} name
 * @param {number} records
 * @param {Leaf[]} leaves of each record
 */
export function markAsOwn(marks, name, records, leaves) {
  /** @type {Mark} */
  const mark = { made: new Date().toISOString(), records, digest: digestOf(leaves) };
  marks.set(name, JSON.stringify(mark));
}

/**
 * @param {Mglobal} marks
 * @param {string} name
 */
export function removeMark(marks, name) {
  // Below the mark of a global that is called history, the history of all runs is kept.
  if (marks.defined(name) === '11') marks.set(name, '');
  else marks.delete(name);
}

/**
 * @param {Mglobal} marks
 * @param {string} name
 * @returns {Mark | undefined}
 */
function readMark(marks, name) {
  if (marks.defined(name) === '0') return undefined;
  try {
    return JSON.parse(marks.get(name));
  } catch {
    return undefined;
  }
}

/**
 * Children from record 1 to the last one of that run and no others, and the first record as it was written.
 *
 * @param {CountedGlobal} global
 * @param {Mark | undefined} mark
 */
function isOwnWork(global, mark) {
  if (mark === undefined || global.uncounted.defined() !== '10') return false;
  const last = Number(global.uncounted.previous(''));
  const inRange = global.uncounted.next('') === '1' && last <= mark.records;
  return inRange && digestOf(leavesOf(global, 1)) === mark.digest;
}

/** @param {Leaf[]} leaves */
function digestOf(leaves) {
  return createHash('sha256').update(JSON.stringify(leaves)).digest('hex');
}
