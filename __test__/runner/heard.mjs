// What a thread or process of a test says and how it ends, kept until the test asks. Node.js keeps a child's messages for a
// listener that comes late, Bun drops them; and who waits for one that has ended would wait for ever.

/**
 * @param {import('node:worker_threads').Worker | import('node:child_process').ChildProcess} speaker that was started just now
 * @returns {{ next: () => Promise<any>, end: () => Promise<number | string | null> }} `next` is the next message in order, `end`
 *   the exit status or the signal; both reject where neither can come any more
 *
 * @example
 * const { next, end } = hear(fork(program));
 * assert.equal(await next(), 'begun');
 * assert.equal(await end(), 0);
 */
export function hear(speaker) {
  /** @type {any[]} */
  const arrived = [];
  /** @type {{ how: number | string | null } | undefined} */
  let ended;
  /** @type {Error | undefined} */
  let fault;
  /** @type {(() => void)[]} */
  const waiters = [];
  const wake = () => {
    for (const waiter of waiters.splice(0)) waiter();
  };
  const change = () => new Promise((resolve) => waiters.push(() => resolve(undefined)));
  speaker.on('message', (/** @type {any} */ message) => {
    arrived.push(message);
    wake();
  });
  const finish = (/** @type {number | string | null} */ how) => {
    ended = { how };
    wake();
  };
  speaker.once('error', (/** @type {Error} */ error) => {
    fault = error;
    // The error of a thread can overtake its messages, its end cannot; a process that did not start has no other end.
    if (!('threadId' in speaker)) finish(null);
  });
  speaker.once('exit', (/** @type {number | null} */ status, /** @type {string | null} */ signal) => {
    const end = () => finish(status ?? signal);
    // The last messages of a process can come after it.
    if ('connected' in speaker && speaker.connected) speaker.once('disconnect', end);
    else end();
  });
  return {
    async next() {
      while (arrived.length === 0) {
        if (ended) throw fault ?? new Error(`it ended with ${ended.how} and said no more`);
        await change();
      }
      return arrived.shift();
    },
    async end() {
      while (!ended) await change();
      if (fault) throw fault;
      return ended.how;
    },
  };
}
