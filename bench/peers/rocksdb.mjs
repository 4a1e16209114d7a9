// RocksDB by @nxtedition/rocksdb, the one maintained binding that offers reads without a promise. A write is a batch of one;
// the binding writes it before it returns.

/** @param {number} n */
const keyOf = (n) => String(n).padStart(8, '0');

const BINARY = { keyEncoding: 'buffer', valueEncoding: 'buffer' };

/** Throws where the package cannot be used. */
export const probe = () => import('@nxtedition/rocksdb');

/** @param {string} folder */
async function openRocks(folder) {
  const { RocksLevel } = await import('@nxtedition/rocksdb');
  const db = new RocksLevel(folder);
  await db.open();
  return db;
}

/** @param {any} db @param {string} key @returns {string | undefined} */
function find(db, key) {
  return db._getManySync([key], { valueEncoding: 'utf8' })[0];
}

export const keyvalue = [
  {
    name: 'RocksDB, no fsync',
    durability: 'a killed process',
    /** @param {string} folder */
    async open(folder) {
      const db = await openRocks(folder);
      return {
        waits: true,
        /** @param {number} n @param {string} value */
        set: (n, value) => db.put(keyOf(n), value),
        /** @param {number} n */
        get: (n) => find(db, keyOf(n)),
        keys: () => db.keys({ lt: 'a' }),
        async increment() {
          const sum = String(Number(find(db, 'counter') ?? 0) + 1);
          await db.put('counter', sum);
          return sum;
        },
        /** @param {Uint32Array} numbers @param {string} value */
        load: (numbers, value) =>
          db.batch(Array.from(numbers, (n) => ({ type: 'put', key: keyOf(n), value }))),
        close: () => db.close(),
      };
    },
  },
];

export const items = [
  {
    id: 'rocksdb',
    name: 'RocksDB, a batch with fsync',
    durability: 'a power cut, after the batch',
    /** @param {string} folder */
    async open(folder) {
      const db = await openRocks(folder);
      return {
        /** @param {(insert: (key: Buffer, value: Buffer) => void) => void} work */
        async batch(work) {
          const batch = db.batch();
          work((key, value) => batch.put(Buffer.from(key), Buffer.from(value), BINARY));
          await batch.write({ sync: true });
        },
        /** @param {Buffer} key */
        fetch: (key) => db._getManySync([key], BINARY)[0],
        close: () => db.close(),
      };
    },
  },
];
