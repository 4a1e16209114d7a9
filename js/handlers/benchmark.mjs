// POST /benchmark: times one JSON document written and read many times, by per-node calls and by one call per document.
//
// The body is `{documentName, json, noOfRecords, confirm}`; the answer has the sections `set`, `get`, `get_q`, `document_set`
// and `document_get`, each `{noOfRecords, totalTime, rate, dbxCounts}`. With `kind: 'scale'` it does so for growing numbers of records
// and answers their rates. What the sections measure is in docs/benchmark.md.

import { CountedGlobal } from './benchmark/counted.mjs';
import { keepRun } from './benchmark/history.mjs';
import { Pace } from './benchmark/pace.mjs';
import { Refusal, readRequest } from './benchmark/request.mjs';
import { runBenchmark } from './benchmark/run.mjs';
import { runScale } from './benchmark/scale.mjs';

/**
 * @typedef {object} BenchmarkContext what the pool gives a handler, as far as it is used here
 * @property {import('./benchmark/counted.mjs').Mgdbx} mgdbx
 * @property {(progress: import('./benchmark/pace.mjs').Progress) => void} progress
 * @property {AbortSignal} signal
 * @property {string} [serverName]
 *
 * @typedef {{ error: string, errorCode: number, reason: string }} RefusalReply
 */

/** Errors of the database that the request brought about, and the status they are answered with. */
const STATUS_BY_CODE = new Map([
  ['ERR_BAD_NAME', 400],
  ['ERR_BAD_KEY', 400],
  ['ERR_KEY_TOO_LONG', 400],
  ['ERR_BAD_VALUE', 400],
  ['ERR_TOO_LARGE', 400],
  ['ERR_ARG', 400],
  ['ERR_BUSY', 503],
  ['ERR_DISK_FULL', 507],
]);

/**
 * @this {BenchmarkContext}
 * @param {{ data: { body?: unknown } }} messageObj
 * @param {(reply: import('./benchmark/run.mjs').Report | import('./benchmark/scale.mjs').ScaleReport | RefusalReply) => void} finished
 */
export const handler = async function (messageObj, finished) {
  finished(await answer(this, messageObj.data.body));
};

/**
 * @param {BenchmarkContext} context
 * @param {unknown} body
 */
async function answer(context, body) {
  try {
    const request = readRequest(body);
    const { mgdbx } = context;
    const global = new CountedGlobal(mgdbx, request.documentName);
    const marks = new mgdbx.mglobal(mgdbx.db, '%caretdb', 'benchmark');
    const pace = new Pace((progress) => context.progress(progress), context.signal);
    const work = request.kind === 'scale' ? runScale : runBenchmark;
    const report = await work(global, marks, request, pace);
    if (request.keep) keepRun(mgdbx, request, report, context.serverName);
    return report;
  } catch (error) {
    return refusalReply(error);
  }
}

/**
 * @param {unknown} error
 * @returns {RefusalReply}
 */
function refusalReply(error) {
  if (error instanceof Refusal)
    return { error: error.message, errorCode: error.errorCode, reason: error.reason };
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const errorCode = STATUS_BY_CODE.get(code);
  if (errorCode === undefined) throw error;
  return {
    error: /** @type {Error} */ (error).message,
    errorCode,
    reason: code === 'ERR_BAD_NAME' ? 'name' : 'database',
  };
}
