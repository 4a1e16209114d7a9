// A sample of `npm run stress`.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { stress } from './stress.mjs';

it('threads and processes work on one store, and killed ones hurt nobody', async () => {
  const { kills: _, ...done } = await stress({ seconds: 4 });
  for (const [kind, count] of Object.entries(done)) assert.ok(count > 0, `no ${kind} was done`);
});
