// The promise that no request which the OpenAPI document allows, or nearly allows, is a fault of the server: schemathesis makes them up
// from the document. A longer run: EXAMPLES=200 node --test __test__/documents-http/schemathesis.test.mjs

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { findSchemathesis } from '../real/schemathesis.mjs';
import { onBothServers } from './both.mjs';

const schemathesis = findSchemathesis();
const EXAMPLES = process.env.EXAMPLES ?? '3';

onBothServers('schemathesis', (site) => {
  test('finds no server error', { skip: schemathesis.skip, timeout: 600_000 }, async () => {
    const args = ['run', `http://127.0.0.1:${site.port}/openapi.json`, '--checks', 'not_a_server_error'];
    // A benchmark is meant to keep the server busy for as long as it is told.
    args.push(
      '--exclude-path-regex',
      'benchmark',
      '--max-examples',
      EXAMPLES,
      '--phases',
      'examples,coverage,fuzzing',
    );
    const child = spawn(String(schemathesis.path), args, {
      cwd: tmpdir(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    const [status] = await once(child, 'close');
    assert.equal(status, 0, output);
    assert.doesNotMatch(site.output(), /Error/);
  });
});
