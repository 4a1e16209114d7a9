// The key/value workload: `^keyvalue(n)="hello world"` for n = 1…N. Every loop is written out, so that a peer's call is
// compiled into it and no shared function stands between.
//
// A store has `set(n, value)` and `get(n)`, and may have `next(n)` (`''` before the first and after the last), `keys()`,
// `increment()` and `load(numbers, value)`, which writes many records in one transaction. With `waits` true, `set`, `next` and
// `increment` answer promises.

import { shuffled, wrongRecord } from '../run/check.mjs';

/** Between two looks at the clock. */
const STRETCH = 256;

/**
 * @typedef {{ records: number, value: string, budget: number }} Settings
 */

/** @param {number} seconds @returns {() => boolean} */
function clock(seconds) {
  const end = performance.now() + seconds * 1000;
  return () => performance.now() > end;
}

/** @param {string} name @param {Uint32Array} numbers @param {Settings} settings */
const setStep = (name, numbers, { value, budget }) => ({
  name,
  /** @param {any} store */
  run(store) {
    if (store.waits) return setWaiting(store, numbers, value, budget);
    const late = clock(budget);
    const count = numbers.length;
    for (let at = 0; at < count; at++) {
      store.set(numbers[at], value);
      if (at % STRETCH === 0 && late()) return at + 1;
    }
    return count;
  },
  /** @param {any} store @param {number} done */
  async finish(store, done) {
    // What a slow peer did not reach within its time is put in at once, untimed, so that its reads have all records.
    if (done < numbers.length) await store.load(numbers.subarray(done), value);
  },
});

/** @param {any} store @param {Uint32Array} numbers @param {string} value @param {number} budget */
async function setWaiting(store, numbers, value, budget) {
  const late = clock(budget);
  for (let at = 0; at < numbers.length; at++) {
    await store.set(numbers[at], value);
    if (at % STRETCH === 0 && late()) return at + 1;
  }
  return numbers.length;
}

/** @param {string} name @param {Uint32Array} numbers @param {Settings} settings */
const getStep = (name, numbers, { value, budget }) => ({
  name,
  /** @param {any} store */
  run(store) {
    const late = clock(budget);
    const count = numbers.length;
    for (let at = 0; at < count; at++) {
      const n = numbers[at];
      const found = store.get(n);
      if (found !== value) throw wrongRecord(n, found);
      if (at % STRETCH === 0 && late()) return at + 1;
    }
    return count;
  },
});

/** @param {Settings} settings */
const nextStep = ({ records, budget }) => ({
  name: 'next',
  needs: ['next'],
  /** @param {any} store */
  async run(store) {
    if (store.waits) return nextWaiting(store, budget);
    let count = 0;
    const late = clock(budget);
    for (let n = store.next(''); n !== ''; n = store.next(n)) {
      count++;
      if (Number(n) !== count) throw wrongRecord(count, n);
      if (count % STRETCH === 0 && late()) return count;
    }
    if (count !== records) throw new Error(`next found ${count} records instead of ${records}`);
    return count;
  },
});

/** @param {any} store @param {number} budget */
async function nextWaiting(store, budget) {
  let count = 0;
  const late = clock(budget);
  for (let n = await store.next(''); n !== ''; n = await store.next(n)) {
    count++;
    if (Number(n) !== count) throw wrongRecord(count, n);
    if (count % STRETCH === 0 && late()) return count;
  }
  return count;
}

/** @param {Settings} settings */
const keysStep = ({ records }) => ({
  name: 'keys',
  needs: ['keys'],
  /** @param {any} store */
  async run(store) {
    let count = 0;
    let sum = 0;
    const keys = store.keys();
    if (keys[Symbol.iterator] === undefined) {
      for await (const key of keys) {
        count++;
        sum += Number(key);
      }
    } else {
      for (const key of keys) {
        count++;
        sum += Number(key);
      }
    }
    if (count !== records || sum !== (records * (records + 1)) / 2) {
      throw new Error(`${count} keys with the sum ${sum} instead of ${records} keys`);
    }
    return count;
  },
});

/** @param {Settings} settings */
const incrementStep = ({ records, budget }) => ({
  name: 'increment',
  needs: ['increment'],
  /** @param {any} store */
  async run(store) {
    const late = clock(budget);
    let last;
    for (let at = 1; at <= records; at++) {
      last = store.waits ? await store.increment() : store.increment();
      if (at % STRETCH === 0 && late()) return checkCounter(last, at);
    }
    return checkCounter(last, records);
  },
});

/** @param {unknown} last @param {number} count */
function checkCounter(last, count) {
  if (Number(last) !== count) throw new Error(`the counter is ${last} instead of ${count}`);
  return count;
}

/** Looks at every tenth record, untimed, where no step that reads follows. @param {any} store @param {Settings} settings */
function checkTenth(store, { records, value }) {
  for (let n = 1; n <= records; n += 10) {
    if (store.get(n) !== value) throw wrongRecord(n, store.get(n));
  }
}

/** @param {number} records */
function ascending(records) {
  return Uint32Array.from({ length: records }, (_, at) => at + 1);
}

/** What is measured on a fresh folder each: steps in order, later ones on what earlier ones wrote. */
export const parts = {
  /** @param {Settings} settings */
  sequential(settings) {
    const numbers = ascending(settings.records);
    return [
      setStep('set', numbers, settings),
      getStep('get', numbers, settings),
      getStep('get, random', shuffled(settings.records), settings),
      nextStep(settings),
      keysStep(settings),
      incrementStep({ ...settings, records: Math.min(settings.records, 200_000) }),
    ];
  },
  /** @param {Settings} settings */
  random(settings) {
    const numbers = shuffled(settings.records);
    const set = setStep('set, random', numbers, settings);
    return [
      {
        ...set,
        /** @param {any} store @param {number} done */
        async finish(store, done) {
          await set.finish(store, done);
          checkTenth(store, settings);
        },
      },
    ];
  },
  /** @param {Settings} settings */
  transaction(settings) {
    const numbers = ascending(settings.records);
    return [
      {
        name: 'set, one transaction',
        needs: ['load'],
        /** @param {any} store */
        async run(store) {
          await store.load(numbers, settings.value);
          return numbers.length;
        },
        /** @param {any} store */
        finish: (store) => checkTenth(store, settings),
      },
    ];
  },
};
