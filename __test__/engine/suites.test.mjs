// The suites of the faces that know one store only, as whole files on the other engines. An engine is the same on every
// runtime, so of several the first runs all of them and the others a sample.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { missing, newStore } from '../real/engines.mjs';
import { currentRuntime } from '../runner/runtimes.mjs';
import { isSample } from '../runner/sample.mjs';
import { runSuite } from '../runner/suite.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Files about what one engine alone has, and files that name the engines themselves. */
const OTHERS = ['mg-dbx/opening', 'mg-dbx/fuzz'];
/** With a timeout of 10 ms, which a server may need for its answer. */
const HASTY = ['mg-dbx/hostile'];
/** What every runtime runs. */
const SAMPLE = ['glsdb/documents', 'mg-dbx/global', 'mg-dbx/callback'];

/** @param {string} room @param {string} engine */
function filesOf(room, engine) {
  const left = engine === 'postgres' ? [...OTHERS, ...HASTY] : OTHERS;
  const names = readdirSync(new URL(`../${room}/`, import.meta.url))
    .filter((name) => name.endsWith('.test.mjs'))
    .map((name) => `${room}/${name.replace('.test.mjs', '')}`);
  const chosen = isSample ? SAMPLE : names;
  return names
    .filter((name) => chosen.includes(name) && !left.includes(name))
    .map((name) => fileURLToPath(new URL(`../${name}.test.mjs`, import.meta.url)));
}

for (const engine of /** @type {const} */ (['sled', 'postgres'])) {
  describe(`the suites of all faces on ${engine}`, { skip: missing(engine) }, () => {
    for (const room of ['glsdb', 'mg-dbx']) {
      it(room, async () => {
        const { url } = newStore(engine);
        const before = { ...process.env };
        process.env.CARETDB_TEST_ENGINE = engine;
        if (url !== undefined) process.env.CARETDB_TEST_POSTGRES = url.replace(/\?.*/, '');
        // What a runner tells its files would make the inner one report to it.
        delete process.env.NODE_TEST_CONTEXT;
        const { passed, failed } = await runSuite(currentRuntime(), filesOf(room, engine), { cwd: root });
        for (const name of ['CARETDB_TEST_ENGINE', 'CARETDB_TEST_POSTGRES', 'NODE_TEST_CONTEXT']) {
          if (before[name] === undefined) delete process.env[name];
          else process.env[name] = before[name];
        }
        assert.equal(failed, 0);
        assert.ok(passed > 0);
      });
    }
  });
}
