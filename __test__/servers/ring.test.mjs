// The promise of the ring: what was written is read, whole, once and in order, whatever sizes it has, wherever it falls, also by
// another thread; where there is no room nothing is written.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createRing, Ring } from '../../js/pool/ring.mjs';

/** @param {Ring} reader */
function allOf(reader) {
  /** @type {[number, number, string][]} */
  const records = [];
  reader.read((first, second, text) => void records.push([first, second, text]));
  return records;
}

test('records of all sizes come out as they went in, round after round', () => {
  const writer = createRing(8192);
  const reader = new Ring(writer.memory);
  /** @type {[number, number, string][]} */
  const expected = [];
  /** @type {[number, number, string][]} */
  const read = [];
  const letters = ['a', 'ä', '€', '😀', '\0'];
  for (let index = 0; index < 5000; index += 1) {
    const text = letters[index % letters.length].repeat((index * 37) % 200);
    if (!writer.write(index, 7 - index, text)) {
      read.push(...allOf(reader));
      assert.ok(writer.write(index, 7 - index, text));
    }
    expected.push([index, 7 - index, text]);
  }
  read.push(...allOf(reader));
  assert.deepEqual(read, expected);
});

test('bytes come with a text or alone, as many as there were, and are the reader’s own', () => {
  const writer = createRing(8192);
  const reader = new Ring(writer.memory);
  /** @type {[string, number[] | undefined][]} */
  const expected = [];
  /** @type {[string, Buffer | undefined][]} */
  const read = [];
  const take = () => reader.read((_first, _second, text, bytes) => void read.push([text, bytes]));
  for (let index = 0; index < 3000; index += 1) {
    const text = 'ä'.repeat(index % 7);
    const bytes =
      index % 5 === 0 ? undefined : new Uint8Array((index * 31) % 150).map((_, place) => index + place);
    if (!writer.write(index, 0, text, bytes)) {
      take();
      assert.ok(writer.write(index, 0, text, bytes));
    }
    expected.push([text, bytes && [...bytes]]);
  }
  take();
  // By now the ring has been written over many times.
  assert.deepEqual(
    read.map(([text, bytes]) => [text, bytes && [...bytes]]),
    expected,
  );
  assert.equal(writer.write(1, 0, 'x', new Uint8Array(5000)), false);
});

test('the numbers of bytes may wrap around', () => {
  const writer = createRing(8192);
  const reader = new Ring(writer.memory);
  const nearTheEnd = 2 ** 31 - 4096;
  writer.at = nearTheEnd;
  reader.at = nearTheEnd;
  writer.front.fill(nearTheEnd, 0, 2);
  for (let index = 0; index < 200; index += 1) {
    assert.ok(writer.write(index, 0, 'x'.repeat(60)));
    assert.deepEqual(allOf(reader), [[index, 0, 'x'.repeat(60)]]);
  }
  assert.ok(writer.at < 0);
});

test('a text that is too large or finds no room is refused, and leaves room for records without one', () => {
  const writer = createRing(16_384);
  const reader = new Ring(writer.memory);
  assert.equal(writer.write(1, 0, 'x'.repeat(5000)), false);
  let written = 0;
  while (writer.write(written, 0, 'x'.repeat(300))) written += 1;
  assert.ok(written > 5);
  for (let index = 0; index < 64; index += 1) assert.ok(writer.write(index, 1));
  assert.equal(allOf(reader).length, written + 64);
  assert.ok(writer.write(7, 0, 'x'.repeat(300)));
});

test('a record that the reader does not take stays, and is read by the next look', () => {
  const writer = createRing(8192);
  const reader = new Ring(writer.memory);
  writer.write(1, 0, 'one');
  writer.write(2, 0, 'two');
  /** @type {number[]} */
  const seen = [];
  reader.read((first) => {
    seen.push(first);
    return first !== 2;
  });
  assert.deepEqual(seen, [1, 2]);
  assert.equal(reader.rest(), false);
  assert.deepEqual(allOf(reader), [[2, 0, 'two']]);
  assert.equal(reader.rest(), true);
});

test('the bell is needed once, until the reader rests again', () => {
  const writer = createRing(8192);
  const reader = new Ring(writer.memory);
  writer.write(1, 0, 'one');
  assert.equal(writer.needsBell(), true);
  writer.write(2, 0, 'two');
  assert.equal(writer.needsBell(), false);
  assert.equal(allOf(reader).length, 2);
  assert.equal(reader.rest(), true);
  writer.write(3, 0, 'three');
  assert.equal(writer.needsBell(), true);
});

test('another thread gets all of it, and nothing is lost between its rest and the bell', async () => {
  const writer = createRing(8192);
  const count = 20_000;
  const source = `
    import { parentPort, workerData } from 'node:worker_threads';
    const { Ring } = await import(workerData.module);
    const ring = new Ring(workerData.memory);
    let next = 0;
    parentPort.on('message', () => {
      do ring.read((first, second, text) => {
        if (first !== next || text !== 'x'.repeat(first % 90)) throw new Error('not the next record: ' + first);
        next += 1;
      });
      while (!ring.rest());
      if (next === workerData.count) { parentPort.postMessage(next); parentPort.close(); }
    });`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {
    workerData: {
      module: new URL('../../js/pool/ring.mjs', import.meta.url).href,
      memory: writer.memory,
      count,
    },
  });
  const done = new Promise((resolve, reject) => {
    worker.on('message', resolve);
    worker.on('error', reject);
  });
  for (let index = 0; index < count; ) {
    if (writer.write(index, 0, 'x'.repeat(index % 90))) index += 1;
    else await new Promise((resolve) => setImmediate(resolve));
    if (writer.needsBell()) worker.postMessage(null);
  }
  assert.equal(await done, count);
  await worker.terminate();
});
