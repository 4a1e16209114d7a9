// The history of runs: `^%caretdb("benchmark","history",id)` holds a document for each, the newest hundred. Ids count up.

import { machine } from './machine.mjs';

/**
 * @typedef {import('./counted.mjs').Mgdbx} Mgdbx
 * @typedef {import('./request.mjs').BenchmarkRequest} BenchmarkRequest
 *
 * @typedef {object} PastRun
 * @property {number} id
 * @property {'run' | 'scale'} kind
 * @property {string} made when it ended, in ISO 8601
 * @property {import('./machine.mjs').Machine} machine
 * @property {{ documentName: string, noOfRecords: number, perDecade?: number, json: string }} options `json` is the document, cut
 * @property {import('./run.mjs').Report | import('./scale.mjs').ScaleReport} report
 */

/** More runs than this are not kept. */
export const MOST_KEPT = 100;

/** So much of a run's document is kept, in characters. */
const LONGEST_JSON = 2000;

/** @param {Mgdbx} mgdbx */
function historyOf({ db, mglobal }) {
  return new mglobal(db, '%caretdb', 'benchmark', 'history');
}

/**
 * Adds a run, and lets go of the oldest.
 *
 * @param {Mgdbx} mgdbx
 * @param {BenchmarkRequest} request
 * @param {PastRun['report']} report
 * @param {string} [serverName]
 */
export function keepRun(mgdbx, request, report, serverName) {
  const { kind, documentName, noOfRecords, perDecade, document } = request;
  const json = JSON.stringify(document);
  const options = {
    documentName,
    noOfRecords,
    ...(kind === 'scale' && { perDecade }),
    json: json.length > LONGEST_JSON ? `${json.slice(0, LONGEST_JSON)}…` : json,
  };
  const { db } = mgdbx;
  const history = historyOf(mgdbx);
  db.tstart();
  try {
    const id = Number(history.previous('')) + 1;
    /** @type {PastRun} */
    const run = {
      id,
      kind,
      made: new Date().toISOString(),
      machine: machine(db, serverName),
      options,
      report,
    };
    history.setDocumentText(id, JSON.stringify(run));
    for (let old = history.next(''); Number(old) <= id - MOST_KEPT; old = history.next(''))
      history.delete(old);
  } catch (error) {
    db.trollback();
    throw error;
  }
  db.tcommit();
}

/**
 * @param {Mgdbx} mgdbx
 * @returns {PastRun[]} the newest first
 */
export function pastRuns(mgdbx) {
  const history = historyOf(mgdbx);
  const runs = [];
  for (let id = history.previous(''); id !== ''; id = history.previous(id)) {
    const text = history.documentText(id);
    // Another worker may have let go of it meanwhile.
    if (text !== undefined) runs.push(JSON.parse(text));
  }
  return runs;
}

/**
 * @param {Mgdbx} mgdbx
 * @param {string} id
 * @returns {boolean} whether there was one
 */
export function forgetRun(mgdbx, id) {
  const history = historyOf(mgdbx);
  if (history.defined(id) === '0') return false;
  history.delete(id);
  return true;
}

/** @param {Mgdbx} mgdbx */
export function forgetAllRuns(mgdbx) {
  const history = historyOf(mgdbx);
  for (let id = history.next(''); id !== ''; id = history.next(id)) history.delete(id);
}
