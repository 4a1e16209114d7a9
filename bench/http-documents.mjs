// The document server's benchmark, after WMPayload: 100 kept-alive connections, every reply checked, on both servers.

import { CONNECTIONS, details, findServers, measureServers } from './http/measure.mjs';
import { readOptions } from './run/options.mjs';
import { beginResult, makeTable } from './run/report.mjs';

const options = readOptions('http-documents', {
  documents: { full: 10_000, quick: 500, meaning: 'how many small documents there are before' },
  milliseconds: { full: 1500, quick: 200, meaning: 'how long each kind of request is made, in milliseconds' },
});
const { documents, milliseconds } = options.sizes;
const seconds = milliseconds / 1000;
const result = beginResult('http-documents', 'Document server', options);
const { servers, skipped } = findServers();
const found = await measureServers({
  servers,
  module: 'http-documents',
  settings: { documents },
  rounds: options.rounds,
  seconds,
});
const peers = servers.map(({ name }) => ({
  name,
  durability: 'a killed process; a power cut, but for the last 100 ms',
}));
const what =
  `${CONNECTIONS} kept-alive connections, each with one request in flight, ${seconds} s for each column; 2 workers; server and client share the ` +
  `machine. One operation is one request. The store holds ${documents.toLocaleString('en')} documents ` +
  '`{age, email, id, name}`, 109 bytes as an array of one; a large document has 12,288 bytes; each insert has a fresh id. ' +
  'The bare route is of the same server, answered from the main thread’s memory. Every status and body is checked, and one wrong reply ends the run.';
const rates = found.map(({ server, scenario, rate }) => ({ peer: server, step: scenario, rate }));
const detailed = details(found);
const rows = [...new Set(detailed.map(({ peer }) => peer))].map((name) => ({ name, durability: '' }));
result.finish(
  [
    makeTable('Requests', what, peers, rates, 'requests a second'),
    {
      ...makeTable(
        'Latency, bytes on the wire and heap',
        'The same requests: milliseconds from request to reply; bytes sent and received for one request, with heads; bytes by which the ' +
          'heap of the server’s main thread grew for one request, after a collection.',
        rows,
        detailed,
        'milliseconds or bytes',
      ),
      plot: false,
    },
  ],
  { runtimes: servers.map(({ runtime }) => runtime), notes: skipped },
);
