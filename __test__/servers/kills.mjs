// Kills workers at random while documents are written and read, and holds every answer to what was acknowledged: whatever a reply
// said is there afterwards, and no request fails that was not in a killed worker. As a program it does it for long:
//
//     node __test__/servers/kills.mjs 100
//
// is a hundred kills for each server and each mode; a second argument names one mode.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ask, SERVERS, startProgram, temporaryFolder } from './programs.mjs';

/** Clients at the same time; each owns its documents. */
const CLIENTS = 8;
const IDS = 40;

/** What ends a worker thread. */
const DEEDS = ['exit', 'late', 'lateRejection'];

/** What a request may be told whose worker was killed, and nothing else. */
const EXCUSE = 'The worker of this request ended before it was answered';

/** @param {number} ms */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** @param {number} below */
const chance = (below) => Math.floor(Math.random() * below);

/** @param {number} parent @returns {number[]} the processes that it has started */
function childrenOf(parent) {
  return readdirSync('/proc')
    .filter((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return Number(ppid) === parent && state !== 'Z';
      } catch {
        return false;
      }
    })
    .map(Number);
}

/**
 * What one client knows of its documents and attachments: all that may be found at a path. After an acknowledged write that is one
 * thing; a write whose worker was killed adds another.
 */
class Knowledge {
  constructor() {
    /** JSON text or the attachment's text; undefined is 404. @type {Map<string, Set<string | undefined>>} */
    this.possible = new Map();
  }

  /** @param {string} path */
  at(path) {
    return this.possible.get(path) ?? new Set([undefined]);
  }

  /** @param {string} path @param {string | undefined} content @param {boolean} acknowledged */
  written(path, content, acknowledged) {
    this.possible.set(path, acknowledged ? new Set([content]) : new Set([...this.at(path), content]));
  }

  /** @param {string} path @param {string | undefined} content */
  found(path, content) {
    assert.ok(
      this.at(path).has(content),
      `${path} is ${content}, and should be one of ${JSON.stringify([...this.at(path)])}`,
    );
    this.possible.set(path, new Set([content]));
  }
}

/** One server under load. */
class Attack {
  /** @param {import('./programs.mjs').Program} server */
  constructor(server) {
    this.server = server;
    this.over = false;
    /** Requests that were in a killed worker, with the method of each. @type {string[]} */
    this.excused = [];
    this.answered = 0;
    /** Milliseconds. */
    this.slowest = 0;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {Parameters<typeof ask>[3]} [options]
   * @returns {Promise<import('./programs.mjs').Answer | undefined>} undefined: its worker was killed
   */
  async ask(method, path, options) {
    const since = performance.now();
    const reply = await ask(this.server.port, method, path, options);
    this.slowest = Math.max(this.slowest, Math.round(performance.now() - since));
    if (reply.status < 500) {
      this.answered += 1;
      return reply;
    }
    assert.deepEqual([reply.status, reply.json], [500, { error: EXCUSE }], `${method} ${path}`);
    this.excused.push(`${method} ${path}`);
    return undefined;
  }

  /** @param {Knowledge} known @param {string} path */
  async read(known, path) {
    const reply = await this.ask('GET', path);
    if (reply === undefined) return false;
    assert.ok(reply.status === 200 || reply.status === 404, `GET ${path}: ${reply.status} ${reply.text}`);
    known.found(path, reply.status === 404 ? undefined : reply.text);
    return true;
  }

  /** @param {Knowledge} known @param {number} client @param {number} n */
  async write(known, client, n) {
    const path = `/documents/kills/${client}-${chance(IDS)}`;
    const file = `${path}/attachments/file`;
    const kind = chance(10);
    if (kind < 4) {
      const text = JSON.stringify({ n, text: 'x'.repeat(chance(2000)) });
      const headers = { 'content-type': 'application/json' };
      const reply = await this.ask('PUT', path, { headers, body: text });
      if (reply !== undefined) assert.ok([200, 201].includes(reply.status), `${reply.status} ${reply.text}`);
      known.written(path, text, reply !== undefined);
    } else if (kind < 6) {
      const made = Array.from({ length: 1 + chance(4) }, (_, i) => ({ id: `${client}-new-${n}-${i}`, n }));
      const reply = await this.ask('POST', '/documents/kills', { json: made });
      if (reply !== undefined) assert.equal(reply.status, 201, reply.text);
      for (const one of made)
        known.written(`/documents/kills/${one.id}`, JSON.stringify(one), reply !== undefined);
    } else if (kind < 7) {
      const reply = await this.ask('DELETE', path);
      if (reply !== undefined) assert.ok([204, 404].includes(reply.status), `${reply.status} ${reply.text}`);
      known.written(path, undefined, reply !== undefined);
      known.written(file, undefined, reply !== undefined);
    } else if (known.at(path).has(undefined)) {
      await this.read(known, path);
    } else {
      const body = `${n} `.repeat(1 + chance(30_000));
      const reply = await this.ask('PUT', file, { headers: { 'content-type': 'text/plain' }, body });
      if (reply !== undefined) assert.ok([200, 201].includes(reply.status), `${reply.status} ${reply.text}`);
      known.written(file, body, reply !== undefined);
    }
  }

  /** @param {number} client @returns {Promise<Knowledge>} */
  async load(client) {
    const known = new Knowledge();
    for (let n = 0; !this.over; n += 1) {
      await this.write(known, client, n);
      const paths = [...known.possible.keys()];
      if (paths.length > 0) await this.read(known, paths[chance(paths.length)]);
    }
    return known;
  }

  /** @param {number} kills */
  async killProcesses(kills) {
    for (let count = 0; count < kills; ) {
      await sleep(chance(400));
      const workers = childrenOf(/** @type {number} */ (this.server.process.pid));
      if (workers.length === 0) continue;
      try {
        process.kill(workers[chance(workers.length)], 'SIGKILL');
        count += 1;
      } catch {
        // One that was killed before was still in the list.
      }
    }
  }

  /** @param {number} kills */
  async endThreads(kills) {
    for (let count = 0; count < kills; count += 1) {
      await sleep(chance(100));
      const deed = DEEDS[count % DEEDS.length];
      const { status, text } = await ask(this.server.port, 'GET', `/fault?do=${deed}`);
      assert.equal(status, 500, text);
    }
  }
}

/**
 * @param {(typeof SERVERS)[number]} kind
 * @param {'threads' | 'processes'} mode
 * @param {number} kills
 * @returns {Promise<{answered: number, excused: number, read: number, slowest: number}>} how many requests were answered and how
 *   many paid for a killed worker, how many paths were read at the end, and the longest wait in milliseconds
 */
export async function attack({ runtime, program }, mode, kills) {
  const folder = temporaryFolder();
  const config = join(folder.path, 'config.json');
  const handlersFolder = fileURLToPath(new URL('fixtures', import.meta.url));
  const routes = [{ method: 'get', url: '/fault', handlerPath: 'faults.mjs' }];
  writeFileSync(config, JSON.stringify({ data: 'data', handlersFolder, routes }));
  const server = await startProgram(runtime, [
    program,
    '--port=0',
    `--mode=${mode}`,
    '--pool=3',
    `--config=${config}`,
  ]);
  const round = new Attack(server);
  const clients = Array.from({ length: CLIENTS }, (_, client) => round.load(client));
  try {
    await Promise.race([
      mode === 'threads' ? round.endThreads(kills) : round.killProcesses(kills),
      // A client that fails ends the round.
      Promise.all(clients),
    ]);
  } finally {
    round.over = true;
  }
  let read = 0;
  for (const known of await Promise.all(clients)) {
    for (const path of known.possible.keys()) {
      while (!(await round.read(known, path)));
      read += 1;
    }
  }
  assert.equal(await server.stop(), 0);
  folder.remove();
  // In a process, only what ran; a thread answers in order, and shares its end with nobody.
  const most = mode === 'threads' ? 0 : kills;
  assert.ok(round.excused.length <= most, `${kills} kills, and not answered: ${round.excused.join(', ')}`);
  return { answered: round.answered, excused: round.excused.length, read, slowest: round.slowest };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const kills = Number(process.argv[2] ?? 100);
  for (const kind of SERVERS.filter(({ skip }) => skip === false)) {
    for (const mode of /** @type {const} */ (['threads', 'processes'])) {
      if (process.argv[3] !== undefined && process.argv[3] !== mode) continue;
      console.log(kind.name, mode, { kills, ...(await attack(kind, mode, kills)) });
    }
  }
}
