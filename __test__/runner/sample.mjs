// What is long and the same on every runtime is run whole on the first runtime of a test run, and in part on the others.

/** Whether this is one of the others. */
export const isSample = process.env.CARETDB_TEST_SAMPLE === 'true';
