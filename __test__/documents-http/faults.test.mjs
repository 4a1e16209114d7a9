// The promise about a disk that does not take what it is given: the caller learns that the server is to blame, not his request, and
// what was there before stays.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemFailure } from '../../js/failure.mjs';
import { open } from '../../js/index.mjs';
import { replyOfError } from '../../js/pool/reply.mjs';
import { temporaryFolder } from '../servers/programs.mjs';
import { onBothServers } from './both.mjs';

/** What is written whole, and what is written piece by piece. */
const LARGE = [200_000, 1_200_000].map((size) => Buffer.alloc(size, 'new'));

test('a full disk is ERR_DISK_FULL, and 507 for a caller', { skip: !existsSync('/dev/full') }, async () => {
  const file = await openFile('/dev/full', 'w');
  const error = await file.writeFile('x').catch((/** @type {any} */ reason) => reason);
  await file.close();
  const told = systemFailure(error, 'attachments', '/dev/full');
  assert.equal(told.code, 'ERR_DISK_FULL');
  assert.match(told.message, /no space left for \/dev\/full: free some disk space/);
  assert.equal(told.cause, error);
  assert.equal(replyOfError(told).statusCode, 507);
});

/** @param {string} folder a store, whose files of attachments cannot be written from now on */
function breakFiles(folder) {
  for (const name of ['uploads', 'attachments']) {
    rmSync(join(folder, name), { recursive: true, force: true });
    writeFileSync(join(folder, name), 'in the way');
  }
}

test('a program gets ERR_IO, and an error of its own source as it is', async () => {
  const folder = temporaryFolder();
  mkdirSync(folder.path, { recursive: true });
  const db = open(folder.path);
  try {
    await db.attachments.put('notes', 1, 'a', 'old');
    const broken = new Error('the source broke off');
    for (const bytes of LARGE) {
      const source = (async function* () {
        yield bytes;
        throw broken;
      })();
      await assert.rejects(db.attachments.put('notes', 1, 'a', source), (error) => error === broken);
    }
    breakFiles(folder.path);
    for (const bytes of LARGE)
      await assert.rejects(db.attachments.put('notes', 1, 'a', bytes), { code: 'ERR_IO' });
    assert.equal(Buffer.from((await db.attachments.get('notes', 1, 'a')?.bytes()) ?? []).toString(), 'old');
  } finally {
    db.close();
    folder.remove();
  }
});

onBothServers('a disk that fails', (site) => {
  test('uploads, in a form too, are 500, and leave the old bytes', async () => {
    const path = '/documents/notes/1/attachments/a';
    await site.ask('PUT', path, { body: 'old' });
    breakFiles(site.folder);
    for (const body of LARGE) {
      assert.equal((await site.ask('PUT', path, { body })).status, 500);
      const form =
        '--x\r\ncontent-disposition: form-data; name="document"\r\n\r\n{"id":"2"}\r\n' +
        `--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n${body}\r\n--x--\r\n`;
      const headers = { 'content-type': 'multipart/form-data; boundary=x' };
      assert.equal((await site.ask('POST', '/documents/notes', { headers, body: form })).status, 500);
      assert.equal((await site.ask('GET', '/documents/notes/2')).status, 404);
      assert.equal((await site.ask('GET', path)).text, 'old');
    }
    assert.match(site.output(), /cannot make .*attachments/);
    assert.match(site.output(), /attachments: .*uploads/);
    assert.equal((await site.ask('PUT', path, { body: 'few' })).status, 200);
  });
});
