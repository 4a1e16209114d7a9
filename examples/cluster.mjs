// A web server of several processes on one store: each answers from its own memory map, and all see each other's writes at once.
// A process that crashes costs its own requests; another one takes its place.
//
// For Node.js: node:cluster of Bun does not share a port in the same way.
//
//   node examples/cluster.mjs            then: curl http://127.0.0.1:3000/

import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { open } from 'caretdb';

const PROCESSES = 2;
const PORT = Number(process.env.PORT ?? 3000);

if (cluster.isPrimary) {
  for (let number = 0; number < PROCESSES; number++) cluster.fork();
  cluster.on('exit', (worker) => {
    if (!worker.exitedAfterDisconnect) cluster.fork();
  });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM']))
    process.once(signal, () => cluster.disconnect(() => process.exit(0)));
} else {
  const db = open();
  const visits = db.global('Visits');
  const server = createServer((_request, response) => {
    const visit = visits.increment('count', 1);
    visits.increment('by', process.pid, 1);
    response.setHeader('content-type', 'application/json');
    response.end(`${JSON.stringify({ visit, process: process.pid })}\n`);
  });
  server.listen(PORT, '127.0.0.1');
  process.once('disconnect', () => db.close());
}
