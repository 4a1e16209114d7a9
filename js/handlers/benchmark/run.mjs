// One benchmark run: clears its global, times the five sections, and answers their figures.

import { isDeepStrictEqual } from 'node:util';

import { isSameTree, leafWriter, leavesOf, readByCursor, readByNestedNext, treeOf } from './leaves.mjs';
import { markAsOwn, removeMark, requireOwnGlobal } from './ownership.mjs';
import { Refusal } from './request.mjs';

/**
 * @typedef {import('./counted.mjs').CountedGlobal} CountedGlobal
 * @typedef {import('./counted.mjs').DbxCounts} DbxCounts
 * @typedef {import('./counted.mjs').Mglobal} Mglobal
 * @typedef {import('./pace.mjs').Pace} Pace
 * @typedef {import('./request.mjs').BenchmarkRequest} BenchmarkRequest
 * @typedef {import('./request.mjs').Json} Json
 *
 * @typedef {object} Section
 * @property {string} noOfRecords `"10,000"`
 * @property {string} totalTime seconds spent in database calls and in making or building the records
 * @property {string} rate records a second, `"412,371"`
 * @property {DbxCounts} dbxCounts the calls that were made
 *
 * @typedef {'set' | 'get' | 'get_q' | 'document_set' | 'document_get'} SectionName
 * @typedef {Record<SectionName, Section>} Report
 *
 * @typedef {{ elapsed: number, dbxCounts: DbxCounts }} Timed milliseconds, above zero, and the calls made in them
 * @typedef {Record<SectionName, Timed>} TimedSections
 */

/**
 * @param {CountedGlobal} global
 * @param {Mglobal} marks `^%caretdb("benchmark")`
 * @param {BenchmarkRequest} request
 * @param {Pace} pace
 * @returns {Promise<Report>}
 * @throws {Refusal} when it may not clear the global, was cancelled, or read back something else than it wrote
 */
export function runBenchmark(global, marks, request, pace) {
  return onOwnGlobal(global, marks, request, pace, async () => {
    const timed = await timeSections(global, marks, request, pace);
    const named = Object.entries(timed).map(([name, section]) => [
      name,
      figures(request.noOfRecords, section),
    ]);
    return Object.fromEntries(named);
  });
}

/**
 * Does work that clears and fills the global: under a lock, where the global may be cleared, and leaving nothing of a cancelled run.
 *
 * @template T
 * @param {CountedGlobal} global
 * @param {Mglobal} marks
 * @param {BenchmarkRequest} request
 * @param {Pace} pace
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function onOwnGlobal(global, marks, request, pace, work) {
  if (marks.lock(global.name, 0) !== '1') {
    throw new Refusal(
      409,
      'running',
      `A benchmark is running on ^${global.name}; wait for its end, or name another global`,
    );
  }
  try {
    requireOwnGlobal(global, marks, request.confirm);
    return await work();
  } catch (error) {
    if (error instanceof Refusal && error.reason === 'cancelled') {
      await discard(global, marks, request.noOfRecords, pace);
    }
    throw error;
  } finally {
    marks.unlock(global.name);
  }
}

/**
 * @param {CountedGlobal} global
 * @param {Mglobal} marks
 * @param {Pick<BenchmarkRequest, 'document' | 'noOfRecords'>} request
 * @param {Pace} pace
 * @returns {Promise<TimedSections>}
 */
export async function timeSections(global, marks, request, pace) {
  const { document, noOfRecords } = request;
  await clear(global, noOfRecords, pace);
  const leaves = storedLeaves(global, document);
  markAsOwn(marks, global.name, noOfRecords, leaves);

  /**
   * @template T
   * @param {string} phase
   * @param {(record: number) => T} work
   * @param {(result: T) => boolean} [isRight]
   */
  const section = async (phase, work, isRight) => {
    const check = isRight && refuseDifference(global.name, phase, isRight);
    global.takeCounts();
    const elapsed = await pace.time(phase, noOfRecords, work, check);
    return { elapsed, dbxCounts: global.takeCounts() };
  };

  const tree = treeOf(leaves);
  /** @param {import('./leaves.mjs').Tree | undefined} read */
  const isTree = (read) => isSameTree(read, tree);
  /** @param {Json | undefined} read */
  const isDocument = (read) => isDeepStrictEqual(read, document);

  const set = await section('set', leafWriter(global, leaves));
  const get = await section('get', (record) => readByNestedNext(global, record), isTree);
  const get_q = await section('get_q', (record) => readByCursor(global, record), isTree);
  await clear(global, noOfRecords, pace);
  const document_set = await section('document_set', (record) => {
    global.setDocumentText(record, JSON.stringify(document));
  });
  const document_get = await section('document_get', (record) => readDocument(global, record), isDocument);
  return { set, get, get_q, document_set, document_get };
}

/** How many children one transaction deletes: a few milliseconds' worth, so that other writers wait no longer. */
const DELETED_TOGETHER = 500;

/**
 * Deletes what the global holds some children at a time, so that a large one neither holds the store's write lock for long nor
 * keeps a cancelled run from stopping.
 *
 * @param {CountedGlobal} global
 * @param {number} total records of the run, for the progress
 * @param {Pace} pace
 */
async function clear(global, total, pace) {
  pace.tell({ phase: 'clear', done: 0, total });
  while (global.uncounted.next('') !== '') {
    global.inTransaction(deleteSomeChildren);
    await pace.breathe({ phase: 'clear', done: 0, total });
  }
  global.uncounted.delete();
}

/** @param {Mglobal} global */
function deleteSomeChildren(global) {
  let child = global.next('');
  for (let count = 0; count < DELETED_TOGETHER && child !== ''; count += 1) {
    global.delete(child);
    child = global.next(child);
  }
}

/**
 * After a cancelled run: neither records nor a mark stay behind.
 *
 * @param {CountedGlobal} global
 * @param {Mglobal} marks
 * @param {number} total
 * @param {Pace} pace
 */
async function discard(global, marks, total, pace) {
  await clear(global, total, pace.uncancelled());
  removeMark(marks, global.name);
}

/**
 * The leaves that the database itself makes of the document. The per-node section writes these, so that both ways of writing
 * store the same nodes.
 *
 * @param {CountedGlobal} global empty
 * @param {Json} document
 */
function storedLeaves(global, document) {
  global.uncounted.setDocumentText(1, JSON.stringify(document));
  const leaves = leavesOf(global, 1);
  global.uncounted.delete();
  return leaves;
}

/**
 * @param {CountedGlobal} global
 * @param {number} record
 * @returns {Json | undefined}
 */
function readDocument(global, record) {
  const text = global.documentText(record);
  return text === undefined ? undefined : JSON.parse(text);
}

/**
 * @template T
 * @param {string} name
 * @param {string} phase
 * @param {(result: T) => boolean} isRight
 * @returns {(result: T, record: number) => void}
 */
function refuseDifference(name, phase, isRight) {
  return (result, record) => {
    if (isRight(result)) return;
    throw new Refusal(
      500,
      'difference',
      `Record ${record} of ^${name} came back different from what was written (${phase}), so this run has no figures`,
    );
  };
}

/**
 * @param {number} noOfRecords
 * @param {Timed} timed
 * @returns {Section}
 */
function figures(noOfRecords, { elapsed, dbxCounts }) {
  const seconds = elapsed / 1000;
  return {
    noOfRecords: noOfRecords.toLocaleString('en-US'),
    totalTime: formatSeconds(seconds),
    rate: Math.trunc(noOfRecords / seconds).toLocaleString('en-US'),
    dbxCounts,
  };
}

/**
 * Two decimals from one second up, three significant digits below: a short run is not told as `"0.00"`.
 *
 * @param {number} seconds
 */
function formatSeconds(seconds) {
  if (seconds >= 1) return seconds.toFixed(2);
  const decimals = Math.min(9, 2 - Math.floor(Math.log10(seconds)));
  return seconds.toFixed(decimals);
}
