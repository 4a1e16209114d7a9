// `caretdb copy` moves a whole store between engines, proves it, and leaves nothing half-copied without a mark.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { open } from 'caretdb';
import { newFolder } from '../mg-dbx/store.mjs';
import { newUrls, skip } from '../real/postgres.mjs';

const CLI = fileURLToPath(new URL('../../js/cli.mjs', import.meta.url));

/** @param {...string} args */
function copy(...args) {
  const { status, stdout, stderr } = spawnSync('node', [CLI, 'copy', ...args], { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

/** @param {string} place @param {any} [engine] */
function fill(place, engine) {
  const db = open(place, engine === undefined ? {} : { engine });
  const person = db.global('Person');
  person.createIndex('city', ['city']);
  for (let id = 1; id <= 300; id++)
    person.setDocument(id, { city: id % 2 ? 'Redhill' : 'Leeds', text: 'x'.repeat(id) });
  db.global('bytes').set(1, new Uint8Array([0, 1, 255]));
  db.global('large').set('é'.repeat(2_000_000));
  db.close();
}

/** @param {string} place @param {any} [engine] */
function check(place, engine) {
  const db = open(place, engine === undefined ? {} : { engine });
  const person = db.global('Person');
  assert.equal(person.count(), 300);
  assert.deepEqual(person.getDocument(299), { city: 'Redhill', text: 'x'.repeat(299) });
  assert.equal([...person.find('city', { equals: 'Leeds' })].length, 150);
  person.setDocument(301, { city: 'Leeds' });
  assert.equal([...person.find('city', { equals: 'Leeds' })].length, 151, 'the index goes on');
  person.delete(301);
  assert.deepEqual(db.global('bytes').get(1), new Uint8Array([0, 1, 255]));
  assert.equal(db.global('large').get()?.toString().length, 2_000_000);
  db.close();
}

describe('a copy between folders', () => {
  it('goes from lmdb to sled and back, and compares both', () => {
    const [from, over, back] = [newFolder(), join(newFolder(), 'sled'), join(newFolder(), 'back')];
    fill(from);
    const there = copy('--from', from, '--to', over, '--to-engine', 'sled');
    assert.equal(there.status, 0, there.said);
    assert.match(there.said, /entries copied and compared/);
    check(over, 'sled');
    assert.equal(copy('--from', over, '--to', back).status, 0);
    check(back);
  });

  it('refuses a target that holds something, and one that is the source', () => {
    const [from, to] = [newFolder(), newFolder()];
    fill(from);
    const other = open(to);
    other.global('mine').set(1, 'stays');
    other.close();
    const refused = copy('--from', from, '--to', to);
    assert.equal(refused.status, 3);
    assert.match(refused.said, /not empty.*--replace/);
    const still = open(to);
    assert.equal(still.global('mine').get(1), 'stays');
    still.close();
    assert.equal(copy('--from', from, '--to', to, '--replace').status, 0);
    check(to);
    assert.equal(copy('--from', from, '--to', `${from}/.`).status, 2);
    assert.equal(copy('--from', join(from, 'nowhere'), '--to', to).status, 3);
  });
});

describe('a copy to a server', { skip }, () => {
  /** @type {() => string} */
  let newUrl;
  before(async () => {
    newUrl = await newUrls();
  });

  it('goes there and back', () => {
    const [from, url, back] = [newFolder(), newUrl(), join(newFolder(), 'back')];
    fill(from);
    const there = copy('--from', from, '--to', url.replace('caretdb@', 'caretdb:tops3cret@'), '--json');
    assert.equal(there.status, 0, there.said);
    assert.doesNotMatch(there.said, /s3cret/);
    check(url);
    assert.equal(copy('--from', url, '--to', back).status, 0);
    check(back);
  });

  it('that was cut short is recognised, and begun anew where that is asked for', () => {
    const [from, url] = [newFolder(), newUrl()];
    fill(from);
    // Killed as soon as the first entries are there.
    const killed = spawnSync(
      'node',
      [
        '--input-type=module',
        '-e',
        `import { addon } from ${JSON.stringify(new URL('../../js/addon.mjs', import.meta.url).href)};
         const target = new addon.server();
         target.open({ path: ${JSON.stringify(url)} });
         target.beginCopy('from a test');
         process.kill(process.pid, 'SIGKILL');`,
      ],
      { encoding: 'utf8' },
    );
    assert.equal(killed.signal, 'SIGKILL', killed.stderr);
    const refused = copy('--from', from, '--to', url);
    assert.equal(refused.status, 3);
    assert.match(refused.said, /has not come to its end \(from a test\).*--replace/);
    assert.equal(copy('--from', from, '--to', url, '--replace').status, 0);
    check(url);
    const db = open(url);
    after(() => db.close());
    assert.equal(db.global('%caretdb').has('copy'), false, 'the mark is gone');
  });
});
