// What the viewer changes: a value, a document, or what is stored at a node. The server has these routes only where it was
// started with --edit. Each change is one transaction; there is no undo.

import { addon } from '../../addon.mjs';
import { RequestError } from '../../http/errors.mjs';
import { refusingWrongData } from '../refusal.mjs';
import { childSubscripts, nodeAt, toSubscript } from './address.mjs';

/**
 * @typedef {import('./address.mjs').Address} Address
 * @typedef {ReturnType<typeof nodeAt>} Node
 */

/** The product's own bookkeeping, which the viewer shows but does not change. */
const RESERVED_NAME = '%caretdb';

/** Where children are while the value above them goes: a value cannot be deleted alone. */
const ASIDE = /** @type {const} */ (['viewer', 'aside']);
const MOST_ASIDE = 10_000;

/**
 * @param {any} db
 * @param {() => void} work
 */
function asOneTransaction(db, work) {
  db.tstart();
  try {
    work();
  } catch (error) {
    db.trollback();
    throw error;
  }
  db.tcommit();
}

/** @param {string} text */
function toNumber(text) {
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number))
    throw new RequestError(400, `'${text}' is not a number: give digits, as in 12, -0.5 or 1e9`);
  return number;
}

/** @param {string} text */
function toBoolean(text) {
  if (text !== 'true' && text !== 'false') throw new RequestError(400, 'A boolean is true or false');
  return text === 'true';
}

/** @param {string} text */
function toDocument(text) {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch (error) {
    throw new RequestError(400, `This is not JSON: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * Stores a value, or a document in place of the subtree.
 *
 * @param {any} db
 * @param {Address & { type: 'string' | 'number' | 'boolean' | 'null' | 'document', text?: string, isNew?: boolean }} request
 */
function set(db, { type, text = '', isNew = false, ...address }) {
  const { bare, subscripts } = nodeAt(db, address);
  asOneTransaction(db, () => {
    if (isNew && (bare.has(...subscripts) || bare.hasChildren(...subscripts)))
      throw new RequestError(409, 'A node with this subscript is there already: open it to change it');
    if (type === 'document') bare.setDocumentText(...subscripts, toDocument(text));
    else if (type === 'null') bare.set(...subscripts, null);
    else if (type === 'number') bare.set(...subscripts, toNumber(text));
    else if (type === 'boolean') bare.set(...subscripts, toBoolean(text));
    else bare.set(...subscripts, text);
  });
}

/**
 * Deletes a subtree, or only the value at its root.
 *
 * @param {any} db
 * @param {Address & { what: 'subtree' | 'value' }} request
 */
function remove(db, { what, ...address }) {
  const node = nodeAt(db, address);
  const { bare, subscripts } = node;
  if (what === 'subtree' || !bare.hasChildren(...subscripts)) bare.delete(...subscripts);
  else asOneTransaction(db, () => deleteValue(db, node));
}

/** @param {any} db @param {Node} node */
function deleteValue(db, node) {
  const { name, bare, subscripts } = node;
  const found = childSubscripts(node, { limit: MOST_ASIDE + 1 });
  if (found.length > MOST_ASIDE) {
    const most = MOST_ASIDE.toLocaleString('en-US');
    throw new RequestError(
      413,
      `This node has more than ${most} children, too many to keep while its value goes: store another value in its place`,
    );
  }
  /** @param {string} global @param {...any} at */
  const below = (global, ...at) => new addon.Global(db, global, ...at);
  const keys = found.map(toSubscript);
  for (const key of keys) below(RESERVED_NAME, ...ASIDE, key).merge(below(name, ...subscripts, key));
  bare.delete(...subscripts);
  for (const key of keys) below(name, ...subscripts, key).merge(below(RESERVED_NAME, ...ASIDE, key));
  below(RESERVED_NAME, ...ASIDE).delete();
}

export const handler = refusingWrongData(
  /** @this {{ db: any }} @param {any} messageObj @param {(reply: object) => void} finished */
  function (messageObj, finished) {
    const { routerPath, body } = messageObj.data;
    if (nodeAt(this.db, body).name === RESERVED_NAME)
      return finished({
        error: `^${RESERVED_NAME} is the database's own bookkeeping: it is shown, and not changed here`,
        errorCode: 403,
        code: 'ERR_READ_ONLY',
      });
    if (routerPath === '/viewer/delete') remove(this.db, body);
    else set(this.db, body);
    finished({ ok: true });
  },
);
