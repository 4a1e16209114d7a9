// The web server for Node.js: node nws.mjs [logging] [poolSize] [options], see --help.

import Fastify from 'fastify';
import caretdb, { answerBadPath } from './js/fastify.mjs';
import { start } from './js/http/start.mjs';

await start('Fastify', 'node nws.mjs', async (options, port, host) => {
  const fastify = Fastify({
    logger: false,
    // A request that does not arrive whole within this time is given up; its reply may take longer.
    requestTimeout: 60_000,
    routerOptions: { maxParamLength: 2048 },
    frameworkErrors: answerBadPath,
  });
  fastify.register(caretdb, { ...options, wholeServer: true });
  const url = await fastify.listen({ port, host });
  return { url, close: () => fastify.close() };
});
