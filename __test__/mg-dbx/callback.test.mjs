// The callback forms: they return null and answer later, in call order, without blocking the event loop.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { mglobal, server } from 'caretdb';
import { callBack, newFolder, openServer, withCode } from './store.mjs';

const { db, store } = openServer();
const global = new mglobal(db, 'Later');
beforeEach(() => {
  db.delete('Later');
});

describe('a call with a callback', () => {
  it('returns null and gives the same answer as the call without', async () => {
    /** @type {[string, any[], string][]} */
    const calls = [
      ['set', ['a', 1, 'value'], '0'],
      ['get', ['a', 1], 'value'],
      ['defined', ['a'], '10'],
      ['next', ['a', ''], '1'],
      ['previous', ['a', ''], '1'],
      ['increment', ['n', '1.5'], '1.5'],
      ['lock', ['a', 0], '1'],
      ['unlock', ['a'], '1'],
      ['delete', ['a'], '0'],
    ];
    for (const [method, parameters, result] of calls) {
      for (const [target, first] of /** @type {[any, any[]][]} */ ([
        [db, ['Later']],
        [global, []],
      ])) {
        db.set('Later', 'a', 1, 'value');
        db.delete('Later', 'n');
        const answer = await callBack((callback) => target[method](...first, ...parameters, callback));
        assert.deepEqual(answer, { returned: null, isError: false, result }, method);
      }
    }
    assert.equal(db.geterrormessage(), '');
  });

  it('needs an argument before the callback, the name counting', async () => {
    db.set('Later', 'root');
    assert.equal((await callBack((callback) => db.get('Later', callback))).result, 'root');
    assert.throws(() => global.get(/** @type {any} */ (() => {})), withCode('ERR_ARG', /function/));
    assert.throws(() => db.get(/** @type {any} */ (() => {})), withCode('ERR_ARG'));
  });

  it('tells an error as (true, ""), and why in geterrormessage', async () => {
    for (const [call, message] of /** @type {[any, RegExp][]} */ ([
      [(/** @type {any} */ callback) => global.get('missing', callback), /no value/],
      [(/** @type {any} */ callback) => global.get('', callback), /empty string/],
      [(/** @type {any} */ callback) => global.set('', 'x', callback), /empty string/],
      [(/** @type {any} */ callback) => global.set('k'.repeat(2000), 'x', callback), /bytes/],
      [(/** @type {any} */ callback) => global.increment('n', 1e300, callback), /./],
      [(/** @type {any} */ callback) => global.increment('', 1, callback), /empty string/],
    ])) {
      assert.deepEqual(await callBack(call), { returned: null, isError: true, result: '' });
      assert.match(db.geterrormessage(), message);
    }
  });

  it('tells a failed lock as (false, "0")', async () => {
    const other = new server();
    other.open({ ...store });
    other.lock('Later', 1, 0);
    const answer = await callBack((callback) => global.lock(1, 0.05, callback));
    assert.deepEqual(answer, { returned: null, isError: false, result: '0' });
    other.close();
  });

  it('throws at once for wrong arguments, and does not call back', async () => {
    let called = 0;
    const count = () => {
      called += 1;
    };
    assert.throws(
      () => global.set(/** @type {any} */ (null), 'x', count),
      withCode('ERR_ARG', /set \^Later/),
    );
    assert.throws(() => global.set('a', /** @type {any} */ ({}), count), withCode('ERR_ARG'));
    assert.throws(() => global.get('\ud800', count), withCode('ERR_ARG'));
    await callBack((callback) => global.defined('a', callback));
    assert.equal(called, 0);
  });

  it('answers in call order', async () => {
    /** @type {string[]} */
    const order = [];
    const expected = [];
    for (let i = 0; i < 200; i++) {
      global.set('k', i, `${i}`, () => order.push(`set ${i}`));
      global.get('k', i, (_isError, result) => order.push(`get ${result}`));
      expected.push(`set ${i}`, `get ${i}`);
    }
    await callBack((callback) => global.get('k', callback));
    assert.deepEqual(order, expected);
  });

  it('keeps its own copy of what it was given', async () => {
    const bytes = new Uint8Array([65]);
    const done = callBack((callback) => global.set('bytes', bytes, callback));
    bytes[0] = 66;
    await done;
    assert.equal(global.get('bytes'), 'A');
  });

  it('leaves the event loop free for long deletes and long waits', async () => {
    db.tstart();
    for (let i = 0; i < 100_000; i++) db.set('Later', i, 'x');
    db.tcommit();
    const holder = new server();
    holder.open({ ...store });
    holder.lock('Later', 0);
    let turns = 0;
    let answered = 0;
    global.delete('nothing', () => {
      answered += 1;
    });
    const deleted = callBack((callback) => db.delete('Later', callback));
    const locked = callBack((callback) => global.lock('x', -1, callback));
    while (answered === 0) {
      turns += 1;
      await turn();
    }
    assert.ok(turns > 0);
    assert.equal((await deleted).isError, false);
    assert.equal(db.defined('Later'), '0');
    for (let i = 0; i < 20; i++) await turn();
    holder.unlock('Later');
    assert.equal((await locked).result, '1');
    holder.close();
    db.unlock('Later', 'x');
  });

  it('does not need the runtime’s pool, so that many may wait for one', async () => {
    const holder = new server();
    holder.open({ ...store });
    assert.equal(holder.lock('Later', 'pool', 0), '1');
    const waiters = Array.from({ length: 10 }, () => {
      const waiter = new server();
      waiter.open({ ...store });
      return waiter;
    });
    const waiting = waiters.map((waiter) =>
      callBack((callback) => waiter.lock('Later', 'pool', -1, callback)).then(({ result }) => {
        assert.equal(result, '1');
        return callBack((callback) => waiter.unlock('Later', 'pool', callback));
      }),
    );
    await callBack((callback) => holder.unlock('Later', 'pool', callback));
    await Promise.all(waiting);
    for (const each of [holder, ...waiters]) each.close();
  });

  it('inside a transaction belongs to it', async () => {
    db.tstart();
    const order = [];
    global.set('in', 'x', () => order.push('called'));
    assert.equal(global.get('in'), 'x', 'performed at once');
    order.push('returned');
    db.trollback();
    await callBack((callback) => global.get('in', callback));
    assert.deepEqual(order, ['returned', 'called']);
    assert.equal(global.get('in'), '');
  });

  it('shares the locks of its connection', async () => {
    assert.equal((await callBack((callback) => global.lock('mine', 0, callback))).result, '1');
    assert.equal(global.lock('mine', 0), '1');
    global.unlock('mine');
    const other = new server();
    other.open({ ...store });
    assert.equal(other.lock('Later', 'mine', 0), '0');
    assert.equal((await callBack((callback) => global.unlock('mine', callback))).result, '1');
    assert.equal(other.lock('Later', 'mine', 0), '1');
    other.close();
  });

  it('is done before close returns, but waits for nobody then', async () => {
    const own = new server();
    own.open({ ...store });
    const holder = new server();
    holder.open({ ...store });
    holder.lock('Later', 'held', 0);
    const written = callBack((callback) => own.set('Later', 'before', 'close', callback));
    const waiting = callBack((callback) => own.lock('Later', 'held', -1, callback));
    const behind = callBack((callback) => own.set('Later', 'behind', 'x', callback));
    own.close();
    assert.equal(global.get('before'), 'close');
    assert.equal((await written).isError, false);
    assert.equal((await waiting).isError, true);
    assert.equal((await behind).isError, true);
    assert.equal(holder.lock('Later', 'before', 0), '1');
    holder.close();
    own.open({ ...store });
    assert.equal((await callBack((callback) => own.get('Later', 'before', callback))).result, 'close');
    own.close();
  });

  it('of open answers later too', async () => {
    const own = new server();
    const opened = await callBack((callback) => own.open({ path: newFolder() }, callback));
    assert.equal(opened.returned, null);
    assert.equal(opened.isError, false);
    assert.equal(own.init, 1);
    own.close();
    const failed = await callBack((callback) => own.open({ path: '/dev/null/x' }, callback));
    assert.deepEqual(failed, { returned: null, isError: true, result: '' });
    assert.match(own.geterrormessage(), /\/dev\/null\/x/);
    own.close();
  });
});
