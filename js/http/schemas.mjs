// The check of requests against JSON schemas, one for both servers.

import { Ajv } from 'ajv';

/**
 * @typedef {object} RouteSchema JSON schemas (draft 7) by part of the request; a part without one is not checked
 * @property {object} [params]
 * @property {object} [query]
 * @property {object} [body]
 *
 * @typedef {(data: Record<string, any>) => string | undefined} Check answers what is wrong, or undefined
 */

/** The parts in the order in which they are checked. */
const PARTS = /** @type {const} */ (['params', 'query', 'body']);

const OPTIONS = { strict: true, allowUnionTypes: true };

/** Says whether schemas are schemas. What it prepares for that takes long, and is the same for all. */
const general = new Ajv(OPTIONS);

/**
 * Prepares the check of a route.
 * @param {RouteSchema | undefined} schema
 * @returns {Check}
 * @throws where a schema is not valid
 */
export function createCheck(schema) {
  if (schema === undefined) return () => undefined;
  const unknown = Object.keys(Object(schema)).find((part) => !PARTS.some((known) => known === part));
  if (schema === null || typeof schema !== 'object' || unknown !== undefined) {
    // Taken in silence, it would look like a check and let everything pass.
    const what = unknown === undefined ? `${schema}` : `'${unknown}'`;
    throw new TypeError(`${what} is not checked: a schema has the parts ${PARTS.join(', ')}`);
  }
  // One for each route, so that names in the schemas of one mean nothing in those of others.
  const ajv = new Ajv({ ...OPTIONS, validateSchema: false });
  /** @type {[string, import('ajv').ValidateFunction][]} */
  const validators = [];
  for (const part of PARTS) {
    const given = schema[part];
    if (given === undefined) continue;
    general.validateSchema(given, true);
    validators.push([part, ajv.compile(given)]);
  }
  return (data) => {
    for (const [part, validate] of validators) {
      // Queries and parameters come without a prototype or from the router; a missing body is told apart from null.
      if (validate(data[part] === undefined && part !== 'body' ? {} : data[part])) continue;
      const [error] = validate.errors ?? [];
      return `${part}${error?.instancePath ?? ''} ${error?.message ?? 'is not valid'}`;
    }
    return undefined;
  };
}
