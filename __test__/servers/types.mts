// Checked by `npm run types`, never run: the types of the servers say what a program may write.

import { Router } from 'caretdb/bun-serve';
import caretdb, { type DefaultHandler, type Handler } from 'caretdb/fastify';
import Fastify from 'fastify';

export const handler: Handler = function (message, finished) {
  const person = this.use('Person', 'data');
  finished({ id: this.id, document: person.get(message.data.params.id) });
};

export const modern: DefaultHandler = async (request, context) => {
  context.progress({ phase: 'one', done: 1 });
  return { aborted: context.signal.aborted, method: request.data.method };
};

const options = { poolSize: 2, workerHandlersByRoute: [{ method: 'get', url: '/a', handlerPath: 'a.mjs' }] };

const fastify = Fastify();
fastify.register(caretdb, { ...options, wholeServer: true });
export const reply = fastify.caretdb.pool.run({ type: 'GET /a' }, { timeout: Infinity });

// @ts-expect-error the routes are missing
fastify.register(caretdb, { poolSize: 2 });

const router = new Router(options);
router.get('/b', () => Response.json({ ok: true }));
export const served = () => Bun.serve({ port: 0, fetch: router.fetch });
