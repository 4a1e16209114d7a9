// Promise: every finished run is kept with what its figures depend on, the newest hundred, until somebody forgets them; on both servers.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { MOST_KEPT } from '../../js/handlers/benchmark/history.mjs';
import { ask, SERVERS, startProgram, temporaryFolder } from '../servers/programs.mjs';
import { BenchmarkStore } from './run.mjs';

describe('the history of runs', () => {
  /** @type {BenchmarkStore} */
  let store;
  before(() => {
    store = new BenchmarkStore();
  });
  after(() => store.close());

  test('has each run with its machine, its date and its options', async () => {
    const report = await store.run({ json: "{hello: 'world'}", documentName: '^kept', noOfRecords: 7 });
    const { runs } = await store.history('GET');
    assert.equal(runs.length, 1);
    const [{ id, kind, made, machine, options, report: kept }] = runs;
    assert.deepEqual([id, kind, kept], [1, 'run', report]);
    assert.deepEqual(options, { documentName: 'kept', noOfRecords: 7, json: '{"hello":"world"}' });
    assert.ok(Date.parse(made) <= Date.now());
    assert.match(machine.runtime, /^(Node\.js|Bun) \d/);
    assert.ok(machine.cores > 0 && machine.memory > 0);
    assert.deepEqual([machine.engine, machine.durability], ['lmdb', 'process']);
  });

  test('has no run that was not to be kept, or had no figures', async () => {
    await store.run({ json: '1', keep: false });
    await store.run({ json: '' });
    assert.equal((await store.history('GET')).runs.length, 1);
  });

  test('a document is kept as far as a person would read it', async () => {
    await store.run({ json: JSON.stringify('x'.repeat(5000)), noOfRecords: 1 });
    const [{ options }] = (await store.history('GET')).runs;
    assert.ok(options.json.length <= 2001 && options.json.endsWith('…'));
  });

  test('the newest are kept, and the oldest let go', async () => {
    for (let run = 0; run < MOST_KEPT + 3; run += 1) await store.run({ json: '1', noOfRecords: 1 });
    const { runs } = await store.history('GET');
    const ids = runs.map((/** @type {any} */ { id }) => id);
    assert.equal(ids.length, MOST_KEPT);
    assert.equal(ids[0] - ids.at(-1), MOST_KEPT - 1);
    assert.deepEqual(
      ids,
      [...ids].sort((a, b) => b - a),
    );
  });

  test('a global that is called history does not disturb it, when it is made or when its run is cancelled', async () => {
    await store.run({ json: '1', documentName: 'history', noOfRecords: 3 });
    const controller = new AbortController();
    controller.abort();
    const reply = await store.run(
      { json: '1', documentName: 'history', noOfRecords: 1_000_000 },
      { signal: controller.signal },
    );
    assert.equal(reply.reason, 'cancelled');
    assert.equal((await store.history('GET')).runs.length, MOST_KEPT);
    // What the mark said is gone all the same: other data under that name is asked about.
    store.global('history').set(1, 'mine');
    assert.equal((await store.run({ json: '1', documentName: 'history' })).reason, 'confirm');
  });

  test('one is forgotten, then all', async () => {
    const [{ id }] = (await store.history('GET')).runs;
    assert.deepEqual(await store.history('DELETE', String(id)), { ok: true });
    assert.equal((await store.history('DELETE', String(id))).errorCode, 404);
    for (const wrong of ['', 'x', '-1', '1e3', '__proto__'])
      assert.equal((await store.history('DELETE', wrong)).errorCode, 404, wrong);
    assert.equal((await store.history('GET')).runs.length, MOST_KEPT - 1);
    assert.deepEqual(await store.history('DELETE'), { ok: true });
    assert.deepEqual(await store.history('GET'), { runs: [] });
  });
});

for (const { name, runtime, program, skip } of SERVERS) {
  test(`a scale run, its events and the history, from ${name}`, { skip }, async () => {
    const folder = temporaryFolder();
    const server = await startProgram(runtime, [program, 'false', '2', '--port', '0', '--data', folder.path]);
    try {
      const events = fetch(`http://127.0.0.1:${server.port}/benchmark/scaling/events`).then((reply) =>
        reply.text(),
      );
      const json = { kind: 'scale', json: '{a: 1}', noOfRecords: 20_000, run: 'scaling' };
      const reply = await ask(server.port, 'POST', '/benchmark', { json });
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.json.points.at(-1).records, 20_000);
      assert.match(await events, /event: progress\ndata: .*"step":\d.*"points":\[/);
      const { runs } = (await ask(server.port, 'GET', '/benchmark/history')).json;
      assert.deepEqual([runs.length, runs[0].machine.server], [1, name]);
      assert.deepEqual(runs[0].report, reply.json);
      assert.equal((await ask(server.port, 'DELETE', '/benchmark/history/99')).status, 404);
      assert.equal((await ask(server.port, 'DELETE', `/benchmark/history/${runs[0].id}`)).status, 200);
      assert.deepEqual((await ask(server.port, 'GET', '/benchmark/history')).json, { runs: [] });
      assert.equal((await ask(server.port, 'DELETE', '/benchmark/history')).status, 200);
    } finally {
      await server.stop();
      folder.remove();
    }
  });
}
