// Names of globals that the other side does not allow, and names like them that it does.

import { fault } from './faults.mjs';

/** @typedef {{ allows: (name: string) => boolean, like: (name: string) => string, longest: number, why: string }} NameRule */

/** @type {NameRule} what YottaDB and GT.M allow */
export const M_NAMES = {
  allows: (name) => /^[%A-Za-z][A-Za-z0-9]{0,30}$/.test(name),
  like: (name) => name.replace(/[^%A-Za-z0-9]|(?<!^)%/g, ''),
  longest: 31,
  why: 'M takes % or a letter, then letters and digits, at most 31 characters',
};

/** @type {NameRule} what CaretDB allows; `^%caretdb` is its own */
export const CARETDB_NAMES = {
  allows: (name) =>
    name.length <= 255 && /^[%A-Za-z](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?$/.test(name) && name !== '%caretdb',
  like: (name) => name.replace(/[^%A-Za-z0-9_.-]|(?<!^)%/g, '_').replace(/[_.-]+$/, ''),
  longest: 255,
  why: 'a name is % or a letter, then letters and digits, with _ . - inside, at most 255 characters, and not %caretdb',
};

/** Which name each global has on the other side. */
export class Names {
  /** @type {Map<string, string>} those that had to change */
  renamed = new Map();
  #rule;
  #rename;
  /** @type {Set<string>} */
  #taken;

  /**
   * @param {NameRule} rule
   * @param {boolean} rename give another name to what is not allowed, rather than refuse it
   * @param {Iterable<string>} all every name that moves, so that no new name meets one of them
   */
  constructor(rule, rename, all = []) {
    this.#rule = rule;
    this.#rename = rename;
    this.#taken = new Set([...all].filter(rule.allows));
  }

  /**
   * @param {string} name
   * @returns {string}
   * @throws {Error} `ERR_BAD_NAME`
   */
  of(name) {
    if (this.#rule.allows(name)) return name;
    const before = this.renamed.get(name);
    if (before !== undefined) return before;
    if (!this.#rename) {
      throw fault(
        'ERR_BAD_NAME',
        `${JSON.stringify(name)}: ${this.#rule.why}; --rename gives such globals another name`,
      );
    }
    const found = this.#free(name);
    this.#taken.add(found);
    this.renamed.set(name, found);
    return found;
  }

  /** @param {string} name */
  #free(name) {
    const like = this.#rule.like(name);
    const start = (/^[%A-Za-z]/.test(like) ? like : `X${like}`).slice(0, this.#rule.longest);
    for (let count = 1; ; count++) {
      const end = count === 1 ? '' : String(count);
      const candidate = start.slice(0, this.#rule.longest - end.length) + end;
      if (this.#rule.allows(candidate) && !this.#taken.has(candidate)) return candidate;
    }
  }
}
