// The promise of attachments that are larger than memory: neither server holds a body, going up or coming back. A process whose heap is
// small takes 64 MB and gives them back, and its memory grows by less than they are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SERVERS } from '../servers/programs.mjs';
import { throughServer } from './large-attachment.mjs';

const SIZE = 64_000_000;
const notLinux =
  process.platform !== 'linux' && 'SKIPPED: only Linux tells the most memory that a process had';

for (const { name, runtime, program, skip } of SERVERS) {
  test(`64 MB through ${name} take little memory`, { skip: skip || notLinux }, async () => {
    // Bun has no limit for the heap; there the memory of the whole process is what is looked at.
    const heap = name === 'Fastify' ? 64 : undefined;
    const { before, peak } = await throughServer({ path: runtime, program, size: SIZE, heap });
    const grown = peak - before;
    assert.ok(grown < SIZE, `the process grew by ${grown} bytes, from ${before}`);
  });
}
