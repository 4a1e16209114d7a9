// A ring of records in memory that two threads share: one writes, the other reads. A record is there for the reader as soon as it
// is written, whatever the writer does next, and stays there when the writer dies. So nothing has to be sent for each of them:
// who writes rings a bell, once, and only where the other side is not looking anyway.
//
// The numbers in front are the bytes written and read so far (they wrap around), and the bell. Before it rests, the reader
// clears the bell and then looks at what was written; the writer writes and then looks at the bell. Whichever order the four
// steps fall in, at least one side sees the other.

const WRITTEN = 0;
const READ = 1;
const BELL = 2;

/** Bytes in front of the records. */
const FRONT = 64;

/** Bytes in front of a record's text: how long the text is, how many bytes follow it, and two numbers. */
const HEADER = 16;

/** In place of the text's length: the rest of the ring is skipped. */
const SKIP = -1;

/** In place of the number of bytes: there are none, not even none of them. */
const NO_BYTES = -1;

/** The share of a ring that one record may take, so that a large one does not keep out the small ones. */
const SHARE = 4;

/** What only records without text may use, so that there is always room to say that a text comes another way. */
const RESERVE = 4096;

/** @param {number} bytes */
function padded(bytes) {
  return (bytes + 3) & ~3;
}

/** One side of a ring. */
export class Ring {
  /** @param {SharedArrayBuffer} memory from `createRing` or `Ring#memory`; zeros to begin with */
  constructor(memory) {
    this.memory = memory;
    this.front = new Int32Array(memory, 0, FRONT / 4);
    this.cells = new Int32Array(memory, FRONT);
    this.bytes = Buffer.from(memory, FRONT);
    this.size = memory.byteLength - FRONT;
    /** Where this side is; the other side's copy is in the memory. */
    this.at = 0;
  }

  /**
   * The writer's step.
   * @param {number} first
   * @param {number} second
   * @param {string} [text]
   * @param {Uint8Array} [bytes]
   * @returns {boolean} false: there is no room for it, and nothing was written
   */
  write(first, second, text = '', bytes = undefined) {
    const size = bytes === undefined ? 0 : bytes.length;
    // In UTF-8 no text has more than three bytes for one of its units.
    const most = HEADER + padded(text.length * 3) + padded(size);
    if (most > this.size / SHARE) return false;
    const used = (this.at - Atomics.load(this.front, READ)) | 0;
    const start = this.at & (this.size - 1);
    const skipped = start + most > this.size ? this.size - start : 0;
    const reserve = text === '' ? 0 : RESERVE;
    if (used + skipped + most + reserve > this.size) return false;
    if (skipped > 0) this.cells[start / 4] = SKIP;
    const place = skipped > 0 ? 0 : start;
    const length = text === '' ? 0 : this.bytes.write(text, place + HEADER, 'utf8');
    if (bytes !== undefined) this.bytes.set(bytes, place + HEADER + padded(length));
    this.cells[place / 4] = length;
    this.cells[place / 4 + 1] = bytes === undefined ? NO_BYTES : size;
    this.cells[place / 4 + 2] = first;
    this.cells[place / 4 + 3] = second;
    this.at = (this.at + skipped + HEADER + padded(length) + padded(size)) | 0;
    Atomics.store(this.front, WRITTEN, this.at);
    return true;
  }

  /** The writer's question: whether the reader has to be woken. @returns {boolean} */
  needsBell() {
    return Atomics.exchange(this.front, BELL, 1) === 0;
  }

  /**
   * The reader's step: takes the records that are there.
   * @param {(first: number, second: number, text: string, bytes: Buffer | undefined) => boolean | void} take answers false to
   *   leave the record where it is; the bytes are its own
   */
  read(take) {
    while (Atomics.load(this.front, WRITTEN) !== this.at) {
      const before = this.at;
      let place = before & (this.size - 1);
      let skipped = 0;
      if (this.cells[place / 4] === SKIP) {
        skipped = this.size - place;
        place = 0;
      }
      const length = this.cells[place / 4];
      const size = this.cells[place / 4 + 1];
      const start = place + HEADER;
      const text = length === 0 ? '' : this.bytes.toString('utf8', start, start + length);
      const bytes = size === NO_BYTES ? undefined : this.copy(start + padded(length), size);
      // Behind it before it is taken: whoever takes it may read on from within.
      this.at = (before + skipped + HEADER + padded(length) + padded(Math.max(size, 0))) | 0;
      const { at } = this;
      if (take(this.cells[place / 4 + 2], this.cells[place / 4 + 3], text, bytes) === false) {
        this.at = before;
        return;
      }
      if (this.at === at) Atomics.store(this.front, READ, at);
    }
  }

  /** @param {number} start @param {number} size @returns {Buffer} */
  copy(start, size) {
    return Buffer.from(this.bytes.subarray(start, start + size));
  }

  /**
   * The reader's last step: from here on the bell is rung for what comes.
   * @returns {boolean} false: something came in this very moment, and has to be read first
   */
  rest() {
    Atomics.store(this.front, BELL, 0);
    if (Atomics.load(this.front, WRITTEN) === this.at) return true;
    Atomics.store(this.front, BELL, 1);
    return false;
  }
}

/**
 * Makes a ring; the other side is a `new Ring` on its memory.
 * @param {number} size bytes for records, a power of two
 * @returns {Ring}
 */
export function createRing(size) {
  return new Ring(new SharedArrayBuffer(FRONT + size));
}
