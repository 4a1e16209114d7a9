// CaretDB: hot calls through `mglobal` and through the native face, documents through `glsDB`; one call, one commit.

import { glsDB, mcursor, mglobal, open, server } from '../../js/index.mjs';

const SURVIVES = {
  relaxed: 'a killed process; a power cut, but for the last 100 ms',
  process: 'a killed process',
};

/** @typedef {keyof typeof SURVIVES} Durability */

/** @param {string} folder @param {Durability} durability */
function connect(folder, durability) {
  const db = new server();
  db.open({ type: 'CaretDB', path: folder, durability });
  return db;
}

/** @param {Durability} durability */
const throughMglobal = (durability) => ({
  name: `CaretDB mglobal, ${durability}`,
  durability: SURVIVES[durability],
  runtimes: ['node', 'bun'],
  /** @param {string} folder */
  open(folder) {
    const db = connect(folder, durability);
    const global = new mglobal(db, 'keyvalue');
    return {
      /** @param {number} n @param {string} value */
      set: (n, value) => global.set(n, value),
      /** @param {number} n */
      get: (n) => global.get(n),
      /** @param {string} n */
      next: (n) => global.next(n),
      increment: () => global.increment('counter', 1),
      /** @param {Uint32Array} numbers @param {string} value */
      load(numbers, value) {
        db.tstart();
        for (const n of numbers) global.set(n, value);
        db.tcommit();
      },
      close: () => db.close(),
    };
  },
});

/** @param {Durability} durability */
const throughNative = (durability) => ({
  name: `CaretDB native, ${durability}`,
  durability: SURVIVES[durability],
  runtimes: ['node', 'bun'],
  /** @param {string} folder */
  open(folder) {
    const db = open(folder, { durability });
    const global = db.global('keyvalue');
    const counter = db.global('counter');
    return {
      /** @param {number} n @param {string} value */
      set: (n, value) => global.set(n, value),
      /** @param {number} n */
      get: (n) => global.get(n),
      /** @param {number | string} n */
      next: (n) => global.next(n) ?? '',
      keys: () => global.keys(),
      increment: () => counter.increment(1),
      /** @param {Uint32Array} numbers @param {string} value */
      load(numbers, value) {
        db.transaction(() => {
          for (const n of numbers) global.set(n, value);
        });
      },
      close: () => db.close(),
    };
  },
});

export const keyvalue = [throughMglobal('relaxed'), throughMglobal('process'), throughNative('relaxed')];

/** @param {Durability} durability */
const throughGlsdb = (durability) => ({
  name: `CaretDB glsDB, ${durability}`,
  durability: SURVIVES[durability],
  runtimes: ['node', 'bun'],
  /** @param {string} folder */
  open(folder) {
    const db = connect(folder, durability);
    const documents = new glsDB({ db }).node('bmTest');
    const global = new mglobal(db, 'bmTest');
    return {
      /** @param {number} n @param {unknown} document */
      write(n, document) {
        documents.$(n).document = document;
      },
      /** @param {number} n */
      read: (n) => documents.$(n).document,
      global,
      /** A cursor over the leaves, from the first. */
      cursor: () => new mcursor(db, { global: 'bmTest', key: [''] }, { multilevel: true, getdata: true }),
      close: () => db.close(),
    };
  },
});

export const documents = [throughGlsdb('relaxed'), throughGlsdb('process')];

/**
 * @param {string} id
 * @param {Durability} durability
 * @param {string} says
 */
const itemStore = (id, durability, says) => ({
  id,
  name: `CaretDB native, ${durability}`,
  durability: says,
  /** @param {string} folder */
  open(folder) {
    const db = open(folder, { durability });
    const global = db.global('item');
    return {
      /** @param {(insert: (key: Buffer, value: Buffer) => void) => void} work */
      batch(work) {
        work((key, value) => global.set(key, value));
        if (durability !== 'process') db.syncNow();
      },
      /** @param {Buffer} key */
      fetch: (key) => global.get(key),
      close: () => db.close(),
    };
  },
});

export const items = [
  itemStore(
    'caretdb',
    'relaxed',
    'a power cut, after the batch: one commit for each item, one flush for each batch',
  ),
  itemStore('caretdb-process', 'process', 'a killed process: one commit for each item'),
];

/**
 * @param {string} form how an image is kept
 * @param {(image: Buffer) => any} prepare
 * @param {(prepared: any) => any} toStored
 * @param {(stored: any) => Uint8Array} toBytes
 */
const attachmentStore = (form, prepare, toStored, toBytes) => ({
  name: `CaretDB, ${form}`,
  durability: 'a power cut, after the flush at the end',
  /** @param {string} folder */
  open(folder) {
    const db = open(folder, { durability: 'relaxed' });
    const global = db.global('picture');
    return {
      prepare,
      /** @param {string} id @param {any} prepared */
      write: (id, prepared) =>
        global.setDocument(id, { name: 'image.png', type: 'image/png', data: toStored(prepared) }),
      /** @param {string} id */
      read: (id) => toBytes(/** @type {any} */ (global.getDocument(id)).data),
      sync: () => db.syncNow(),
      close: () => db.close(),
    };
  },
});

/** @template T @param {T} thing */
const same = (thing) => thing;

export const attachments = [
  attachmentStore(
    'array of numbers',
    (image) => Array.from(image),
    same,
    (data) => Uint8Array.from(data),
  ),
  attachmentStore(
    'base64 text',
    same,
    (image) => image.toString('base64'),
    (data) => Buffer.from(data, 'base64'),
  ),
  attachmentStore('bytes in the document', same, same, same),
  {
    name: 'CaretDB, attachment',
    durability: 'a power cut, from 64 KiB on as soon as it is stored',
    /** @param {string} folder */
    open(folder) {
      const db = open(folder, { durability: 'relaxed' });
      return {
        prepare: same,
        /** @param {string} id @param {Buffer} image */
        write: (id, image) => db.attachments.put('picture', id, 'image.png', image, { type: 'image/png' }),
        /** @param {string} id */
        read: (id) => db.attachments.get('picture', id, 'image.png')?.bytes(),
        sync: () => db.syncNow(),
        close: () => db.close(),
      };
    },
  },
];
