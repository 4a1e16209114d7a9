// The server that the HTTP benchmarks load: the routes of nws.mjs and bws.js, and beside them bare ones that answer from the
// main thread's memory. On Node.js it is Fastify, on Bun Bun.serve. It talks to its parent process.

import { PAGES, showcaseRoutes } from '../../js/http/routes.mjs';

const [folder, durability] = process.argv.slice(2);
const isBun = process.versions.bun !== undefined;
const serverName = isBun ? 'Bun.serve' : 'Fastify';

/** What the bare routes hold. @type {Map<string, unknown>} */
const held = new Map();

const options = {
  store: { path: folder, durability },
  poolSize: 2,
  pages: PAGES,
  workerHandlersByRoute: [
    ...showcaseRoutes(serverName),
    {
      method: 'post',
      url: '/bare',
      /** @param {any} message */
      mainHandler(message) {
        for (const document of message.data.body) held.set(document.id, document);
        return { ok: true };
      },
    },
    {
      method: 'get',
      url: '/bare',
      /** @param {any} message */
      mainHandler: (message) => [held.get(message.data.query.id)],
    },
    { method: 'get', url: '/scan', handlerPath: new URL('scan.mjs', import.meta.url).href },
  ],
};

/** @returns {Promise<{ port: number, close: () => Promise<unknown> }>} */
async function listen() {
  if (isBun) {
    const { Router } = await import('../../js/bun-serve.mjs');
    const router = new Router(options);
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: router.fetch });
    return {
      port: server.port,
      async close() {
        await server.stop(true);
        await router.close();
      },
    };
  }
  const { default: Fastify } = await import('fastify');
  const { default: caretdb } = await import('../../js/fastify.mjs');
  const fastify = Fastify();
  fastify.register(caretdb, options);
  const url = await fastify.listen({ port: 0, host: '127.0.0.1' });
  return { port: Number(new URL(url).port), close: () => fastify.close() };
}

/** Bytes that the main thread's heap holds after a collection. */
function heap() {
  if (isBun) Bun.gc(true);
  else globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const { port, close } = await listen();
process.on('message', async (message) => {
  if (message === 'heap') process.send?.({ heap: heap() });
  else {
    await close();
    process.exit(0);
  }
});
process.send?.({ port });
