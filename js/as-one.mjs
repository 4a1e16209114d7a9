// Several writes as one: the transaction around a piece of work, for every face.

/**
 * Runs `work` in a transaction of the connection: it commits when `work` returns and is undone when it throws. Calls may
 * nest.
 *
 * @template T
 * @param {any} server the connection, open
 * @param {() => T} work it must not wait for anything
 * @returns {T}
 */
export function asOne(server, work) {
  server.start();
  let result;
  try {
    result = work();
  } catch (error) {
    // Work that closed the connection has undone everything with that.
    if (server.path() !== '') server.rollback();
    throw error;
  }
  server.commit();
  return result;
}
