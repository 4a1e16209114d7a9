// Several writes as one: the transaction around a piece of work, for every face.

/**
 * Runs `work` in a transaction of the connection: it commits when `work` returns and is undone when it throws. Calls may
 * nest. On an engine where transactions may meet (`postgres`), the outermost work that met another one is run again, until
 * the connection's timeout has passed.
 *
 * @template T
 * @param {any} server the connection, open
 * @param {() => T} work it must not wait for anything
 * @returns {T}
 */
export function asOne(server, work) {
  const begun = performance.now();
  for (;;) {
    try {
      return once(server, work);
    } catch (error) {
      const isOver = performance.now() - begun > patience(server);
      if (/** @type {any} */ (error)?.conflict !== true || server.tlevel() !== '0' || isOver) throw error;
    }
  }
}

/** @param {any} server @returns {number} milliseconds */
function patience(server) {
  const seconds = Number(server.settimeout());
  return seconds < 0 ? Number.POSITIVE_INFINITY : seconds * 1000;
}

/**
 * @template T
 * @param {any} server
 * @param {() => T} work
 * @returns {T}
 */
function once(server, work) {
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
