// The OpenAPI 3.1 document of a server: made from its routes and the schemas that requests are checked against, so that it cannot say
// anything else than what the server does.

/**
 * @typedef {object} Described what the document says of a route besides its schema
 * @property {string} summary in one line
 * @property {string} tag the group that it is shown in
 * @property {Record<string, object>} [bodies] JSON schemas of the body by media type, where the schema of the route has none
 * @property {Record<string, object>} [headers] JSON schemas of header fields that it heeds, by name
 * @property {Record<string, string>} [replies] what a status means
 *
 * @typedef {import('./service.mjs').RouteOptions} Route
 */

const JSON_TYPE = 'application/json';
const ERROR = {
  type: 'object',
  required: ['error'],
  properties: { error: { type: 'string', description: 'What is wrong, and what to do about it' } },
};

/** @param {string} url with parameters as in `/user/:id` */
function pathOf(url) {
  return url.replace(/:(\w+)/g, '{$1}');
}

/**
 * @param {'path' | 'query' | 'header'} where
 * @param {any} schema of an object
 * @param {string[]} names
 */
function parametersIn(where, schema, names) {
  return names.map((name) => ({
    name,
    in: where,
    required: where === 'path' || schema?.required?.includes(name) === true,
    schema: schema?.properties?.[name] ?? { type: 'string', minLength: 1 },
  }));
}

/** @param {Route} route */
function parametersOf({ url, schema, openapi }) {
  const inPath = [...url.matchAll(/:(\w+)/g)].map(([, name]) => name);
  const query = /** @type {any} */ (schema?.query);
  const headers = openapi?.headers ?? {};
  return [
    ...parametersIn('path', schema?.params, inPath),
    ...parametersIn('query', query, Object.keys(query?.properties ?? {})),
    ...parametersIn('header', { properties: headers }, Object.keys(headers)),
  ];
}

/** @param {Route} route */
function bodyOf({ schema, openapi }) {
  const bodies = schema?.body === undefined ? openapi?.bodies : { [JSON_TYPE]: schema.body };
  if (bodies === undefined) return {};
  const content = Object.fromEntries(Object.entries(bodies).map(([type, body]) => [type, { schema: body }]));
  return { requestBody: { required: true, content } };
}

/** @param {Route} route */
function operationOf(route) {
  const { method, url, openapi } = route;
  const replies = openapi?.replies ?? { 200: 'Done' };
  return {
    operationId: `${method.toLowerCase()}${pathOf(url).replace(/[^A-Za-z0-9]+/g, '_')}`,
    ...(openapi === undefined ? {} : { summary: openapi.summary, tags: [openapi.tag] }),
    parameters: parametersOf(route),
    ...bodyOf(route),
    responses: {
      ...Object.fromEntries(
        Object.entries(replies).map(([status, description]) => [status, { description }]),
      ),
      default: {
        description: 'A refusal',
        content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  };
}

/** @param {Route} route @returns {Route[]} what a route of long runs has besides */
function runRoutes({ url, events }) {
  if (!events) return [];
  const described = (/** @type {string} */ summary) => ({ summary, tag: 'Long runs' });
  return [
    { method: 'get', url: `${url}/:run/events`, openapi: described('Follows a run, by server-sent events') },
    { method: 'delete', url: `${url}/:run`, openapi: described('Cancels a run') },
  ];
}

/**
 * @param {Route[]} routes of the server
 * @param {{version: string, token: boolean}} server
 * @returns {object} the document
 */
export function openApi(routes, { version, token }) {
  /** @type {Record<string, Record<string, object>>} */
  const paths = {};
  for (const route of routes.flatMap((one) => [one, ...runRoutes(one)])) {
    const path = pathOf(route.url);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'CaretDB', version, description: 'The routes of this server' },
    paths,
    components: {
      schemas: { Error: ERROR },
      ...(token && { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } }),
    },
    ...(token && { security: [{ token: [] }] }),
  };
}
