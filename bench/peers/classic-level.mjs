// classic-level: LevelDB. Its writes and iterators answer promises; keys are digits of one length, so that they stand in the
// order of their numbers.

const SURVIVES = 'a killed process';

/** @param {number} n */
const keyOf = (n) => String(n).padStart(8, '0');

/** Throws where the package cannot be used. */
export const probe = () => import('classic-level');

export const keyvalue = [
  {
    name: 'classic-level, no fsync',
    durability: SURVIVES,
    /** @param {string} folder */
    async open(folder) {
      const { ClassicLevel } = await import('classic-level');
      const db = new ClassicLevel(folder);
      await db.open();
      const numbers = { lt: 'a' };
      return {
        waits: true,
        /** @param {number} n @param {string} value */
        set: (n, value) => db.put(keyOf(n), value),
        /** @param {number} n */
        get: (n) => db.getSync(keyOf(n)),
        /** @param {string} n */
        async next(n) {
          const iterator = db.keys({ gt: n, lt: 'a', limit: 1 });
          const key = await iterator.next();
          await iterator.close();
          return key ?? '';
        },
        keys: () => db.keys(numbers),
        async increment() {
          const sum = String(Number(db.getSync('counter') ?? 0) + 1);
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

export const documents = [
  {
    name: 'classic-level, JSON text',
    durability: SURVIVES,
    /** @param {string} folder */
    async open(folder) {
      const { ClassicLevel } = await import('classic-level');
      const db = new ClassicLevel(folder);
      await db.open();
      return {
        waits: true,
        /** @param {number} n @param {unknown} document */
        write: (n, document) => db.put(keyOf(n), JSON.stringify(document)),
        /** @param {number} n */
        read: (n) => JSON.parse(db.getSync(keyOf(n))),
        close: () => db.close(),
      };
    },
  },
];

export const items = [
  {
    id: 'classic-level',
    name: 'classic-level, a batch with fsync',
    durability: 'a power cut, after the batch',
    /** @param {string} folder */
    async open(folder) {
      const { ClassicLevel } = await import('classic-level');
      const db = new ClassicLevel(folder, { keyEncoding: 'buffer', valueEncoding: 'buffer' });
      await db.open();
      return {
        /** @param {(insert: (key: Buffer, value: Buffer) => void) => void} work */
        async batch(work) {
          /** @type {{ type: 'put', key: Buffer, value: Buffer }[]} */
          const puts = [];
          work((key, value) => puts.push({ type: 'put', key: Buffer.from(key), value: Buffer.from(value) }));
          await db.batch(puts, { sync: true });
        },
        /** @param {Buffer} key */
        fetch: (key) => db.getSync(key),
        close: () => db.close(),
      };
    },
  },
];
