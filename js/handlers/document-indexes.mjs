// The indexes of a collection over HTTP: GET lists them, POST makes one, DELETE drops one.

import { Collection } from './documents/collection.mjs';
import { createIndex, dropIndex, indexesOf } from './documents/indexes.mjs';
import { refusalOf } from './documents/refusal.mjs';

/**
 * @param {any} db
 * @param {Collection} collection
 * @param {any} body
 */
function create(db, collection, body) {
  const { statusCode, index } = createIndex(db, collection, body);
  const location = `/documents/${encodeURIComponent(collection.name)}/_indexes/${encodeURIComponent(index.name)}`;
  return { ...index, http_response: { statusCode, headers: { location } } };
}

/**
 * @this {{db: any}}
 * @param {{data: {method: string, params: {collection: string, name: string}, body: any}}} messageObj
 */
export default function indexes({ data: { method, params, body } }) {
  try {
    const collection = new Collection(this.db, params.collection);
    if (method === 'POST') return create(this.db, collection, body);
    if (method === 'DELETE') return dropIndex(this.db, collection, params.name);
    return { indexes: indexesOf(this.db, collection) };
  } catch (error) {
    throw refusalOf(error);
  }
}
