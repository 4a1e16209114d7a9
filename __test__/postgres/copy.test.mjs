// `caretdb copy` moves a whole store between engines, proves it, and leaves nothing half-copied without a mark.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
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

/** The bytes of attachments: a node's, and those of a file of several pieces where the engine keeps files. */
const ATTACHED = new Map([
  ['small', new Uint8Array(1000).fill(1)],
  ['large', Uint8Array.from({ length: 1_300_001 }, (_, at) => (at * 7) % 251)],
]);

/** @param {string} place @param {any} [engine] */
async function fill(place, engine) {
  const db = open(place, engine === undefined ? {} : { engine });
  const person = db.global('Person');
  person.createIndex('city', ['city']);
  for (let id = 1; id <= 300; id++)
    person.setDocument(id, { city: id % 2 ? 'Redhill' : 'Leeds', text: 'x'.repeat(id) });
  db.global('bytes').set(1, new Uint8Array([0, 1, 255]));
  db.global('large').set('é'.repeat(2_000_000));
  for (const [name, bytes] of ATTACHED)
    await db.attachments.put('Person', 1, name, bytes, { type: 'image/png' });
  // Replaced, so that there is something that no attachment refers to.
  await db.attachments.put('Person', 2, 'large', new Uint8Array(400_000));
  await db.attachments.put('Person', 2, 'large', new Uint8Array(300_000));
  db.close();
}

/** @param {string} place @param {any} [engine] */
async function check(place, engine) {
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
  for (const [name, bytes] of ATTACHED) {
    const attachment = db.attachments.get('Person', 1, name);
    assert.equal(attachment?.type, 'image/png');
    assert.deepEqual(await attachment?.bytes(), bytes);
  }
  const { attachments, problems } = await db.attachments.verify();
  assert.deepEqual([attachments, problems], [3, []]);
  assert.equal((await db.attachments.collect({ grace: 0 })).busy, false, 'the copy has let the source go');
  assert.deepEqual(await db.attachments.get('Person', 2, 'large')?.bytes(), new Uint8Array(300_000));
  db.close();
}

describe('a copy between folders', () => {
  it('goes from lmdb to sled and back, and compares both', async () => {
    const [from, over, back] = [newFolder(), join(newFolder(), 'sled'), join(newFolder(), 'back')];
    await fill(from);
    const there = copy('--from', from, '--to', over, '--to-engine', 'sled');
    assert.equal(there.status, 0, there.said);
    assert.match(there.said, /entries, 3 attachments with 1,601,001 bytes copied and compared/);
    await check(over, 'sled');
    assert.equal(copy('--from', over, '--to', back).status, 0);
    await check(back);
  });

  it('keeps attachments as files from folder to folder, and begins anew over what was cut short', async () => {
    const [from, to] = [newFolder(), join(newFolder(), 'there')];
    await fill(from);
    const said = copy('--from', from, '--to', to, '--json');
    assert.equal(said.status, 0, said.said);
    const { entries, attachments, bytes } = JSON.parse(said.said);
    assert.ok(entries > 600);
    assert.deepEqual([attachments, bytes], [3, 1_601_001]);
    // A copy that ends in the midst of a file has some of its bytes there.
    const [folder] = readdirSync(join(to, 'attachments'));
    const [key] = readdirSync(join(to, 'attachments', folder));
    mkdirSync(join(to, 'uploads'), { recursive: true });
    writeFileSync(join(to, 'uploads', key), 'the beginning');
    assert.equal(copy('--from', from, '--to', to, '--replace').status, 0);
    await check(to);
    await check(from);
  });

  it('says so when a file of the source is missing, and leaves the mark', async () => {
    const [from, to] = [newFolder(), newFolder()];
    await fill(from);
    rmSync(join(from, 'attachments'), { recursive: true });
    const failed = copy('--from', from, '--to', to);
    assert.equal(failed.status, 3);
    assert.match(failed.said, /attachments.*\(ERR_IO\)/);
    assert.match(copy('--from', from, '--to', to).said, /has not come to its end/);
  });

  it('refuses a target that holds something, and one that is the source', async () => {
    const [from, to] = [newFolder(), newFolder()];
    await fill(from);
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
    await check(to);
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

  it('goes there and back', async () => {
    const [from, url, back] = [newFolder(), newUrl(), join(newFolder(), 'back')];
    await fill(from);
    const there = copy('--from', from, '--to', url.replace('caretdb@', 'caretdb:tops3cret@'), '--json');
    assert.equal(there.status, 0, there.said);
    assert.doesNotMatch(there.said, /s3cret/);
    await check(url);
    assert.equal(copy('--from', url, '--to', back).status, 0);
    await check(back);
  });

  it('that was cut short is recognised, and begun anew where that is asked for', async () => {
    const [from, url] = [newFolder(), newUrl()];
    await fill(from);
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
    await check(url);
    const db = open(url);
    after(() => db.close());
    assert.equal(db.global('%caretdb').has('copy'), false, 'the mark is gone');
  });
});
