// The web server for Bun: bun bws.js [logging] [poolSize] [options], see --help.

import { Router } from './js/bun-serve.mjs';
import { start } from './js/http/start.mjs';

await start('Bun.serve', 'bun bws.js', async (options, port, hostname) => {
  const router = new Router(options);
  const server = Bun.serve({ port, hostname, maxRequestBodySize: router.bodyLimit, fetch: router.fetch });
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
