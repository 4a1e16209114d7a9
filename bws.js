// The web server for Bun: bun bws.js [logging] [poolSize] [options], see --help.

import { Router } from './js/bun-serve.mjs';
import { start } from './js/http/start.mjs';

await start('Bun.serve', 'bun bws.js', async (options, port, hostname, tls) => {
  const router = new Router(options);
  // The router bounds bodies itself, with a reply that says so.
  const maxRequestBodySize = Number.MAX_SAFE_INTEGER;
  const server = Bun.serve({ port, hostname, tls, maxRequestBodySize, fetch: router.fetch });
  return {
    url: server.url.href.replace(/\/$/, ''),
    async close() {
      const stopped = server.stop();
      await router.close();
      await server.stop(true);
      await stopped;
    },
  };
});
