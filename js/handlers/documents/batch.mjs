// New documents: one, an array, or one a line. All of a request are stored in one transaction, so that a bad one leaves nothing.
//
// A document's id is its member `id`, text or a whole number. One without gets a UUID of version 7, which sorts by the time it was
// made, and has it as its member `id` from then on.

import { v7 as uuid } from 'uuid';
import { RequestError } from '../../http/errors.mjs';
import { parseJson } from '../../http/request.mjs';
import { checkedId } from './collection.mjs';

/**
 * @typedef {object} Ready a document that can be stored
 * @property {string} id
 * @property {string} text JSON
 */

/** @param {unknown} value @returns {value is Record<string, any>} */
export function isObject(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/**
 * @param {string} text JSON
 * @returns {Record<string, any>}
 * @throws {RequestError} 400
 */
export function parseDocument(text) {
  const document = parseJson(text);
  if (!isObject(document)) throw new RequestError(400, 'A document must be a JSON object');
  return document;
}

/** @param {Record<string, any>} document @returns {string | undefined} its id, undefined where it has none */
function idOf(document) {
  if (!Object.hasOwn(document, 'id')) return undefined;
  const { id } = document;
  if (typeof id === 'string') return checkedId(id);
  if (Number.isSafeInteger(id)) return String(id);
  throw new RequestError(400, 'The id of a document must be text or a whole number');
}

/**
 * Puts a member in front of a JSON object.
 * @param {string} text the object
 * @param {boolean} isEmpty
 * @param {string} name
 * @param {string} value
 */
function withMember(text, isEmpty, name, value) {
  const start = text.indexOf('{') + 1;
  return `{${JSON.stringify(name)}:${JSON.stringify(value)}${isEmpty ? '' : ','}${text.slice(start)}`;
}

/**
 * @param {string} text JSON
 * @returns {Ready}
 */
export function readyDocument(text) {
  const document = parseDocument(text);
  const given = idOf(document);
  if (given !== undefined) return { id: given, text };
  const id = uuid();
  return { id, text: withMember(text, Object.keys(document).length === 0, 'id', id) };
}

/**
 * A document for /insert: its `id` is a member like any other, which several may share, so it gets a key besides.
 * @param {string} text JSON
 * @returns {Ready}
 */
export function keyedDocument(text) {
  parseDocument(text);
  return { id: uuid(), text };
}

/**
 * Stores new documents, inside a transaction.
 * @param {import('./collection.mjs').Collection} collection
 * @param {Iterable<{where: string, text: string}>} sources where each stands in the request, and its JSON
 * @param {(text: string) => Ready} ready
 * @returns {string[]} the ids
 * @throws {RequestError} that names the first bad one
 */
export function addAll(collection, sources, ready) {
  const ids = [];
  for (const { where, text } of sources) {
    try {
      const document = ready(text);
      if (collection.has(document.id)) {
        throw new RequestError(409, `There is a document ${JSON.stringify(document.id)} already`);
      }
      collection.write(document.id, document.text);
      ids.push(document.id);
    } catch (error) {
      throw at(where, error);
    }
  }
  return ids;
}

/** @param {string} where @param {any} error @returns {any} the same error, saying where */
function at(where, error) {
  if (where !== '' && error instanceof Error) error.message = `${where}: ${error.message}`;
  return error;
}

/**
 * The documents of a JSON body.
 * @param {string} text
 * @returns {{isOne: boolean, sources: {where: string, text: string}[]}}
 */
export function fromJson(text) {
  const body = parseJson(text);
  if (!Array.isArray(body)) return { isOne: true, sources: [{ where: '', text }] };
  if (body.length === 0) throw new RequestError(400, 'The array has no documents');
  const sources = body.map((document, index) => ({
    where: `document ${index}`,
    text: JSON.stringify(document),
  }));
  return { isOne: false, sources };
}
