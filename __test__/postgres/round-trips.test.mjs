// How often a call waits for the server: a program far from it feels nothing else.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { open } from 'caretdb';
import { newUrls, skip } from '../real/postgres.mjs';
import { hear } from '../runner/heard.mjs';

test('calls take the round trips that the docs say', { skip }, async () => {
  const url = (await newUrls())();
  const shared = new SharedArrayBuffer(4);
  const turns = new Int32Array(shared);
  const port = Number(/:(\d+)\//.exec(url)?.[1]);
  const worker = new Worker(new URL('fixtures/counting-proxy.mjs', import.meta.url), {
    workerData: { shared, port },
  });
  after(() => worker.terminate());
  const proxied = await hear(worker).next();
  const db = open({ engine: 'postgres', url: url.replace(`:${port}/`, `:${proxied}/`) });
  after(() => db.close());
  const node = db.global('Person');
  // What a connection does once: it reads the indexes, and makes the row of its steps.
  node.set('first', 1);
  node.increment('first', 1);
  const took = (/** @type {() => unknown} */ call) => {
    // What an earlier call did not wait for is answered before this.
    node.get('settled');
    const before = Atomics.load(turns, 0);
    call();
    return Atomics.load(turns, 0) - before;
  };
  /**
   * A call's next message may come late enough on a busy machine to look like an answer to the server's; it never comes so
   * early that a wait would not show. So the least of some calls counts.
   *
   * @param {number} turns
   * @param {string} what
   * @param {(attempt: number) => unknown} call
   * @param {(attempt: number) => unknown} [prepare]
   */
  const takes = (turns, what, call, prepare = () => {}) => {
    let least = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < 10 && least > turns; attempt++) {
      prepare(attempt);
      least = Math.min(
        least,
        took(() => call(attempt)),
      );
    }
    assert.equal(least, turns, what);
  };
  const person = { name: 'Rob', address: { city: 'Redhill' }, tags: ['a', 'b', 'c'] };
  takes(1, 'set', () => node.set(1, 'x'));
  takes(1, 'get', () => node.get(1));
  takes(1, 'a document', () => node.setDocument(2, person));
  takes(1, 'a document over another one', () => node.setDocument(2, { ...person, name: 'Ann' }));
  takes(
    1,
    'a subtree',
    () => node.delete(2),
    () => node.setDocument(2, person),
  );
  takes(1, 'the first increment of what is not there', (attempt) => node.increment('count', attempt, 1));
  takes(1, 'the next one', () => node.increment('count', 0, 1));
  node.setDocument('m', person);
  takes(2, 'a document that is merged', () =>
    node.mergeDocument('m', { address: { street: 'High St' }, tags: ['b'] }),
  );
  takes(2, 'a document that is patched', () => node.patch('m', { address: { city: null }, name: null }));
  assert.deepEqual(node.getDocument('m'), { address: { street: 'High St' }, tags: ['b', 'b', 'c'] });
  takes(2, 'a patch of nothing', (attempt) => node.patch(`new${attempt}`, { name: 'Rob', gone: null }));
  takes(1, 'a merge', () => node.at('copy').merge(node.at('m')));
  assert.deepEqual(node.getDocument('copy'), node.getDocument('m'));
  takes(2, 'a merge into an ancestor', () => node.at('m').merge(node.at('m', 'address')));
  assert.equal(node.get('m', 'street'), 'High St');
  node.createIndex('name', ['name']);
  node.setDocument('i', person);
  takes(2, 'a document under an index', (attempt) =>
    node.setDocument('i', { ...person, name: `Ann${attempt}` }),
  );
  takes(2, 'a merge under an index', (attempt) => node.mergeDocument('i', { name: `Zoe${attempt}` }));
  takes(
    2,
    'a subtree under an index',
    () => node.delete('i'),
    () => node.setDocument('i', person),
  );
  assert.deepEqual(
    [...node.find('name')].map(([id]) => id).filter((id) => !String(id).startsWith('new')),
    [],
  );
  node.dropIndex('name');
  node.set('first', 2);
  for (let id = 100; id < 400; id++) node.set(id, 'x');
  const walk = took(() => {
    for (let key = node.next(''); key !== undefined; key = node.next(key)) node.get(key);
  });
  assert.ok(walk <= 60, `a walk over 303 nodes with their values took ${walk}`);
  const transaction = took(() =>
    db.transaction(() => {
      for (let id = 0; id < 10; id++) node.set('t', id, 'x');
    }),
  );
  assert.ok(transaction <= 12, `a transaction of ten writes took ${transaction}`);
});
