// A reporter for `node --test` that writes one JSON object: how many tests passed, failed and were skipped. It counts
// tests only, and takes a file that holds no test for a failure, where Node.js's own summary says that it passed.

import { resolve } from 'node:path';

/**
 * @typedef {{ type: string, data: { name: string, nesting: number, file?: string, skip?: string | boolean,
 *   todo?: string | boolean, details?: { type?: string, error?: { failureType?: string } } } }} TestEvent
 */

/**
 * @param {AsyncIterable<TestEvent>} events
 */
export default async function* tally(events) {
  const counts = { passed: 0, failed: 0, skipped: 0, empty: /** @type {string[]} */ ([]) };
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const failed = type === 'test:fail';
    if (data.skip !== undefined || data.todo !== undefined) counts.skipped++;
    else if (data.details?.type === 'suite') {
      // A suite fails with its tests, which are counted themselves, or alone, in one of its hooks.
      if (failed && data.details.error?.failureType !== 'subtestsFailed') counts.failed++;
    } else if (failed) counts.failed++;
    else if (standsForFile(data)) counts.empty.push(data.name);
    else counts.passed++;
  }
  counts.failed += counts.empty.length;
  yield JSON.stringify(counts);
}

/**
 * @param {TestEvent['data']} data
 */
function standsForFile(data) {
  return data.nesting === 0 && data.file !== undefined && resolve(data.name) === data.file;
}
