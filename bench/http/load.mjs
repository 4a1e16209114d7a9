// One stretch of load in a process of its own: 100 kept-alive connections, each with one request in flight, every status and
// every body checked; one wrong reply ends it. Started with a JSON argument, answers one line of JSON.

import { percentile } from '../run/statistics.mjs';
import { Connection } from './client.mjs';

const { module, scenario, port, connections, seconds, settings } = JSON.parse(process.argv[2]);
const { scenarios } = await import(`../workloads/${module}.mjs`);
const { request, check, after } = scenarios[scenario](settings);

/** Milliseconds of each request. @type {number[]} */
const took = [];
const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
let next = 0;
const begun = performance.now();
const end = begun + seconds * 1000;

/** @param {Connection} connection @returns {Promise<void>} when the time is over */
function keepAsking(connection) {
  return new Promise((resolve, reject) => {
    const ask = () => {
      const number = next++;
      const sent = performance.now();
      connection.send(
        request(number),
        (status, body) => {
          const now = performance.now();
          took.push(now - sent);
          if ((status !== 200 && status !== 201) || !check(number, body)) {
            reject(new Error(`request ${number}: status ${status}, ${body.toString('utf8', 0, 300)}`));
          } else if (now < end) ask();
          else resolve();
        },
        reject,
      );
    };
    ask();
  });
}

await Promise.all(open.map(keepAsking));
const elapsed = (performance.now() - begun) / 1000;
const wire = open.reduce((sum, { socket }) => sum + socket.bytesRead + socket.bytesWritten, 0);
for (const connection of open) connection.close();
if (after !== undefined) {
  const connection = await Connection.open(port);
  await after(connection, next);
  connection.close();
}
took.sort((a, b) => a - b);
console.log(
  JSON.stringify({
    requests: took.length,
    rate: took.length / elapsed,
    p50: percentile(took, 0.5),
    p95: percentile(took, 0.95),
    p99: percentile(took, 0.99),
    wire: wire / took.length,
  }),
);
