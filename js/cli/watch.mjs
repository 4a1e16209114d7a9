// `caretdb watch`: prints what any program changes, as it is committed, until it is interrupted.

import { wholeNumber } from './arguments.mjs';
import { nodeAsJson, parseReference, spell, spellValue } from './nodes.mjs';
import { count } from './output.mjs';

/** How often counts are printed, in milliseconds. */
const EVERY = 1000;

/** @typedef {import('../native/watch.mjs').Change} Change */

/** @type {import('./commands.mjs').Command} */
export const watchCommand = {
  takes: '[<node>] [--counts] [--limit <changes>]',
  summary: 'prints changes as they are committed, by any program',
  teaches: `Without a node all globals are watched. A line is a node and its new value, or delete and the node that went
with everything below it. It goes on until Ctrl-C, or until --limit changes were printed.
With --counts it prints how many nodes of each global were set and deleted, once a second where any were.

As in
  caretdb watch '^Person'
  caretdb watch '^Person(1)' --json          one JSON object a change; last ends a transaction
  caretdb watch --counts`,
  options: {
    counts: { type: 'boolean', help: 'how many changes there were in each global, not which' },
    limit: { type: 'string', help: 'end after so many changes; default never' },
  },
  positionals: [0, 1],
  outside: true,
  async run({ db, out, err }, [text], { json, counts, limit }) {
    const store = db('read');
    const reference = text === undefined ? undefined : parseReference(text);
    const most = wholeNumber(limit, '--limit');
    const watcher =
      reference === undefined ? store.watch() : store.watch(reference.name, reference.subscripts);
    const stop = () => watcher.close();
    process.once('SIGINT', stop).once('SIGTERM', stop);
    const printer = counts ? new Counts(out, json) : new Lines(out, err, json);
    try {
      let done = 0;
      if (most > 0) {
        for await (const change of watcher) {
          printer.take(change);
          done += 1;
          if (done >= most) break;
        }
      }
    } finally {
      printer.end();
      watcher.close();
      process.off('SIGINT', stop).off('SIGTERM', stop);
    }
  },
};

/** One line a change. */
class Lines {
  #out;
  #err;
  #json;

  /**
   * @param {import('./output.mjs').Output} out
   * @param {import('./output.mjs').Output} err
   * @param {boolean} json
   */
  constructor(out, err, json) {
    this.#out = out;
    this.#err = err;
    this.#json = json;
  }

  /** @param {Change} change */
  take({ kind, global, subscripts, value, transaction, last }) {
    const node = { name: global, subscripts };
    if (this.#json) this.#out.json({ kind, ...nodeAsJson(node, { value, transaction, last }) });
    else if (kind === 'lost')
      this.#err.line('changes came faster than they could be printed: some are missing here');
    else if (kind === 'set')
      this.#out.line(`${spell(node)}=${value === undefined ? '<empty>' : spellValue(value)}`);
    else this.#out.line(`${kind === 'delete' ? 'delete' : 'delete the value of'} ${spell(node)}`);
    if (last) this.end();
  }

  end() {
    this.#out.flush();
    this.#err.flush();
  }
}

/** How many changes each global had, once a second. */
class Counts {
  /** @type {Map<string, { set: number, deleted: number }>} */
  #counts = new Map();
  #out;
  #json;
  #timer = setInterval(() => this.#print(), EVERY);

  /**
   * @param {import('./output.mjs').Output} out
   * @param {boolean} json
   */
  constructor(out, json) {
    this.#out = out;
    this.#json = json;
  }

  /** @param {Change} change */
  take({ kind, global }) {
    const counts = this.#counts.get(global) ?? { set: 0, deleted: 0 };
    if (kind === 'set') counts.set += 1;
    else if (kind !== 'lost') counts.deleted += 1;
    this.#counts.set(global, counts);
  }

  #print() {
    if (this.#counts.size === 0) return;
    if (this.#json) this.#out.json(Object.fromEntries(this.#counts));
    else
      for (const [name, { set, deleted }] of this.#counts)
        this.#out.line(`^${name}  ${count(set)} set, ${count(deleted)} deleted`);
    this.#counts.clear();
    this.#out.flush();
  }

  end() {
    clearInterval(this.#timer);
    this.#print();
  }
}
