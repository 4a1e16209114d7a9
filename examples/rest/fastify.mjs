// A REST service for tasks on Fastify.
//
//   node examples/rest/fastify.mjs
//   curl -X POST http://127.0.0.1:3000/tasks -H 'content-type: application/json' -d '{"title":"Write"}'

import { fileURLToPath } from 'node:url';
import caretdb from 'caretdb/fastify';
import Fastify from 'fastify';
import { routes } from './routes.mjs';

const fastify = Fastify();
fastify.register(caretdb, {
  workerHandlersByRoute: routes(fileURLToPath(new URL('./handlers/tasks.mjs', import.meta.url))),
});
console.log(await fastify.listen({ port: Number(process.env.PORT ?? 3000) }));
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM']))
  process.once(signal, () => fastify.close().then(() => process.exit(0)));
