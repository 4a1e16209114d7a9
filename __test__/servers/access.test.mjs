// The promises of the parts that decide who gets in: what a token is worth, how guessing is slowed down, how long a session and a
// body may take.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readStream } from '../../js/http/body.mjs';
import { localPath } from '../../js/http/login.mjs';
import { Attempts, FREE_ATTEMPTS, Sessions } from '../../js/http/sessions.mjs';
import { comparisonWith, isStrongEnough } from '../../js/http/token.mjs';
import { hideSecrets, inlineMessage } from '../../js/pool/log.mjs';

test('a token for others must be long and varied', () => {
  for (const weak of [
    '',
    'secret',
    'password12345678',
    'a'.repeat(100),
    'abababababababababab',
    '1234567890',
  ]) {
    assert.equal(isStrongEnough(weak), false, weak);
  }
  for (const strong of [
    '9f86d081884c7d659a2feaa0c55ad015',
    'h2Zc0sJq7vXn4TbLw9RdKf3M',
    '0b1c5f7e-33a9-4a0f-9d52-8a64ce27d1b3',
  ]) {
    assert.equal(isStrongEnough(strong), true, strong);
  }
});

test('a comparison takes texts of any length', () => {
  const isIt = comparisonWith('right');
  assert.deepEqual(['right', 'wrong', '', 'right ', 'r'.repeat(10_000)].map(isIt), [
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('an address may try again when its minute is over, and starts anew after a success', () => {
  let now = 0;
  const attempts = new Attempts(() => now);
  for (let count = 0; count < FREE_ATTEMPTS; count += 1) {
    assert.equal(attempts.waitFor('192.0.2.1'), 0);
    attempts.failed('192.0.2.1');
  }
  assert.equal(attempts.waitFor('192.0.2.1'), 60);
  assert.equal(attempts.waitFor('::ffff:192.0.2.1'), 60);
  assert.equal(attempts.waitFor('192.0.2.2'), 0);
  now = 59_500;
  assert.equal(attempts.waitFor('192.0.2.1'), 1);
  now = 60_001;
  assert.equal(attempts.waitFor('192.0.2.1'), 0);
  attempts.failed('192.0.2.1');
  assert.equal(attempts.waitFor('192.0.2.1'), 0);
  attempts.succeeded('192.0.2.1');
});

test('addresses of one IPv6 network count together, and others apart', () => {
  const attempts = new Attempts(() => 0);
  for (let host = 1; host <= FREE_ATTEMPTS; host += 1) attempts.failed(`2001:db8:1:2::${host}`);
  assert.ok(attempts.waitFor('2001:db8:1:2:a:b:c:d') > 0);
  assert.equal(attempts.waitFor('2001:db8:1:3::1'), 0);
  assert.equal(attempts.waitFor('::1'), 0);
});

test('the memory of attempts and of sessions is bounded', () => {
  const attempts = new Attempts(() => 0);
  for (let index = 0; index < 20_000; index += 1) attempts.failed(`10.${index >> 8}.${index & 255}.1`);
  assert.ok(attempts.byAddress.size <= 10_000);
  const sessions = new Sessions();
  const first = sessions.begin();
  assert.ok(sessions.has(first));
  for (let index = 0; index < 1000; index += 1) sessions.begin();
  assert.equal(sessions.has(first), false, 'the oldest ended');
  assert.ok(sessions.ends.size <= 1000);
});

test('a session ends when it is over', () => {
  const sessions = new Sessions();
  const secret = sessions.begin();
  for (const [key] of sessions.ends) sessions.ends.set(key, Date.now() - 1);
  assert.equal(sessions.has(secret), false);
  assert.equal(sessions.ends.size, 0);
  for (const none of [undefined, '', 'x']) assert.equal(sessions.has(none), false);
});

test('the way after a login stays on this server', () => {
  for (const [next, path] of [
    ['/a?b=c', '/a?b=c'],
    ['//x', '/'],
    ['/\\x', '/'],
    ['/a\\b', '/'],
    ['http://x', '/'],
    [7, '/'],
    ['/logout', '/'],
  ]) {
    assert.equal(localPath(next), path);
  }
});

test('a body that takes too long is 408, one that is too large 413, one that breaks off 400', async () => {
  /** @param {() => AsyncGenerator<Uint8Array>} source @param {number} [length] */
  const failure = async (source, length) => {
    const error = await readStream(source(), length, 10, 20).then(
      () => assert.fail('it was read'),
      (reason) => reason,
    );
    return error.statusCode;
  };
  assert.equal(
    await failure(async function* () {
      yield Buffer.from('a');
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }),
    408,
  );
  const large = async function* () {
    for (;;) yield Buffer.from('aaaa');
  };
  assert.equal(await failure(large), 413);
  assert.equal(await failure(large, 11), 413);
  assert.equal(
    await failure(async function* () {
      yield Buffer.from('a');
      throw new Error('aborted');
    }),
    400,
  );
});

test('secrets are hidden wherever a line has them', () => {
  const token = 'b7Vd2MxQz9LrT4sWk8HnJ3cY';
  for (const text of [
    `failed: ${token}`,
    'GET /a?token=hidden-one&x=1',
    'GET /a?x=1&access_token=hidden-one',
    'api_key=hidden-one',
    'Authorization: Bearer hidden-one',
    'Basic hidden-one',
  ]) {
    const shown = hideSecrets(text, token);
    assert.ok(!shown.includes('hidden-one') && !shown.includes(token), shown);
  }
  assert.equal(hideSecrets('GET /a?x=1&y=2'), 'GET /a?x=1&y=2');
  const line = inlineMessage({
    type: 'a',
    data: {
      headers: { authorization: 'hidden-one', accept: 'x' },
      cookies: { session: 'hidden-one' },
      query: { token: 'hidden-one', x: '1' },
      body: { password: 'hidden-one', name: 'Rob' },
    },
  });
  assert.ok(!line.includes('hidden-one'), line);
  assert.ok(line.includes('"name": "Rob"') && line.includes('"x": "1"'));
});
