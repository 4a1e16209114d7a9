// The web server for Node.js: node nws.mjs [logging] [poolSize] [options], see --help.

import Fastify from 'fastify';
import caretdb, { answerBadPath, answerBadRequest, followDots } from './js/fastify.mjs';
import { SLOW } from './js/http/limits.mjs';
import { start } from './js/http/start.mjs';

await start('Fastify', 'node nws.mjs', async (options, port, host, tls) => {
  const slow = { headersTimeout: SLOW.header, connectionsCheckingInterval: SLOW.look };
  const fastify = Fastify({
    ...(tls === undefined ? { http: slow } : { https: { ...slow, ...tls } }),
    logger: false,
    requestTimeout: SLOW.request,
    routerOptions: { maxParamLength: 2048 },
    rewriteUrl: followDots,
    frameworkErrors: answerBadPath,
    clientErrorHandler: answerBadRequest,
  });
  // A body for a path that there is not is nobody's: it is not read.
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null));
  fastify.register(caretdb, { ...options, wholeServer: true });
  const url = await fastify.listen({ port, host });
  return { url, close: () => fastify.close() };
});
