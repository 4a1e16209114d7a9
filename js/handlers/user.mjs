// POST /user stores a person under the next id, GET /user/:id answers one. The persons are `^Person("data",id,…)`, the last
// id is in `^Person("nextId")`.

import { asOne } from '../as-one.mjs';
import { refusingWrongData } from './refusal.mjs';

/**
 * @typedef {object} UserContext
 * @property {number} id
 * @property {any} db
 * @property {any} glsdb
 * @property {(name: string, ...subscripts: string[]) => any} use
 */

/** @param {UserContext} context @param {object} person */
function add(context, person) {
  // As one: a person that cannot be stored uses up no id.
  return asOne(context.db, () => {
    const id = context.use('Person').increment('nextId', 1);
    new context.glsdb.node(['Person', 'data', id]).document = person;
    return { ok: true, id, handledByWorker: context.id };
  });
}

/** @param {UserContext} context @param {string} id */
function read(context, id) {
  const person = new context.glsdb.node(['Person', 'data', id]);
  if (!person.exists) return { error: `No record exists with id ${id}` };
  return { document: person.document };
}

export const handler = refusingWrongData(
  /** @this {UserContext} @param {any} messageObj @param {(reply: object) => void} finished */
  function (messageObj, finished) {
    const { method, params, body } = messageObj.data;
    finished(method === 'POST' ? add(this, body) : read(this, params.id));
  },
);
