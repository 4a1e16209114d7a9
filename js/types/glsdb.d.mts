// The types of `caretdb/glsdb`.

/** What a document can be. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** What comes back from the store: as with JSON.parse, only the program knows what is in it. */
// biome-ignore lint/suspicious/noExplicitAny: any is what JSON.parse gives too
export type Stored = any;

/** What a single value can be. */
export type Value = string | number | boolean | null | Uint8Array;

/** What a program may use as a key. Numbers become M's canonical form: 0.5 is the subscript `.5`. */
export type Key = string | number | bigint | boolean | Uint8Array;

export interface GlsDBOptions {
  /** A connection that is open already, as handlers have it in `this.mgdbx.db`. */
  db?: unknown;
  /** Gives the `mglobal` of a global on that connection. */
  use?: (name: string, ...fixed: Key[]) => unknown;
  mglobal?: unknown;
  mcursor?: unknown;
  mclass?: unknown;
  /** Accepted for programs that pass it; every store is a CaretDB store. */
  type?: string;
  /**
   * Read stored *strings* as the published glsdb does: `'null'`, `'true'`, `'false'` and text of fewer than fifteen
   * characters that JavaScript reads as a number become null, booleans and numbers. It is for data that a program wrote
   * as text, and loses what looks like something else (`'007'` becomes 7). Writing is not affected. Default false.
   */
  legacyValues?: boolean;
  /** Only 6, the width of the storage format, is accepted. Longer arrays keep their order without it. */
  maxArrayDigits?: number;
  /** Only `'0'` is accepted. */
  arrayPadChar?: string;
}

export interface OpenParameters {
  /** `'CaretDB'`, the default. */
  type?: string;
  /** The store's folder; else `CARETDB_PATH`, else `./caretdb-data`. */
  path?: string;
  [option: string]: unknown;
}

export interface ChildRange {
  /** `'reverse'` or `'backwards'` goes from the last child to the first; anything else forwards. */
  direction?: string;
  /** The key to start with, itself included. It need not exist. */
  from?: Key;
  /** The key to end with, itself included. It need not exist. */
  to?: Key;
  /** Only keys that begin with this text. */
  startsWith?: string | number;
}

export interface LeafRange {
  /** `'reverse'` or `'backwards'` goes from the last value to the first; anything else forwards. */
  direction?: string;
}

interface Payload {
  node: Node;
  subscripts: Key[];
}

/** What listeners get, by event. Each event is one call on the store. */
export interface Events {
  get: Payload;
  set: Payload & { value: Value };
  delete: Payload;
  increment: Payload & { by: number | string };
  /** `method` is the property that asked. */
  defined: Payload & { method: string };
  next: Payload;
  previous: Payload;
  /** The subscripts begin with the name of the global here. */
  cursor_next: Payload;
  cursor_previous: Payload;
  lock: Payload;
  unlock: Payload;
  document_get: Payload;
  document_set: Payload & { value: unknown };
  document_merge: Payload & { value: unknown };
  document_patch: Payload & { value: unknown };
}

export interface NodeClass {
  /** `new glsdb.node('Person.1.colours[0]')`, or the keys in an array: `new glsdb.node(['Person', 1])`. */
  new (path: string | readonly Key[]): Node;
  (path: string | readonly Key[]): Node;
  readonly prototype: Node;
}

/**
 * JavaScript objects, arrays and JSON documents that live in a store.
 *
 * ```js
 * const glsdb = new glsDB();
 * glsdb.open({ path: 'data' });
 * const person = new glsdb.node('Person');
 * person.$(1).document = { name: 'Rob', colours: ['blue', 'green'] };
 * person.$(1).$('name').value;  // 'Rob'
 * glsdb.close();
 * ```
 */
export class glsDB {
  constructor(options?: GlsDBOptions);
  /** @deprecated The product's name is ignored. */
  constructor(type: string, options?: GlsDBOptions);

  /** Opens the store in a folder; nodes made earlier work on it from then on. */
  open(path: string): void;
  open(parameters?: OpenParameters): void;
  /** Closes the connection, with what it locked. Nodes then throw `ERR_CLOSED` until the next `open`. */
  close(): void;

  /** The version of the database interface. */
  readonly version: string;
  /** The mg-dbx face on the same connection. */
  readonly dbx: { db: Stored; mglobal: Stored; mcursor: Stored; mclass: Stored };

  readonly node: NodeClass;
  /** The names of all globals, without caret. */
  readonly directory: string[];
  /** Visits the names of the globals that follow `from`, until the callback answers false. */
  forEachGlobal(callback: (name: string) => unknown): void;
  forEachGlobal(options: { from?: string }, callback: (name: string) => unknown): void;

  /**
   * The document of a node or of the proxy of one. Without a version it is read in one call; `'next'` reads by nested
   * steps through the children and `'mcursor'` by a cursor over the values, with an event for each call.
   */
  document(node: Node | object, version?: 'next' | 'mcursor' | (string & {})): Stored;

  readonly transaction: {
    start(): string;
    level(): string;
    commit(): string;
    rollback(): string;
  };

  /** Listens to an event. There is one listener for an event: a second one waits for `off`. */
  on<E extends keyof Events>(type: E, callback: (this: glsDB, payload: Events[E]) => void): void;
  on(type: string, callback: (this: glsDB, payload: Stored) => void): void;
  off(type: string): void;
  emit(type: string, payload?: unknown): void;

  /** There are no M routines here: throws `ERR_UNSUPPORTED`, as the four below do. */
  function(...args: unknown[]): never;
  classMethod(...args: unknown[]): never;
  irisClass(...args: unknown[]): never;
  irisClassExists(...args: unknown[]): never;
  irisProxy(...args: unknown[]): never;
}

/** A place in a global, whether anything is stored there or not. Made by `glsdb.node`. */
export interface Node {
  /** The global. */
  readonly name: string;
  /** Name and subscripts, as stored. */
  readonly keys: Key[];
  /** The subscripts, as stored: array members as `[000000]`. */
  readonly subscripts: Key[];
  /** The last subscript, `''` for the global itself. */
  readonly key: Key;
  /**
   * `Person.1.colours[0]`. It leads back to this node: within keys, `.`, `[`, `]` and a `#` that could be mistaken are
   * spelt `#056`, `#133`, `#135` and `#043`.
   */
  readonly path: string;

  /**
   * The value of this node, as it was stored: `'007'` stays a string, 0.5 a number, null null. Where there is no value
   * but children, the document; where there is nothing, `''`. Setting it leaves children alone, unless it is an object
   * or array: that replaces the document.
   */
  get value(): Stored;
  set value(value: unknown);
  /** The value of this node without a look at its children, `''` where there is none. */
  getValue(): Stored;
  /** The same as setting `value`. */
  rawSet(value: unknown): void;
  /** Adds to the value, in one call that no other process can come between, and answers the sum as M writes it. */
  increment(amount?: number | string): string;
  /** Deletes this node and everything below. */
  delete(): void;

  /** `'0'` nothing is here, `'1'` a value, `'10'` children, `'11'` both. */
  readonly defined: string;
  readonly exists: boolean;
  readonly hasChildren: boolean;
  /** It has a value and no children. */
  readonly isLeafNode: boolean;
  readonly hasValue: boolean;
  /** It holds an array, an empty one included. */
  readonly isArray: boolean;
  /** Its key is that of an array member. */
  readonly isArrayMember: boolean;

  /**
   * The JSON document stored here, `''` where there is nothing. Setting it replaces all that was here and below, in
   * one call: nobody sees a mixture. Keys come back in collation order.
   */
  get document(): Stored;
  set document(value: unknown);
  /** The document, for JSON.stringify. */
  toJSON(): Stored;
  /** The same document, read with a cursor over its values. */
  readonly document_q: Stored;
  /** Writes a document over what is here, in one call: what it does not name stays. */
  merge(value: unknown): void;
  /** Applies a JSON Merge Patch (RFC 7396), in one call. */
  patch(change: unknown): void;
  /** Writes a document over what is here with one `set` for each scalar, which others can see half done. */
  setLeaves(value: unknown): void;
  /** Copies another node with all that is below it over this one. Answers `'0'`. */
  import(source: Node | object): string;

  /** The child with this key, or with an array of keys the node further down. `'[7]'` is the array member 7. */
  $(key: Key | readonly Key[]): Node;
  /** The array member with this index. */
  _(index: number | string): Node;
  getChild(key: Key): Node;
  /** The child that holds this key of a JSON object, whatever its characters. */
  property(name: string): Node;
  /** The node that a JSON Pointer (RFC 6901) leads to from here: `/address/city`, `/colours/0`. */
  pointer(pointer: string): Node;
  /** This node as if it were a JavaScript object or array. */
  readonly proxy: Stored;

  readonly parent: Node | undefined;
  readonly firstChild: Node | undefined;
  readonly lastChild: Node | undefined;
  readonly nextSibling: Node | undefined;
  readonly previousSibling: Node | undefined;
  /** The first child behind a key, which need not exist. */
  getChildAfter(seed: Key): Node | undefined;
  childAfter(seed: Key): Node | undefined;
  /** The last child before a key, which need not exist; the last of all for `''`. */
  getChildBefore(seed: Key): Node | undefined;
  childBefore(seed: Key): Node | undefined;
  /** Visits the children until the callback answers false. The view is live. */
  forEachChildNode(callback: (child: Node) => unknown): void;
  forEachChildNode(options: ChildRange, callback: (child: Node) => unknown): void;
  readonly childNodes: Node[];
  readonly children: Node[];
  /** The keys of the children; for an array, its document. */
  readonly properties: Stored[];
  /** How many members an array has, or how many children anything else. */
  readonly length: number;
  /** Visits every value below this node, until the callback answers false. */
  forEachLeafNode(callback: (leaf: Node) => unknown): void;
  forEachLeafNode(
    options: LeafRange & { getdata: true },
    callback: (keys: string[], value: Stored) => unknown,
  ): void;
  forEachLeafNode(options: LeafRange & { getdata?: false }, callback: (leaf: Node) => unknown): void;
  readonly leafNodes: Node[];

  /** Locks this node for this connection, as M's LOCK does. `timeout` is in seconds; -1, the default, waits. */
  lock(timeout?: number): boolean;
  unlock(): boolean;

  // Methods of arrays. Those that change the array throw `ERR_BAD_VALUE` where something else is stored, and make an
  // array where nothing is.

  push(...values: unknown[]): number;
  pop(): Stored;
  shift(): Stored;
  unshift(...values: unknown[]): number;
  splice(start?: number, count?: number, ...values: unknown[]): Stored[];
  /** Adds to the stored array, and answers all of it. */
  concat(...values: unknown[]): Stored[];
  sort(compare?: (a: Stored, b: Stored) => number): this;
  reverse(): this;
  fill(value: unknown, start?: number, end?: number): this;
  /** Undefined when there is no such member. */
  at(index: number): Stored;
  slice(start?: number, end?: number): Stored[] | undefined;
  includes(value: unknown, from?: number): boolean;
  indexOf(value: unknown, from?: number): number;
  lastIndexOf(value: unknown, from?: number): number;
  join(separator?: string): string | undefined;
}
