// GET /local: answered in the main thread, to compare the pool with.

/**
 * @param {string} serverName 'Fastify' or 'Bun.serve'
 */
export function answerLocally(serverName) {
  return { ok: true, hello: `from ${serverName}` };
}
