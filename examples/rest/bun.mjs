// The same REST service on Bun.serve.
//
//   bun examples/rest/bun.mjs

import { fileURLToPath } from 'node:url';
import { Router } from 'caretdb/bun-serve';
import { routes } from './routes.mjs';

const router = new Router({
  workerHandlersByRoute: routes(fileURLToPath(new URL('./handlers/tasks.mjs', import.meta.url))),
});
const server = Bun.serve({
  port: Number(process.env.PORT ?? 3000),
  hostname: '127.0.0.1',
  fetch: router.fetch,
});
console.log(server.url.href);
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM']))
  process.once(signal, () =>
    router
      .close()
      .then(() => server.stop())
      .then(() => process.exit(0)),
  );
