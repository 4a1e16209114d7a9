// The types of the package's entry: the native face (`open`), the mg-dbx face (`server`, `mglobal`, `mcursor`, `mclass`)
// and glsDB. All faces work on the same data.

export { glsDB } from './js/types/glsdb.mjs';

// ------------------------------------------------------------------------------------------------------------- errors

/** What `error.code` of every error of this package is. */
export type ErrorCode =
  /** Wrong type or number of arguments; the error is a TypeError. */
  | 'ERR_ARG'
  /** A global name is `%` or a letter, then letters and digits, with `_`, `.`, `-` inside; at most 255 characters. */
  | 'ERR_BAD_NAME'
  /** Not a subscript: the empty string, NaN, a number outside 1E-43 to 1E47. */
  | 'ERR_BAD_KEY'
  /** Name and subscripts together take more than 1,019 bytes. */
  | 'ERR_KEY_TOO_LONG'
  /** What cannot be stored, or cannot be counted with. */
  | 'ERR_BAD_VALUE'
  /** A value or batch over the engine's limit, or a result longer than a JavaScript string may be. */
  | 'ERR_TOO_LARGE'
  /** The connection is closed. */
  | 'ERR_CLOSED'
  /** A write through a connection that was opened with `readOnly`. */
  | 'ERR_READ_ONLY'
  /**
   * Another connection writes, or holds a lock, for longer than the timeout; or (engine `'postgres'`) a transaction met
   * another one: nothing of it was written, and it may be done again. Then the error's `conflict` is true.
   */
  | 'ERR_BUSY'
  /** The store is held in a way that cannot be shared. */
  | 'ERR_LOCKED'
  /** Transaction calls out of order, an async function in a transaction, or a second writer on one thread. */
  | 'ERR_TX'
  /** No space is left; nothing of the call was written. */
  | 'ERR_DISK_FULL'
  /** The operating system's answer. */
  | 'ERR_IO'
  /** The store was written by a newer version. */
  | 'ERR_FORMAT'
  /** Damage. */
  | 'ERR_CORRUPT'
  /** Not in this engine or product. */
  | 'ERR_UNSUPPORTED'
  /** Our fault. */
  | 'ERR_INTERNAL';

/**
 * The shape of every error of this package; its message names the call, the node and what to do.
 *
 * ```js
 * try {
 *   global.set('x'.repeat(2000), 1);
 * } catch (error) {
 *   if (error.code !== 'ERR_KEY_TOO_LONG') throw error;
 * }
 * ```
 */
export interface CaretError extends Error {
  code: ErrorCode;
}

// -------------------------------------------------------------------------------------------------------- native face

/**
 * One key level. Numbers come before strings, in the order of their values; strings and bytes are in the order of their
 * bytes. A string that spells a number as M does (`'10'`, `'-.5'`) is that number. The empty string is no subscript.
 *
 * A call gives a number where it is safe and reads back the same, else a string, and bytes where they are no UTF-8.
 */
export type Subscript = string | number | Uint8Array;

/** What a node can hold. Bytes come back as a Uint8Array of their own. */
export type Value = string | number | boolean | null | Uint8Array;

/** A JSON document; bytes may stand in it where a scalar may. */
export type Json = string | number | boolean | null | Uint8Array | Json[] | { [key: string]: Json };

/** How to open a store. */
export interface OpenOptions {
  /** The store's folder, or the URL of a server; else the environment variable `CARETDB_PATH`, else `./caretdb-data`. */
  path?: string;
  /**
   * `'lmdb'`, the default, for many threads and processes; `'sled'` for the threads of one process; `'postgres'` for many
   * machines, in a table of a server at `url`.
   */
  engine?: 'lmdb' | 'sled' | 'postgres';
  /**
   * Where the server is (engine `'postgres'`), in place of a path:
   * `postgres://user:password@host:5432/database?sslmode=verify-full&table=caretdb`. A password that is not in it is taken
   * from the environment variable `PGPASSWORD`; none is ever shown.
   */
  url?: string;
  /**
   * What a returned write survives besides killed processes, which it always survives (engine `'lmdb'`). `'relaxed'`, the
   * default of a new store: a power cut loses at most the last `flushInterval` and one disk flush. `'strict'`: it loses
   * nothing that was acknowledged by `sync`. `'process'`: it may lose everything; for caches and tests. It belongs to the
   * store: opening it with another one is `ERR_LOCKED` while somebody else has it open.
   */
  durability?: 'relaxed' | 'strict' | 'process';
  /** How often unsynced data is flushed and idle snapshots are let go: 1 to 60,000 milliseconds, default 100. */
  flushInterval?: number;
  /** How many bytes of the log may wait for the durable file before writers wait for it (engine `'lmdb'`); default 512 MiB. */
  logLimit?: number;
  /** How long a write, a transaction or `lock` waits for another connection, in seconds; default 10, -1 for ever. */
  timeout?: number;
  /**
   * Writes through this connection fail with `ERR_READ_ONLY`, and no store is made. A store that nobody has open for writing opens so
   * on a read-only file system, too, and where the user may only read. Default false.
   */
  readOnly?: boolean;
  /** Make the folder and the store where there is none. Default true. */
  create?: boolean;
}

/**
 * Opens a store.
 *
 * Throws `ERR_IO` where the folder cannot be used, `ERR_LOCKED` where it is held in a way that cannot be shared,
 * `ERR_ARG` for unknown options.
 *
 * ```js
 * import { open } from 'caretdb';
 * using db = open('./data');
 * const person = db.global('Person');
 * person.set(1, 'city', 'Redhill');
 * person.get(1, 'city'); // 'Redhill'
 * ```
 */
export function open(path: string, options?: Omit<OpenOptions, 'path'>): Database;
export function open(options?: OpenOptions): Database;

/** What a store holds and takes. Each engine adds figures of its own. */
export type Stats = {
  /** Entries as the engine counts them; a large value may count as several. */
  entries: number;
  /** Bytes of disk that the store's files take. */
  diskBytes: number;
  /**
   * What somebody should look after, in words; empty where all is well. Engine `lmdb`: a process that has read one moment for
   * more than three seconds while others commit, which makes the working file grow.
   */
  warnings: string[];
} & { [figure: string]: number };

/** For work on a whole store. */
export interface WorkOptions {
  /** Called now and then with how many entries are done, and of how many; 0 of 0 while that is not known. */
  onProgress?(done: number, total: number): void;
  /** Ends the work; nothing is left of it. */
  signal?: AbortSignal;
}

/** What {@link check} found. */
export interface CheckReport {
  /** Whether nothing is damaged. */
  sound: boolean;
  /** Pages of the store's files. */
  pages: number;
  /** Nodes with a value. */
  nodes: number;
  globals: number;
  indexes: number;
  indexEntries: number;
  /** Transactions that the next opening takes from the log; the other counts are without them. */
  waiting: number;
  /** How many places are damaged. */
  damaged: number;
  /** The first hundred of them: in which file, between which nodes where that is known, and what is wrong. */
  damage: { file: string; nodes: string; what: string }[];
  /** Where a store on `lmdb` has attachments and its pages are sound. Problems are in `damage` too; strays are no damage. */
  attachments?: VerifiedAttachments;
  /** Why the attachments could not be looked at, where that is so. */
  attachmentsUnchecked?: string;
}

/**
 * Looks for damage in the store or backup in a folder, in a process of its own: every page, every key, every value, and the
 * entries of indexes against the documents, and the bytes of attachments. Nothing is changed, and the store may be in use. Rejects
 * with `ERR_IO` where there is no store, `ERR_FORMAT`, `ERR_LOCKED`, and with the signal's reason; damage is no error.
 *
 * ```js
 * import { check } from 'caretdb';
 * const { sound, damage } = await check('./data');
 * ```
 */
export function check(path: string, options?: { signal?: AbortSignal }): Promise<CheckReport>;

/**
 * Checks the backup in the folder `from` and copies it to `to`, which must be empty or not exist. With `force` a store that
 * is there and not in use is moved aside, and the promise becomes its new path. Rejects with `ERR_CORRUPT` where the backup
 * is damaged, `ERR_ARG` where something is in the way, `ERR_LOCKED` where that store is in use; all is as it was then.
 *
 * ```js
 * import { restore } from 'caretdb';
 * await db.backup('./monday');
 * await restore('./monday', './restored');
 * ```
 */
export function restore(
  from: string,
  to: string,
  options?: WorkOptions & { force?: boolean },
): Promise<string | undefined>;

/**
 * Makes the files of a store as small as what they hold (engine `'lmdb'`). Rejects with `ERR_LOCKED` where it is open
 * anywhere, `ERR_IO` where there is no store, `ERR_DISK_FULL` and the signal's reason; the files are as they were then. It needs room
 * for a second copy meanwhile.
 *
 * ```js
 * import { compact, open } from 'caretdb';
 * open('./grown').close();
 * await compact('./grown', { onProgress: (done, total) => console.log(done, total) });
 * ```
 */
export function compact(path: string, options?: WorkOptions): Promise<void>;

/** A stretch of globals, by name, without caret. */
export interface GlobalsRange {
  /** The first name, itself included. */
  from?: string;
  /** The last name, itself included. */
  to?: string;
  /** Only names behind this one. */
  after?: string;
  /** Only names before this one. */
  before?: string;
  /** Only names that begin with this text. */
  prefix?: string;
  /** From the last to the first; `from` and `after` stay the lower bounds. Default false. */
  reverse?: boolean;
  /** At most this many names. */
  limit?: number;
}

/** A stretch of children. */
export interface Range<Bound = Subscript> {
  /** The first subscript, itself included. It need not exist. */
  from?: Bound;
  /** The last subscript, itself included. It need not exist. */
  to?: Bound;
  /** Only subscripts behind this one. Not together with `from`. */
  after?: Bound;
  /** Only subscripts before this one. Not together with `to`. */
  before?: Bound;
  /** Only string subscripts that begin with this text. */
  prefix?: string;
  /** From the last to the first; `from` and `after` stay the lower bounds. Default false. */
  reverse?: boolean;
  /** At most this many entries. */
  limit?: number;
}

/**
 * A stretch of leaves: a bound is the subscript of a child, or an array of subscripts to begin or end deeper. `to` takes
 * in what is below it, and so does `after`, which leaves out only the node itself.
 */
export type LeafRange = Range<Subscript | readonly Subscript[]>;

/** Which documents an index finds. A bound is a value; it need not be in the index. */
export interface IndexQuery extends Range<Value> {
  /** Only documents with this value. */
  equals?: Value;
}

/** Asks for subscripts as strings always, numbers in M's spelling. */
export interface AsStrings {
  as: 'string';
}

/** One connection to a store. Made by {@link open}. Every call but `close` throws `ERR_CLOSED` once it is closed. */
export class Database implements Disposable {
  private constructor();

  /** The store's folder, as an absolute path. */
  readonly path: string;
  /** Whether `close` was called. */
  readonly closed: boolean;
  /** The same calls as promises, off the event loop. */
  readonly async: AsyncDatabase;
  /** Bytes of any length that belong to documents. Throws `ERR_CLOSED`. */
  readonly attachments: Attachments;

  /**
   * The node `^name(...fixed)`, whether anything is stored there or not. Throws `ERR_BAD_NAME`, `ERR_BAD_KEY`,
   * `ERR_KEY_TOO_LONG`.
   */
  global(name: string, ...fixed: Subscript[]): Global;

  /**
   * The names of the globals that hold something, in order, without caret. Throws `ERR_ARG` for what is no range.
   *
   * ```js
   * for (const name of db.globals({ prefix: 'Per' })) console.log(name);
   * ```
   */
  globals(range?: GlobalsRange): IterableIterator<string>;

  /**
   * Runs `work` as one write: it commits when `work` returns and is undone when it throws. Calls may nest; an inner one
   * that throws undoes its own part. Throws `ERR_BUSY` when another connection writes past the timeout, `ERR_TX` when
   * `work` is async or another connection of this thread has a transaction open.
   *
   * On the engine `'postgres'` transactions run side by side. One that met another is undone, and the outermost `work` is
   * run again until the timeout has passed; what it does besides writing should bear that.
   *
   * ```js
   * db.transaction(() => {
   *   account.increment('Ann', -10);
   *   account.increment('Bob', 10);
   * });
   * ```
   */
  transaction<T>(work: () => T extends PromiseLike<unknown> ? never : T): T;

  /**
   * Runs `work`, whose reads all see one moment, whatever is written meanwhile. It should be short: while it runs the
   * store cannot reuse space. Throws `ERR_ARG` when `work` is async.
   *
   * ```js
   * const [count, last] = db.snapshot(() => [person.count(), person.previous('')]);
   * ```
   */
  snapshot<T>(work: () => T extends PromiseLike<unknown> ? never : T): T;

  /**
   * Settles when all writes that have returned are durable; it does not block the event loop. Rejects with `ERR_IO` or
   * `ERR_DISK_FULL` where the disk does not take them. With the durability `'process'` there is nothing to wait for.
   *
   * ```js
   * person.set(1, 'name', 'Rob');
   * await db.sync();
   * ```
   */
  sync(): Promise<void>;
  /** The same, but it returns when they are, and throws. */
  syncNow(): void;

  /**
   * Tells of every change at a node and below it, by any thread and process, from this call on: each committed
   * transaction whole, in the order of the commits. Without a global all globals are watched. The listener is called from
   * the event loop; the changes of one transaction follow one another in one turn of it. Without a listener the watcher is
   * an async iterable, and leaving the loop closes it.
   *
   * A listener that is slow costs nobody else; one that falls too far behind is told of a change of the kind `'lost'`. What
   * it throws is an uncaught exception, and the watcher goes on. Throws `ERR_UNSUPPORTED` where no log is kept: with the
   * durability `'process'` and on other engines than `'lmdb'`.
   *
   * ```js
   * const watcher = db.watch('Person', [1], ({ kind, subscripts, value }) => console.log(kind, subscripts, value));
   * for await (const change of db.watch('Person')) if (change.last) break;
   * watcher.close();
   * ```
   */
  watch(global: string, subscripts: readonly Subscript[], listener: (change: Change) => void): Watcher;
  watch(global: string, listener: (change: Change) => void): Watcher;
  watch(listener: (change: Change) => void): Watcher;
  watch(global?: string, subscripts?: readonly Subscript[]): Watcher & AsyncIterable<Change>;

  /**
   * What the store holds and takes now.
   *
   * ```js
   * const { entries, diskBytes, warnings } = db.stats();
   * ```
   */
  stats(): Stats;

  /**
   * Copies the store into the folder `path`, which must be empty or not exist, while others read and write: everything
   * that was committed when this was called, as of one moment, in little space. The copy opens as any store does, with
   * the durability of this one; it is there whole or not at all. What the open transaction of this connection has written
   * is not in it.
   *
   * Rejects with `ERR_ARG` where something is in the folder, `ERR_DISK_FULL`, `ERR_IO`, and with the signal's reason.
   *
   * ```js
   * await db.backup('./backups/monday', { onProgress: (done, total) => console.log(done, total) });
   * ```
   */
  backup(path: string, options?: WorkOptions): Promise<void>;

  /** Closes the connection: an open transaction is undone, locks are released. Closing twice does nothing. */
  close(): void;
  [Symbol.dispose](): void;
}

/** What a watcher tells. */
export interface Change {
  /**
   * `'set'`: the node got `value`. `'delete'`: the node and everything below it was deleted; a deletion further up is told as
   * one of the watched node. `'deleteValue'`: the node lost its value and kept its children, which only the undoing of an
   * inner transaction does. `'lost'`: changes were missed; read again what you need, all later changes are told.
   */
  kind: 'set' | 'delete' | 'deleteValue' | 'lost';
  /** The global's name, without caret; `''` where all globals are watched and something was lost. */
  global: string;
  /** The node's subscripts from the global on. */
  subscripts: Subscript[];
  /** With `'set'` what was stored; undefined for the mark of an empty object or array. Otherwise undefined. */
  value: Value | undefined;
  /** The same for all changes of a transaction, greater for a later one; anew after a restart of the machine. */
  transaction: number;
  /** Whether this is the last change of its transaction here: between two such the store was never seen. */
  last: boolean;
}

/** Tells of changes until it is closed, or its connection is. Made by `watch`. */
export class Watcher implements Disposable {
  private constructor();

  readonly closed: boolean;
  /** Tells nothing more, also from within the listener. Closing twice does nothing. */
  close(): void;
  [Symbol.dispose](): void;
  /** Keeps the process alive while the watcher is open, as it does from the beginning. */
  ref(): this;
  /** Lets the process end although the watcher is open. */
  unref(): this;
}

/** What is known of an attachment. */
export interface Attachment {
  name: string;
  /** In bytes. */
  size: number;
  /** Its media type. */
  type: string;
  /** The hash of its bytes, in hexadecimal. */
  sha256: string;
  /** The entity tag that the web servers give it. */
  etag: string;
  /** When it was stored, in ISO 8601. */
  created: string;
}

/**
 * An attachment whose bytes can be read. Reading throws `ERR_BUSY` where they were nodes and it was replaced or deleted so long ago that
 * they have been removed.
 */
export interface OpenAttachment extends Attachment {
  /** All bytes at once. */
  bytes(): Promise<Uint8Array>;
  /** The bytes piece by piece; `end` is left out. */
  stream(range?: { start?: number; end?: number }): AsyncIterable<Uint8Array>;
}

/** What a check of attachments found. */
export interface VerifiedAttachments {
  attachments: number;
  bytes: number;
  /** Attachments whose bytes are missing, too few or others than were stored. */
  problems: { collection: string; id: string; name: string; problem: string }[];
  /** Keys of bytes that nothing refers to; the next collection removes them. */
  strays: string[];
}

/**
 * Bytes of any length that belong to the documents of a store: `db.attachments`. The document does not show them. On `lmdb` large
 * ones are files beside the store, synced before they are referred to; else they are nodes.
 *
 * ```js
 * await db.attachments.put('Person', 1, 'photo.png', bytes, { type: 'image/png' });
 * const photo = db.attachments.get('Person', 1, 'photo.png');
 * for await (const piece of photo.stream()) socket.write(piece);
 * ```
 */
export interface Attachments {
  /**
   * Stores bytes as an attachment of `^collection(id)`, in place of those of that name; a document that is not there is made, as `{}`.
   * Bytes that break off leave the old ones. Throws `ERR_ARG` for a name that is empty, `.`, `..` or has control characters,
   * on a server `ERR_BUSY` where the process stood still for longer than a lock lasts: put it again.
   */
  put(
    collection: string,
    id: string | number,
    name: string,
    source:
      | Uint8Array
      | string
      | AsyncIterable<Uint8Array | string>
      | Iterable<Uint8Array | string>
      | ReadableStream<Uint8Array>,
    options?: { type?: string },
  ): Promise<Attachment>;
  /** Undefined where there is none. */
  get(collection: string, id: string | number, name: string): OpenAttachment | undefined;
  /** All of a document, by name. */
  list(collection: string, id: string | number): Attachment[];
  /** Answers whether there was one. */
  delete(collection: string, id: string | number, name: string): boolean;
  /**
   * Removes bytes that nothing refers to, and attachments of documents that were deleted. Bytes that were replaced or deleted
   * stay for `grace` milliseconds (default 10,000), for those who are reading them. `busy`: nothing was done, since a backup runs
   * or somebody else collects.
   */
  collect(options?: { grace?: number }): Promise<{ busy: boolean; removed: number; references: number }>;
  /** Reads all attachments and compares length and hash. */
  verify(): Promise<VerifiedAttachments>;
}

/**
 * A node, and what can be done with it and below it. Made by `Database.global` and `Global.at`.
 *
 * The subscripts of a call lead down from this node; without any, the call is about this node. Every call throws
 * `ERR_ARG`, `ERR_BAD_KEY` or `ERR_KEY_TOO_LONG` for what is no subscript, and every write `ERR_BUSY`, `ERR_READ_ONLY`
 * and `ERR_DISK_FULL`; nothing is written then.
 *
 * ```js
 * const rob = db.global('Person').at('rob'); // ^Person("rob")
 * rob.set('address', 'city', 'Redhill');
 * rob.get('address', 'city'); // 'Redhill'
 * rob.delete('address');
 * ```
 */
export class Global {
  private constructor();

  /** The global's name, without caret. */
  readonly name: string;

  /** The node below this one. */
  at(...subscripts: Subscript[]): Global;

  /** The value, undefined where there is none. */
  get(...subscripts: Subscript[]): Value | undefined;
  /** Stores a value: the last argument. Children stay. Throws `ERR_TOO_LARGE` over 1 GiB (`sled`: 256 MiB). */
  set(...subscriptsThenValue: [...Subscript[], Value]): void;
  /** Whether there is a value. */
  has(...subscripts: Subscript[]): boolean;
  /** Whether there are children. */
  hasChildren(...subscripts: Subscript[]): boolean;
  /** Deletes the node and everything below it. */
  delete(...subscripts: Subscript[]): void;
  /**
   * Adds an amount, the last argument, as M does in decimal, with nobody in between, and returns the sum. A node without
   * a value counts as 0, text as the number that it begins with. Throws `ERR_BAD_VALUE` above 1E47.
   *
   * ```js
   * const id = person.increment('last', 1);
   * ```
   */
  increment(...subscriptsThenAmount: [...Subscript[], number]): number;

  /**
   * The child behind a seed, the last subscript, which need not exist; `''` is before the first child. Undefined at the
   * end.
   *
   * ```js
   * for (let key = person.next(''); key !== undefined; key = person.next(key)) console.log(key);
   * ```
   */
  next(...subscripts: Subscript[]): Subscript | undefined;
  /** The child before a seed; `''` is behind the last child. */
  previous(...subscripts: Subscript[]): Subscript | undefined;
  /** How many children there are; it visits each. */
  count(...subscripts: Subscript[]): number;

  /** Tells of changes at this node and below it, as {@link Database.watch} does. */
  watch(listener: (change: Change) => void): Watcher;
  watch(): Watcher & AsyncIterable<Change>;

  /**
   * Copies a node of the same connection, and everything below it, over this one in one write. Other nodes stay. Throws
   * `ERR_ARG` for a node of another connection.
   *
   * ```js
   * db.global('Archive', 2026).merge(person);
   * ```
   */
  merge(source: Global): void;

  /**
   * The children's subscripts. Iterators are live: they see writes ahead of them, those of other threads and processes after 16
   * steps at most, pin nothing, and may be left early.
   *
   * ```js
   * for (const id of person.keys({ from: 100, limit: 20 })) console.log(id);
   * ```
   */
  keys(range: Range & AsStrings): IterableIterator<string>;
  keys(range?: Range): IterableIterator<Subscript>;
  /**
   * The children's subscripts and values; a child that only has children of its own comes with undefined.
   *
   * ```js
   * for (const [item, amount] of db.global('Stock').entries({ prefix: 'pen' })) console.log(item, amount);
   * ```
   */
  entries(range: Range & AsStrings): IterableIterator<[string, Value | undefined]>;
  entries(range?: Range): IterableIterator<[Subscript, Value | undefined]>;
  /**
   * Every node below this one that has a value: its subscripts from here, and the value.
   *
   * ```js
   * for (const [subscripts, value] of person.leaves({ reverse: true, limit: 10 })) console.log(subscripts, value);
   * ```
   */
  leaves(range: LeafRange & AsStrings): IterableIterator<[string[], Value]>;
  leaves(range?: LeafRange): IterableIterator<[Subscript[], Value]>;

  /** The document below this node, undefined where there is nothing. Setting it replaces the subtree in one write. */
  get document(): Json | undefined;
  set document(document: unknown);
  /** The document below a node, undefined where there is nothing. Keys are in collation order. */
  getDocument(...subscripts: Subscript[]): Json | undefined;
  /**
   * Replaces a subtree by a document, the last argument: anything JSON.stringify takes; bytes are kept. Throws `ERR_ARG` for
   * what it does not take, such as undefined or a ring of objects, and `ERR_KEY_TOO_LONG` for one that is too deep.
   *
   * ```js
   * person.setDocument(1, { name: 'Rob', address: { city: 'Redhill' }, tags: [] });
   * person.patch(1, { address: { city: 'Leeds' }, tags: null });
   * JSON.stringify(person.getDocument(1)); // '{"address":{"city":"Leeds"},"name":"Rob"}'
   * ```
   */
  setDocument(...subscriptsThenDocument: [...Subscript[], unknown]): void;
  /** Lays a document, the last argument, over a subtree: what it does not name stays. */
  mergeDocument(...subscriptsThenDocument: [...Subscript[], unknown]): void;
  /** Changes a document by a JSON Merge Patch (RFC 7396), the last argument. */
  patch(...subscriptsThenPatch: [...Subscript[], unknown]): void;

  /**
   * Makes an index of the documents one level below this node, on the value at `path` inside each, and fills it in one
   * write; from then on every write keeps it right. Nothing happens where the same index is there already. An empty path
   * is the child's own value.
   *
   * Throws `ERR_ARG` for a bad path and where the name has another index, `ERR_BAD_VALUE` when the index is unique and two
   * documents have the same value, naming both (so does every later write), `ERR_TOO_LARGE` for a value too long to index.
   *
   * ```js
   * person.createIndex('city', ['address', 'city']);
   * for (const [id, document] of person.find('city', { equals: 'Redhill' })) console.log(id, document);
   * ```
   */
  createIndex(name: string, path: (string | number)[], options?: { unique?: boolean }): void;
  /** Drops an index; the documents stay. Throws `ERR_ARG` where there is none of this name. */
  dropIndex(name: string): void;
  /**
   * The documents that an index finds, by value, then by subscript. Values come in the order null, false, true, numbers,
   * strings, bytes. The iterator is live, as that of {@link Global.keys} is; each document is one that has the value.
   * Throws `ERR_ARG` where there is no such index.
   */
  find(index: string, query: IndexQuery & AsStrings): IterableIterator<[string, Json]>;
  find(index: string, query?: IndexQuery): IterableIterator<[Subscript, Json]>;

  /**
   * Locks a node as M's LOCK does, against every other connection that asks for a lock on it, above or below it. Waits
   * as long as the connection's timeout; false when it was not free by then. Locks count: unlock as often.
   *
   * ```js
   * if (person.lockFor(2.5, 1)) {
   *   try {
   *     person.set(1, 'name', 'Rob');
   *   } finally {
   *     person.unlock(1);
   *   }
   * }
   * ```
   */
  lock(...subscripts: Subscript[]): boolean;
  /** The same with a timeout in seconds: 0 tries once, a negative number waits for ever. */
  lockFor(seconds: number, ...subscripts: Subscript[]): boolean;
  /** Gives one lock back. Nothing happens where this connection does not hold it. */
  unlock(...subscripts: Subscript[]): void;
}

/**
 * A {@link Database} whose calls answer with promises. The calls of one connection run in call order on a thread of
 * their own; inside a transaction they run at once.
 *
 * ```js
 * const names = db.async.global('Person');
 * await names.set(1, 'name', 'Rob');
 * await names.get(1, 'name'); // 'Rob'
 * ```
 */
export class AsyncDatabase {
  private constructor();
  /** The node `^name(...fixed)`; throws at once for a bad name or subscript. */
  global(name: string, ...fixed: Subscript[]): AsyncGlobal;
  /** Settles when all writes that have returned are durable. */
  sync(): Promise<void>;
}

/**
 * A {@link Global} whose calls answer with promises. What makes a call of `Global` throw rejects the promise here, with the same
 * code; arguments are read when the call is made.
 *
 * ```js
 * const person = db.async.global('Person');
 * const id = await person.increment('last', 1);
 * await person.setDocument(id, { name: 'Rob' });
 * ```
 */
export class AsyncGlobal {
  private constructor();
  /** The value, undefined where there is none. */
  get(...subscripts: Subscript[]): Promise<Value | undefined>;
  /** Stores a value, the last argument. */
  set(...subscriptsThenValue: [...Subscript[], Value]): Promise<void>;
  /** Whether there is a value. */
  has(...subscripts: Subscript[]): Promise<boolean>;
  /** Whether there are children. */
  hasChildren(...subscripts: Subscript[]): Promise<boolean>;
  /** Deletes the node and everything below it. */
  delete(...subscripts: Subscript[]): Promise<void>;
  /** Adds an amount, the last argument, and becomes the sum; see {@link Global.increment}. */
  increment(...subscriptsThenAmount: [...Subscript[], number]): Promise<number>;
  /** The child behind a seed, the last subscript; undefined at the end. */
  next(...subscripts: Subscript[]): Promise<Subscript | undefined>;
  /** The child before a seed. */
  previous(...subscripts: Subscript[]): Promise<Subscript | undefined>;
  /** How many children there are; it visits each. */
  count(...subscripts: Subscript[]): Promise<number>;
  /** Copies a node of the same connection, and everything below it, over this one. */
  merge(source: Global | AsyncGlobal): Promise<void>;
  /** The document below a node, undefined where there is nothing. */
  getDocument(...subscripts: Subscript[]): Promise<Json | undefined>;
  /** Replaces a subtree by a document, the last argument. The document is read when this is called. */
  setDocument(...subscriptsThenDocument: [...Subscript[], unknown]): Promise<void>;
  /** Lays a document, the last argument, over a subtree. */
  mergeDocument(...subscriptsThenDocument: [...Subscript[], unknown]): Promise<void>;
  /** Changes a document by a JSON Merge Patch (RFC 7396), the last argument. */
  patch(...subscriptsThenPatch: [...Subscript[], unknown]): Promise<void>;
  /** Locks a node, waiting as long as the connection's timeout; false when it was not free by then. */
  lock(...subscripts: Subscript[]): Promise<boolean>;
  /** The same with a timeout in seconds: 0 tries once, a negative number waits for ever. */
  lockFor(seconds: number, ...subscripts: Subscript[]): Promise<boolean>;
  /** Gives one lock back. */
  unlock(...subscripts: Subscript[]): Promise<void>;
}

// -------------------------------------------------------------------------------------------------------- mg-dbx face

/** A subscript on the mg-dbx face: a number is the key that M makes of it, booleans and bigints are text. */
export type Key = string | number | boolean | bigint | ArrayBuffer | ArrayBufferView;
/** What the mg-dbx face stores, as text (bytes as they are). */
export type Data = Key;
/** Called later, in call order: `(true, '')` on an error, otherwise `(false, result)`. */
export type Callback = (isError: boolean, result: string) => void;

/** Options of `server.open`. What belongs to other products (host, username, namespace…) is ignored. */
export interface ServerOptions extends OpenOptions {
  /**
   * `'CaretDB'`, the default. With `'YottaDB'`, `'GT.M'`, `'IRIS'` or `'Cache'`, `path` is that product's installation
   * and is ignored: the store is the folder in `CARETDB_PATH`, else `./caretdb-data`.
   */
  type?: string;
  // biome-ignore lint/suspicious/noExplicitAny: programs for other products pass what those products take
  [option: string]: any;
}

/**
 * One connection to a store, with the calls of mg-dbx-napi. Results are strings. Before `open` and after `close` the
 * calls of nodes answer `''`.
 *
 * ```js
 * const db = new server();
 * db.open({ type: 'CaretDB', path: './data' });
 * db.set('Person', 1, 'Rob');
 * db.get('Person', 1); // 'Rob'
 * db.close();
 * ```
 *
 * With a callback as the last argument a call returns null and answers later, in call order, without blocking the event
 * loop.
 */
export class server {
  constructor();

  /** 1 once a store is open, else 0. */
  readonly init: number;

  /** Opens a store and answers a string. Throws `ERR_IO`, `ERR_LOCKED`, `ERR_ARG`; see also `geterrormessage()`. */
  open(options: ServerOptions): string;
  open(options: ServerOptions, callback: Callback): null;
  /** Closes it: an open transaction is undone, locks are released. Answers `'1'`. It can be opened again. */
  close(): string;
  /** The version of this package. */
  version(): string;
  /** Version, engine and folder. */
  dbversion(): string;

  /** The value, `''` where there is none. */
  get(global: string, ...subscripts: Key[]): string;
  get(global: string, ...subscriptsThenCallback: [...Key[], Callback]): null;
  /** Stores the last argument and answers `'0'`. */
  set(global: string, ...subscriptsThenData: [...Key[], Data]): string;
  set(global: string, ...subscriptsDataCallback: [...Key[], Data, Callback]): null;
  /** Deletes the node and everything below it; answers `'0'`. */
  delete(global: string, ...subscripts: Key[]): string;
  delete(global: string, ...subscriptsThenCallback: [...Key[], Callback]): null;
  /** `'0'` nothing, `'1'` a value, `'10'` children, `'11'` both. */
  defined(global: string, ...subscripts: Key[]): string;
  defined(global: string, ...subscriptsThenCallback: [...Key[], Callback]): null;
  /** The subscript behind the last one given, `''` at the end; `''` as the last one is the start. */
  next(global: string, ...subscripts: Key[]): string;
  next(global: string, ...subscriptsThenCallback: [...Key[], Callback]): null;
  /** The subscript before the last one given. */
  previous(global: string, ...subscripts: Key[]): string;
  previous(global: string, ...subscriptsThenCallback: [...Key[], Callback]): null;
  /** Adds the last argument and answers the sum, in M's spelling. */
  increment(global: string, ...subscriptsThenAmount: [...Key[], string | number | bigint]): string;
  increment(
    global: string,
    ...subscriptsAmountCallback: [...Key[], string | number | bigint, Callback]
  ): null;
  /** Locks a node; the last argument is the timeout in seconds, -1 waits. `'1'`, or `'0'` when it was not free. */
  lock(global: string, ...subscriptsThenTimeout: [...Key[], string | number]): string;
  lock(global: string, ...subscriptsTimeoutCallback: [...Key[], string | number, Callback]): null;
  /** Gives one lock back; `'1'`, also where nothing was locked. */
  unlock(global: string, ...subscripts: Key[]): string;
  unlock(global: string, ...subscriptsThenCallback: [...Key[], Callback]): null;

  /** Opens one more level of transaction; `'0'`. Throws `ERR_BUSY`, `ERR_TX`. */
  tstart(): string;
  /** How many levels are open. */
  tlevel(): string;
  /** Keeps the innermost level; the outermost one makes all visible. `'0'`, or `''` where none is open. */
  tcommit(): string;
  /** Undoes the innermost level. `'0'`, or `''` where none is open. */
  trollback(): string;

  /** Copies the open store into a folder, see {@link Database.backup}. */
  backup(path: string, options?: WorkOptions): Promise<void>;

  /** The text of the last error, `''` after a success. */
  geterrormessage(): string;
  /** The charset of strings: `'utf-8'` (default), or `'binary'` and `'ascii'`, one character, one byte. */
  charset(charset?: 'utf-8' | 'utf8' | 'binary' | 'ascii' | (string & {})): string;
  /** The durability of the open store, `''` where the engine has no choice. */
  durability(): string;
  /** How long writes and transactions wait, in seconds; answers the value in force. */
  settimeout(seconds?: number): string;
  /** The store's folder: a store is one namespace. Throws `ERR_UNSUPPORTED` for any other name. */
  namespace(name?: string): string;

  /** There are no M routines here: throws `ERR_UNSUPPORTED`, as `sql` and `classmethod` do. */
  function(...args: unknown[]): never;
  sql(...args: unknown[]): never;
  classmethod(...args: unknown[]): never;
}

/** Options of `setchildnodes`. */
export interface SetChildNodesOptions {
  /** The array holds values, stored under their indexes. Default false. */
  numerickeys?: boolean;
  /** Lock the node meanwhile. Default false. */
  lock?: boolean;
  /** How long to wait for the lock, in seconds; -1, the default, for ever. */
  locktimeout?: number;
}

/** Options of `getchildnodes`. */
export interface GetChildNodesOptions {
  /** Answer objects `{key, data}`, `{key}` for a node without a value. Default false. */
  getdata?: boolean;
  /** Answer the values of the keys 0, 1, 2… up to the first gap. Default false. */
  numerickeys?: boolean;
  /** At most this many; default 100. */
  max?: number;
  /** The first key, itself included. */
  start?: Key;
  /** The last key, itself included. */
  end?: Key;
  /** Lock the node meanwhile. Default false. */
  lock?: boolean;
  /** How long to wait for the lock, in seconds; -1, the default, for ever. */
  locktimeout?: number;
}

/** A child node for `setchildnodes`; an array as its key leads further down. */
export interface ChildNode {
  key: Key | readonly Key[];
  /** What to store, `''` where it is missing. */
  data?: Data;
}

/**
 * A global, or a node of one, with the calls of `server` from there.
 *
 * ```js
 * const person = new mglobal(db, 'Person', 1);
 * person.set('city', 'Redhill'); // ^Person(1,"city")="Redhill"
 * ```
 */
export class mglobal {
  constructor(db: server, global: string, ...fixed: Key[]);

  /** Makes the object stand for another node. */
  reset(global: string, ...fixed: Key[]): void;

  /** The value, `''` where there is none. */
  get(...subscripts: Key[]): string;
  get(...subscriptsThenCallback: [Key, ...Key[], Callback]): null;
  /** Stores the last argument; `set()` stores `''` at the node itself. */
  set(...subscriptsThenData: Key[]): string;
  set(...subscriptsDataCallback: [...Key[], Data, Callback]): null;
  /** Deletes the node and everything below it; answers `'0'`. */
  delete(...subscripts: Key[]): string;
  delete(...subscriptsThenCallback: [Key, ...Key[], Callback]): null;
  /** `'0'` nothing, `'1'` a value, `'10'` children, `'11'` both. */
  defined(...subscripts: Key[]): string;
  defined(...subscriptsThenCallback: [Key, ...Key[], Callback]): null;
  /** The subscript behind the last one given, `''` at the end; `''` as the last one is the start. */
  next(...subscripts: Key[]): string;
  next(...subscriptsThenCallback: [Key, ...Key[], Callback]): null;
  /** The subscript before the last one given. */
  previous(...subscripts: Key[]): string;
  previous(...subscriptsThenCallback: [Key, ...Key[], Callback]): null;
  /** Adds the last argument and answers the sum, in M's spelling. */
  increment(...subscriptsThenAmount: [...Key[], string | number | bigint]): string;
  increment(...subscriptsAmountCallback: [...Key[], string | number | bigint, Callback]): null;
  /** Locks a node; the last argument is the timeout in seconds, -1 waits. `'1'`, or `'0'` when it was not free. */
  lock(...subscriptsThenTimeout: [...Key[], string | number]): string;
  lock(...subscriptsTimeoutCallback: [...Key[], string | number, Callback]): null;
  /** Gives one lock back; `'1'`, also where nothing was locked. */
  unlock(...subscripts: Key[]): string;
  unlock(...subscriptsThenCallback: [Key, ...Key[], Callback]): null;

  /**
   * `merge([...subscripts,] source [, ...sourceSubscripts])` copies the source, an mglobal of the same connection, and
   * everything below it over a node; other nodes stay. Answers `'0'`.
   */
  merge(...subscriptsSourceSubscripts: [mglobal | Key, ...(mglobal | Key)[]]): string;

  /**
   * `setchildnodes([...partialKey,] nodes[, options])` stores child nodes and answers `''`.
   *
   * ```js
   * const city = new mglobal(db, 'City');
   * city.setchildnodes([{ key: 'Leeds', data: 'LS' }, { key: ['Redhill', 'code'], data: 'RH1' }]);
   * city.getchildnodes({ getdata: true, max: 20 }).map(({ key }) => key).join(); // 'Leeds,Redhill'
   * ```
   */
  setchildnodes(
    ...partialKeyNodesOptions:
      | [...Key[], readonly ChildNode[]]
      | [...Key[], readonly ChildNode[], SetChildNodesOptions & { numerickeys?: false }]
      | [...Key[], readonly Data[], SetChildNodesOptions & { numerickeys: true }]
  ): string;
  /** `getchildnodes([...partialKey,] [options])` answers the keys of children, and more if asked to. */
  getchildnodes(
    ...partialKeyThenOptions: [...Key[], GetChildNodesOptions & { getdata: true; numerickeys?: false }]
  ): { key: string; data?: string }[];
  getchildnodes(
    ...partialKeyThenOptions: [...Key[], GetChildNodesOptions & { numerickeys: true }]
  ): (string | undefined)[];
  getchildnodes(
    ...partialKeyThenOptions:
      | Key[]
      | [...Key[], GetChildNodesOptions & { getdata?: false; numerickeys?: false }]
  ): string[];

  /** The stored value with its type, undefined where there is none. */
  typed(...subscripts: Subscript[]): Value | undefined;
  /** Stores the last argument with its type. */
  setTyped(...subscriptsThenValue: [...Subscript[], Value]): string | undefined;
  /** Adds the last argument; a node without a value, or with a number, then holds a number. */
  incrementTyped(...subscriptsThenAmount: [...Subscript[], number]): string | number;
  /** The document below a node as JSON text, undefined where there is nothing. */
  documentText(...subscripts: Key[]): string | undefined;
  /** Replaces a subtree by the document that the last argument spells in JSON, in one write. */
  setDocumentText(...subscriptsThenJson: [...Key[], string]): string;
  /** Lays the document that the last argument spells over a subtree, in one write. */
  mergeDocumentText(...subscriptsThenJson: [...Key[], string]): string;
  /** Changes a document by the RFC 7396 patch that the last argument spells, in one write. */
  patchDocumentText(...subscriptsThenJson: [...Key[], string]): string;
}

/** Where a cursor begins. */
export interface CursorQuery {
  /** The global; for a directory the name to begin behind, `''` or none for all. */
  global?: string;
  /**
   * The seed, itself left out: its last element may be `''`, the start for `next` and the end for `previous`.
   */
  key?: readonly Key[];
}

/** What a cursor shows. */
export interface CursorOptions {
  /** Every node with a value behind the seed, at any depth, instead of the children of one node. Default false. */
  multilevel?: boolean;
  /** The data too. Default false. */
  getdata?: boolean;
  /** The names of the globals, with caret. Default false. */
  globaldirectory?: boolean;
  /** Include the product's own globals in a directory. Default false. */
  hidden?: boolean;
  /** `'url'` answers `key1=…&key2=…&data=…`. */
  format?: 'url' | (string & {});
}

/** What a cursor answers, by its options. */
export type CursorResult<Options> = Options extends { globaldirectory: true } | { format: 'url' }
  ? string
  : Options extends { multilevel: true; getdata: true }
    ? { key: string[]; data: string }
    : Options extends { multilevel: true }
      ? { key: string[] }
      : Options extends { getdata: true }
        ? { key: string; data: string }
        : string;

/**
 * A cursor: a live view that costs bytes and may be left at any time. After the end it stays on the last key.
 *
 * ```js
 * const cursor = new mcursor(db, { global: 'Person', key: [''] }, { multilevel: true, getdata: true });
 * for (let leaf = cursor.next(); leaf !== null; leaf = cursor.next()) console.log(leaf.key, leaf.data);
 * ```
 */
// biome-ignore lint/complexity/noBannedTypes: no options are the empty options
export class mcursor<const Options extends CursorOptions = {}> {
  constructor(db: server, query: CursorQuery, options?: Options);
  /** The next result, null at the end. */
  next(): CursorResult<Options> | null;
  /** The one before, null at the beginning. */
  previous(): CursorResult<Options> | null;
  /** Makes it another cursor, with other options. */
  reset(query: CursorQuery, options?: CursorOptions): void;
  /** There is no SQL here: throws `ERR_UNSUPPORTED`, as `cleanup` does. */
  execute(...args: unknown[]): never;
  cleanup(...args: unknown[]): never;
}

/** There are no classes of an M product here: making one throws `ERR_UNSUPPORTED`. */
export class mclass {
  constructor(db: server, ...args: unknown[]);
}
