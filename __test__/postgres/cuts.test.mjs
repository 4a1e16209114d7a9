// Connections that the server cuts: what was acknowledged is stored once, and what was not whole is not there at all.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { server as MgServer, open } from 'caretdb';
import { withCode } from '../mg-dbx/store.mjs';
import { skip, startServer } from '../real/postgres.mjs';

/** How often connections are cut at a moment that nobody chose. */
const CUTS = 30;

/** Everybody but the one who asks. */
const OTHERS = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";

describe('a connection that is cut', { skip }, () => {
  /** @type {import('../real/postgres.mjs').Server} */
  let server;
  /** @type {import('caretdb').Database} */
  let db;
  /** @type {import('caretdb').Global} */
  let node;
  before(async () => {
    server = await startServer();
    db = open({ engine: 'postgres', url: server.newUrl() });
    node = db.global('Cut');
  });
  after(async () => {
    db.close();
    await server.stop();
  });

  /** Cuts all connections, and waits until they are gone. */
  const cut = () => {
    server.query(`SELECT pg_terminate_backend(pid) ${OTHERS}`);
    while (server.query(`SELECT count(*) ${OTHERS}`) !== '0');
  };

  it('inside a transaction has it done again, as a whole and once', () => {
    const steps = [
      () => assert.ok(Number(node.get('read') ?? 0) >= 0),
      () => node.set('first', Number(node.get('first') ?? 0) + 1),
      () => node.setDocument('document', { count: Number(node.get('first')), list: [1, 2, 3] }),
      () => node.increment('second', 1),
      () => node.at('range').delete(),
      () => node.set('range', 'last', Number(node.get('first'))),
    ];
    for (let place = 0; place <= steps.length; place++) {
      let runs = 0;
      db.transaction(() => {
        runs += 1;
        for (const [at, step] of steps.entries()) {
          if (at === place && runs === 1) cut();
          step();
        }
        if (place === steps.length && runs === 1) cut();
      });
      assert.ok(runs <= 2, `${runs} runs`);
      const count = place + 1;
      const found = ['first', 'second'].map((name) => Number(node.get(name)));
      assert.deepEqual(
        [...found, Number(node.get('range', 'last'))],
        [count, count, count],
        `cut before step ${place}`,
      );
      assert.deepEqual(node.getDocument('document'), { count, list: [1, 2, 3] });
    }
  });

  it('inside a transaction of tstart leaves nothing of it, and says so', () => {
    const one = new MgServer();
    one.open({ type: 'CaretDB', path: server.newUrl() });
    try {
      for (const late of [false, true]) {
        one.tstart();
        one.set('Begun', 1, 'x');
        cut();
        assert.throws(
          () => {
            if (!late) one.set('Begun', 2, 'x');
            one.tcommit();
          },
          (/** @type {any} */ error) => withCode('ERR_BUSY')(error) && error.conflict === true,
        );
        one.trollback();
        assert.deepEqual([one.get('Begun', 1), one.get('Begun', 2)], ['', '']);
      }
    } finally {
      one.close();
    }
  });

  it('at any moment loses no write and does none twice', async () => {
    const statements = [`SELECT pg_terminate_backend(pid) ${OTHERS}`, 'SELECT pg_sleep(0.1)'];
    let running = true;
    const ended = server.queryBeside(Array(CUTS).fill(statements).flat()).finally(() => {
      running = false;
    });
    let done = 0;
    while (running) {
      for (let turn = 0; turn < 20; turn++) {
        db.transaction(() => {
          node.set('one', Number(node.get('one') ?? 0) + 1);
          node.set('other', Number(node.get('other') ?? 0) + 1);
        });
        node.increment('alone', 1);
        node.set('set', turn);
        assert.equal(node.get('set'), turn);
        done += 1;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    await ended;
    assert.deepEqual(
      ['one', 'other', 'alone'].map((name) => Number(node.get(name))),
      [done, done, done],
    );
  });

  it('in the midst of a snapshot is told, and never hidden by going on at another moment', () => {
    const other = open({ engine: 'postgres', url: db.path });
    node.set('moment', 'old');
    for (const isCut of [false, true]) {
      const seen = new Set();
      const look = () =>
        db.snapshot(() => {
          seen.add(node.get('moment'));
          if (isCut) cut();
          other.global('Cut').set('moment', 'new');
          // Past what was read ahead.
          seen.add(node.get('moment'));
          for (const [, value] of node.at('moment').entries()) seen.add(value);
          return node.get('moment');
        });
      if (isCut) assert.throws(look, withCode('ERR_IO', /snapshot/));
      else assert.equal(look(), 'old');
      assert.deepEqual([...seen], [isCut ? 'new' : 'old']);
      assert.equal(node.get('moment'), 'new');
    }
    other.close();
  });
});
