// Checked by `npm run types`, never run: what a program may write against the package's entry, and what it may not.

import {
  type AsyncGlobal,
  type CaretError,
  check as caretCheck,
  compact,
  type Database,
  type ErrorCode,
  type Global,
  type glsDB,
  type Json,
  mclass,
  mcursor,
  mglobal,
  open,
  restore,
  type Subscript,
  server,
  type Value,
  type WorkOptions,
} from 'caretdb';
import type * as bun from 'caretdb/bun';
import type * as cjs from 'caretdb/cjs';
import * as node from 'caretdb/node';

/** Fails to compile unless both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const check = <T extends true>(_proof?: T) => {};

check<Same<keyof typeof bun, keyof typeof node>>();
check<Same<typeof bun.open, typeof open>>();
check<Same<keyof typeof cjs, keyof typeof bun>>();

// --- open

const db = open('./data', { engine: 'lmdb', flushInterval: 100, timeout: 10, readOnly: false, create: true });
open();
open({ path: './data' });
// @ts-expect-error a path is a string
open(7);
// @ts-expect-error there is no such engine
open('./data', { engine: 'rocks' });
// @ts-expect-error options are spelt as they are
open('./data', { readonly: true });
// @ts-expect-error a Database is made by open()
new node.Database();

check<Same<typeof db, Database>>();
check<Same<typeof db.path, string>>();
check<Same<typeof db.closed, boolean>>();
// @ts-expect-error the path does not change
db.path = 'elsewhere';
const stats: { entries: number; diskBytes: number } = db.stats();
export const entries = stats.entries + (db.stats().readerSlots ?? 0);
export const warning: string | undefined = db.stats().warnings[0];
export const synced: Promise<void> = db.sync();
{
  using inner = open('./data');
  inner.close();
}

// --- changes

const watcher = db.watch('Person', [1], ({ kind, global, subscripts, value, transaction, last }) => {
  check<Same<typeof kind, 'set' | 'delete' | 'deleteValue' | 'lost'>>();
  check<Same<typeof value, Value | undefined>>();
  const all: [string, Subscript[], number, boolean] = [global, subscripts, transaction, last];
  return all;
});
db.watch('Person', () => {})
  .unref()
  .ref()
  .close();
db.watch((change) => change.kind);
db.global('Person').watch(({ last }) => last);
export const isClosed: boolean = watcher.closed;
export async function firstChange(): Promise<Value | undefined> {
  for await (const change of db.global('Person').watch()) return change.value;
  for await (const { value } of db.watch('Person', [1])) return value;
}
// @ts-expect-error with a listener there is nothing to iterate over
watcher[Symbol.asyncIterator]();
// @ts-expect-error a Watcher is made by watch()
new node.Watcher();

// --- globals and nodes

const person = db.global('Person', 1, 'address', new Uint8Array([1]));
check<Same<typeof person, Global>>();
// @ts-expect-error null is no subscript
db.global('Person', null);
// @ts-expect-error a Global is made by db.global()
new node.Global();
const city = person.get('city');
check<Same<typeof city, Value | undefined>>();
person.set('city', 'Redhill');
person.set(1, 2, true);
person.set(null);
person.set('picture', new Uint8Array(3));
// @ts-expect-error the value is missing
person.set();
// @ts-expect-error an object is a document, not a value
person.set('city', { name: 'Redhill' });
// @ts-expect-error undefined is no value
person.set('city', undefined);
// @ts-expect-error a boolean is no subscript of the native face
person.get(true);
export const sum: number = person.increment('visits', 1);
// @ts-expect-error the amount is a number
person.increment('visits', '1');
const next = person.next('');
check<Same<typeof next, Subscript | undefined>>();
export const facts: [boolean, boolean, number] = [person.has(), person.hasChildren(1), person.count()];
person.merge(person.at('copy'));
// @ts-expect-error the source is a node
person.merge('copy');
export const locked: [boolean, boolean] = [person.lock('a'), person.lockFor(2.5, 'a', 1)];
// @ts-expect-error the seconds come first
person.lockFor('a', 1);

// --- ranges

for (const key of person.keys()) check<Same<typeof key, Subscript>>();
for (const key of person.keys({ from: 1, before: 'm', reverse: true, limit: 3, as: 'string' })) {
  check<Same<typeof key, string>>();
}
for (const [key, value] of person.entries({ prefix: 'a' })) {
  check<Same<typeof key, Subscript>>();
  check<Same<typeof value, Value | undefined>>();
}
for (const [path, value] of person.leaves({ from: ['a', 1], to: 'b' })) {
  check<Same<typeof path, Subscript[]>>();
  check<Same<typeof value, Value>>();
}
for (const [path] of person.leaves({ as: 'string' })) check<Same<typeof path, string[]>>();
for (const name of db.globals({ prefix: 'P', limit: 1 })) check<Same<typeof name, string>>();
// @ts-expect-error a limit is a number
person.keys({ limit: '3' });
// @ts-expect-error only leaves have bounds of several subscripts
person.keys({ from: ['a', 1] });
// @ts-expect-error there is no other way to show subscripts
person.keys({ as: 'number' });

// --- documents

person.document = { name: 'Rob', colours: ['blue', { shade: 1 }], born: new Date() };
const document = person.getDocument(1);
check<Same<typeof document, Json | undefined>>();
person.setDocument(1, [1, 2]);
person.mergeDocument({ name: 'Rob' });
person.patch(1, { name: null });
// @ts-expect-error the document is missing
person.setDocument();

// --- transactions and moments

const moved: number = db.transaction(() => person.increment('a', -1));
export const seen: string = db.snapshot(() => `${moved}`);
// @ts-expect-error a transaction cannot stay open across an await
db.transaction(async () => 1);
// @ts-expect-error neither can a moment
db.snapshot(async () => 1);

// --- promises

const later = db.async.global('Person', 1);
check<Same<typeof later, AsyncGlobal>>();
export const promised: Promise<Value | undefined> = later.get('city');
export const counted: Promise<number> = later.increment('visits', 2);
// @ts-expect-error iterators have no promise form
later.keys();

// --- errors

const isBusy = (error: unknown): boolean => (error as CaretError).code === 'ERR_BUSY';
export const busy = isBusy(new Error());
// @ts-expect-error there is no such code
export const unknownCode: ErrorCode = 'ERR_NOTHING';

// --- the mg-dbx face

const connection = new server();
connection.open({ type: 'CaretDB', path: './data' });
connection.open({ type: 'YottaDB', path: '/opt/yottadb', env_vars: { ydb_gbldir: 'x' } });
connection.open({}, (isError, result) => check<Same<[typeof isError, typeof result], [boolean, string]>>());
const init: number = connection.init;
// @ts-expect-error it says whether a store is open
connection.init = 1;
const got = connection.get('Person', 1, true, 12n, Buffer.from('x'));
check<Same<typeof got, string>>();
const gotLater = connection.get('Person', 1, (_isError, _result) => {});
check<Same<typeof gotLater, null>>();
export const written: string = connection.set('Person', 1, 'city', init);
// @ts-expect-error null is no data
connection.set('Person', 1, null);
// @ts-expect-error an object is no data
connection.set('Person', { city: 'Redhill' });
connection.lock('Person', 1, -1);
connection.increment('Person', 'n', '1.5');
connection.tstart();
connection.charset('binary');
// @ts-expect-error a timeout is a number of seconds
connection.settimeout('10');

const global = new mglobal(connection, '^Person', 1);
// @ts-expect-error the connection comes first
new mglobal('Person');
global.set();
global.set('city', 'Redhill', () => {});
global.merge('copy', global, 1);
global.reset('Other', 2);
global.setchildnodes([{ key: 1, data: 'a' }, { key: ['b', 2] }]);
global.setchildnodes('partial', ['a', 'b'], { numerickeys: true });
// @ts-expect-error without numerickeys the nodes are objects
global.setchildnodes(['a', 'b']);
const keys = global.getchildnodes('partial', { max: 5, start: 1, end: 'z' });
check<Same<typeof keys, string[]>>();
check<Same<ReturnType<typeof global.typed>, Value | undefined>>();
const withData = global.getchildnodes({ getdata: true });
check<Same<typeof withData, { key: string; data?: string }[]>>();
const list = global.getchildnodes({ numerickeys: true });
check<Same<typeof list, (string | undefined)[]>>();
export const text: string | undefined = global.documentText(1);
global.setDocumentText(1, '{}');

const plain = new mcursor(connection, { global: 'Person', key: [''] }).next();
check<Same<typeof plain, string | null>>();
const leaf = new mcursor(connection, { global: 'Person' }, { multilevel: true, getdata: true }).previous();
check<Same<typeof leaf, { key: string[]; data: string } | null>>();
const leafKey = new mcursor(connection, { global: 'Person' }, { multilevel: true }).next();
check<Same<typeof leafKey, { key: string[] } | null>>();
const child = new mcursor(connection, { global: 'Person' }, { getdata: true }).next();
check<Same<typeof child, { key: string; data: string } | null>>();
const url = new mcursor(connection, { global: 'Person' }, { multilevel: true, format: 'url' }).next();
check<Same<typeof url, string | null>>();
const name = new mcursor(connection, { global: '' }, { globaldirectory: true }).next();
check<Same<typeof name, string | null>>();
// @ts-expect-error a seed is an array
new mcursor(connection, { global: 'Person', key: 'a' });
export const classes = () => new mclass(connection);

export const documents: glsDB = new node.glsDB();
documents.open({ path: './data' });

export const checks = async () => {
  check<Same<Awaited<ReturnType<typeof restore>>, string | undefined>>();
  await restore('backup', 'data', { force: true });
  await compact('data', { onProgress: (done, total) => done / total });
  const { sound, damage } = await caretCheck('data', { signal: AbortSignal.timeout(1) });
  check<Same<typeof sound, boolean>>();
  check<Same<(typeof damage)[0]['what'], string>>();
};

export const backups = async (db: Database, other: server) => {
  const options: WorkOptions = {
    onProgress: (done, total) => done / total,
    signal: AbortSignal.timeout(1000),
  };
  check<Same<Awaited<ReturnType<typeof db.backup>>, void>>();
  await db.backup('there', options);
  await other.backup('there');
  // @ts-expect-error a backup needs a folder
  await db.backup();
};

// --- attachments

export const stored: Promise<{ sha256: string }> = db.attachments.put('Person', 1, 'a', new Uint8Array(), {
  type: 'image/png',
});
export const pieces: AsyncIterable<Uint8Array> | undefined = db.attachments
  .get('Person', 1, 'a')
  ?.stream({ start: 1 });
// @ts-expect-error an attachment has bytes
db.attachments.put('Person', 1, 'a');
