// The benchmark's view of one global: it makes the database calls that a run times, and counts each one as it is made.

/**
 * The calls of a section. `nxq` counts the nodes a cursor delivered; its last call, which answers that there are no more,
 * delivers none and is not counted. `doc` counts one-call documents, written or read.
 *
 * @typedef {{ set: number, get: number, inc: number, def: number, nxt: number, nxq: number, doc: number }} DbxCounts
 *
 * What the benchmark needs of the mg-dbx face and of its one-call documents:
 *
 * @typedef {string | number} Argument
 * @typedef {object} Mglobal
 * @property {(...subscripts: Argument[]) => string} get
 * @property {(...subscriptsThenValue: Argument[]) => string} set
 * @property {(...subscripts: Argument[]) => string} defined
 * @property {(...subscripts: Argument[]) => string} delete
 * @property {(...subscripts: Argument[]) => string} next
 * @property {(...subscripts: Argument[]) => string} previous
 * @property {(...subscriptsThenSeconds: Argument[]) => string} lock `"0"` when it could not be had in time
 * @property {(...subscripts: Argument[]) => string} unlock
 * @property {(...subscriptsThenJson: Argument[]) => unknown} setDocumentText
 * @property {(...subscripts: Argument[]) => string | undefined} documentText
 *
 * @typedef {{ key: string[], data: string }} LeafAtCursor
 * @typedef {{ multilevel: boolean, getdata: boolean }} CursorOptions
 *
 * @typedef {{ tstart(): string, tcommit(): string, trollback(): string, durability(): string, dbversion(): string }} Connection
 *
 * @typedef {object} Mgdbx
 * @property {Connection} db
 * @property {new (db: any, name: string, ...fixed: string[]) => Mglobal} mglobal
 * @property {new (db: any, seed: { global: string, key: string[] }, options: CursorOptions) => { next(): LeafAtCursor | null }} mcursor
 */

/** @returns {DbxCounts} */
export function noCalls() {
  return { set: 0, get: 0, inc: 0, def: 0, nxt: 0, nxq: 0, doc: 0 };
}

/**
 * Arguments arrive as arrays, because the depth of a document is known only when it is read: `[record, 'address', 'city']`.
 */
export class CountedGlobal {
  /**
   * @param {Mgdbx} mgdbx
   * @param {string} name without the caret
   */
  constructor(mgdbx, name) {
    this.name = name;
    this.counts = noCalls();
    this.db = mgdbx.db;
    this.mcursor = mgdbx.mcursor;
    /** The same global for calls outside the timed sections, which are not counted. */
    this.uncounted = new mgdbx.mglobal(mgdbx.db, name);
  }

  /** Counts from zero again, and answers what was counted so far. */
  takeCounts() {
    const { counts } = this;
    this.counts = noCalls();
    return counts;
  }

  /**
   * Calls that are not counted, committed together.
   *
   * @param {(global: Mglobal) => void} act
   */
  inTransaction(act) {
    this.db.tstart();
    try {
      act(this.uncounted);
    } catch (error) {
      this.db.trollback();
      throw error;
    }
    this.db.tcommit();
  }

  /** @param {(string | number)[]} subscriptsThenValue */
  set(subscriptsThenValue) {
    this.counts.set += 1;
    this.uncounted.set(...subscriptsThenValue);
  }

  /**
   * @param {(string | number)[]} subscripts
   * @returns {string}
   */
  get(subscripts) {
    this.counts.get += 1;
    return this.uncounted.get(...subscripts);
  }

  /**
   * @param {(string | number)[]} subscripts
   * @returns {string} `"0"`, `"1"`, `"10"` or `"11"`
   */
  defined(subscripts) {
    this.counts.def += 1;
    return this.uncounted.defined(...subscripts);
  }

  /**
   * @param {(string | number)[]} subscripts
   * @returns {string} `''` at the end
   */
  next(subscripts) {
    this.counts.nxt += 1;
    return this.uncounted.next(...subscripts);
  }

  /**
   * A cursor over the valued nodes after `[record, '']`; it runs on into the records after this one.
   *
   * @param {number} record
   * @returns {() => LeafAtCursor | null}
   */
  leavesAfter(record) {
    const cursor = new this.mcursor(
      this.db,
      { global: this.name, key: [String(record), ''] },
      { multilevel: true, getdata: true },
    );
    return () => {
      const leaf = cursor.next();
      if (leaf !== null) this.counts.nxq += 1;
      return leaf;
    };
  }

  /**
   * @param {number} record
   * @param {string} json
   */
  setDocumentText(record, json) {
    this.counts.doc += 1;
    this.uncounted.setDocumentText(record, json);
  }

  /**
   * @param {number} record
   * @returns {string | undefined}
   */
  documentText(record) {
    this.counts.doc += 1;
    return this.uncounted.documentText(record);
  }
}
