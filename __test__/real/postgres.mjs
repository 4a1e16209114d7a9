// PostgreSQL servers of the tests' own, from Debian's package: on loopback, on free ports, in folders that go with them.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { debianProgram } from './debian.mjs';
import { freePort } from './port.mjs';

const initdb = debianProgram({ package: 'postgresql', programs: ['/usr/lib/postgresql/*/bin/initdb'] });

/** The reason to skip what needs PostgreSQL; false where it is there. @type {string | false} */
export const skip = initdb.skip;

const programs = dirname(initdb.path ?? '');

/** PostgreSQL does not run as root: who runs it, where this is root. */
export const user = process.getuid?.() === 0 ? userOf('postgres', 'nobody') : undefined;

/** @param {...string} names @returns {{ uid: number, gid: number } | undefined} the first of these users that is there */
function userOf(...names) {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of names) {
    const fields = lines.find((line) => line.startsWith(`${name}:`))?.split(':');
    if (fields !== undefined) return { uid: Number(fields[2]), gid: Number(fields[3]) };
  }
  return undefined;
}

/**
 * @param {string} program one of PostgreSQL's
 * @param {string[]} args
 * @returns {[string, string[]]} what runs it as the right user; not every runtime can by itself
 */
function command(program, args) {
  const path = join(programs, program);
  if (user === undefined) return [path, args];
  return ['setpriv', [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', path, ...args]];
}

/**
 * Runs one of PostgreSQL's programs to its end.
 *
 * @param {string} program
 * @param {string[]} args
 * @returns {string} what it printed
 */
function run(program, args) {
  const done = spawnSync(...command(program, args), { cwd: '/', encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${done.error ?? done.stderr}`);
  return done.stdout;
}

let tables = 0;

/** One server that runs. */
export class Server {
  /**
   * @param {string} folder
   * @param {number} port
   * @param {import('node:child_process').ChildProcess} process
   * @param {Record<string, string | number>} settings
   */
  constructor(folder, port, process, settings) {
    this.folder = folder;
    this.port = port;
    this.process = process;
    this.settings = settings;
  }

  /** @returns {string} its host and port */
  get host() {
    return `127.0.0.1:${this.port}`;
  }

  /** @returns {string} its URL */
  get url() {
    return `postgres://caretdb@${this.host}/postgres`;
  }

  /** @returns {string} the URL of a table that nobody has used */
  newUrl() {
    tables += 1;
    return `${this.url}?table=t_${process.pid}_${tables}`;
  }

  /** @param {...string} statements @returns {string[]} the arguments of psql */
  psql(...statements) {
    const asked = statements.flatMap((sql) => ['-c', sql]);
    return ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'caretdb', '-AtX', ...asked, 'postgres'];
  }

  /** @param {string} sql @returns {string} the rows, a line each, their fields between bars */
  query(sql) {
    return run('psql', this.psql(sql)).trim();
  }

  /** Runs statements one after the other, beside the caller. @param {string[]} statements @returns {Promise<void>} */
  async queryBeside(statements) {
    const child = spawn(...command('psql', this.psql(...statements)), { cwd: '/', stdio: 'ignore' });
    const [status] = await once(child, 'exit');
    if (status !== 0) throw new Error(`psql ended with ${status}`);
  }

  /** Makes a standby become the primary. */
  promote() {
    run('pg_ctl', ['promote', '-w', '-D', join(this.folder, 'data')]);
  }

  /** Kills all its processes, as a machine dies. */
  kill() {
    const { pid } = this.process;
    if (pid === undefined) return;
    // The parent first, so that it does not tell the others.
    const children = childrenOf(pid);
    this.process.kill('SIGKILL');
    for (const child of children) {
      try {
        process.kill(child, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
  }

  /** Ends it; its folder stays. */
  async halt() {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGQUIT');
    await ended;
  }

  /** Starts it again at its port, after {@link halt}. */
  async startAgain() {
    this.process = await launch(this.folder, this.port, this.settings);
  }

  /** Ends it and removes its folder. */
  async stop() {
    await this.halt();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** @param {number} parent @returns {number[]} */
function childrenOf(parent) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        // The name of the program, in brackets, may have blanks in it.
        const [, rest] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?=[A-Z] )/);
        return Number(rest.split(' ')[1]) === parent;
      } catch {
        return false;
      }
    });
}

/** @returns {string} */
function newFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'caretdb-postgres-'));
  chmodSync(folder, 0o777);
  return folder;
}

/**
 * @param {string} folder
 * @param {number} port
 * @param {Record<string, string | number>} settings
 * @returns {Promise<import('node:child_process').ChildProcess>} when it takes connections
 */
async function launch(folder, port, settings) {
  const options = Object.entries({
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    port,
    ...settings,
  });
  const settled = options.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // Into a file: a server whose log nobody reads stands still, and a test may be busy for long.
  const log = join(folder, 'log');
  const stderr = openSync(log, 'a');
  const child = spawn(...command('postgres', ['-D', join(folder, 'data'), ...settled]), {
    cwd: '/',
    stdio: ['ignore', 'ignore', stderr],
  });
  closeSync(stderr);
  for (let attempt = 0; attempt < 1200; attempt++) {
    // Its own socket is asked, so that nobody else who got the port answers for it.
    const ready = spawnSync(join(programs, 'pg_isready'), ['-q', '-h', folder, '-p', String(port)]);
    if (ready.status === 0) return child;
    if (child.exitCode !== null || child.signalCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  child.kill('SIGKILL');
  throw new Error(`PostgreSQL did not start: ${readFileSync(log, 'utf8').slice(-10_000)}`);
}

/**
 * @param {string} folder
 * @param {Record<string, string | number>} settings
 * @returns {Promise<Server>} when it takes connections
 */
async function start(folder, settings) {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return new Server(folder, port, await launch(folder, port, settings), settings);
    } catch (error) {
      // A port that was free a moment ago may have been taken.
      if (attempt === 3 || !/Address already in use/.test(String(error))) throw error;
    }
  }
}

/**
 * Starts a server.
 *
 * @param {Record<string, string | number>} [settings] of postgresql.conf; without one a crash of the machine may lose all
 * @returns {Promise<Server>}
 */
export async function startServer(settings = { fsync: 'off', max_connections: 200 }) {
  const folder = newFolder();
  run('initdb', ['-U', 'caretdb', '-A', 'trust', '-E', 'UTF8', '--no-sync', '-D', join(folder, 'data')]);
  return start(folder, settings);
}

/**
 * Starts a standby that the primary waits for at each commit.
 *
 * @param {Server} primary
 * @returns {Promise<Server>}
 */
export async function startStandby(primary) {
  const folder = newFolder();
  const data = join(folder, 'data');
  run('pg_basebackup', [
    '-h',
    '127.0.0.1',
    '-p',
    String(primary.port),
    '-U',
    'caretdb',
    '-D',
    data,
    '-R',
    '-c',
    'fast',
  ]);
  const standby = await start(folder, { max_connections: 200 });
  primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
  primary.query('SELECT pg_reload_conf()');
  for (let attempt = 0; attempt < 2400; attempt++) {
    if (primary.query('SELECT sync_state FROM pg_stat_replication') === 'sync') return standby;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the standby did not catch up');
}

/** @type {Promise<Server> | undefined} */
let shared;

// Here, not where it is started: that may be a hook, at whose end its own hooks run.
after(async () => {
  await (await shared)?.stop();
});

/**
 * One server for a test file, stopped when the file is done; `CARETDB_TEST_POSTGRES` may name one that runs.
 *
 * @returns {Promise<() => string>} what makes URLs of tables that nobody has used
 */
export async function newUrls() {
  const named = process.env.CARETDB_TEST_POSTGRES;
  if (named) {
    return () => {
      tables += 1;
      return `${named}${named.includes('?') ? '&' : '?'}table=t_${process.pid}_${tables}`;
    };
  }
  shared ??= startServer();
  const server = await shared;
  return () => server.newUrl();
}
