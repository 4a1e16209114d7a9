// The routes of the configuration file: checked before the server listens, so that what is wrong with one is said by its place in the
// file.

import findMyWay from 'find-my-way';
import { handlerWithin } from './handler-path.mjs';
import { UsageError } from './options.mjs';
import { createCheck } from './schemas.mjs';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const KEYS = ['method', 'url', 'handlerPath', 'schema', 'events'];

/**
 * @param {any} route
 * @returns {string | undefined} what is wrong with what it says of itself
 */
function problemOf(route) {
  if (route === null || typeof route !== 'object') return ' must be an object {method, url, handlerPath}';
  const unknown = Object.keys(route).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) return `: '${unknown}' is no part of a route; there are: ${KEYS.join(', ')}`;
  if (!METHODS.includes(String(route.method).toLowerCase()))
    return `.method must be one of ${METHODS.join(', ')}`;
  if (typeof route.url !== 'string' || !route.url.startsWith('/'))
    return ".url must be a path that starts with '/'";
  if (typeof route.handlerPath !== 'string' || route.handlerPath === '')
    return '.handlerPath must be the path of a module in the folder of handlers';
  if (route.events !== undefined && typeof route.events !== 'boolean') return '.events must be true or false';
  return undefined;
}

/**
 * @param {string} where
 * @param {() => T} make
 * @returns {T}
 * @throws {UsageError} for whatever it throws
 * @template T
 */
function named(where, make) {
  try {
    return make();
  } catch (error) {
    throw new UsageError(`${where}${/** @type {Error} */ (error).message}`);
  }
}

/**
 * The routes of the configuration file. Their handlers are in its folder of handlers and nowhere else.
 * @param {Record<string, any>} values of the options
 * @param {import('./service.mjs').RouteOptions[]} others the routes that there are already
 * @returns {import('./service.mjs').RouteOptions[]}
 * @throws {UsageError}
 */
export function ownRoutes({ routes, handlersFolder }, others) {
  if (routes === undefined) return [];
  if (!Array.isArray(routes)) throw new UsageError("'routes' must be an array of {method, url, handlerPath}");
  const router = findMyWay();
  const add = (/** @type {any} */ { method, url }) => router.on(method.toUpperCase(), url, () => {});
  for (const route of others) add(route);
  return routes.map((route, index) => {
    const where = `routes[${index}]`;
    const problem = problemOf(route);
    if (problem !== undefined) throw new UsageError(`${where}${problem}`);
    named(`${where}.url: `, () => add(route));
    named(`${where}.schema: `, () => createCheck(route.schema));
    const handlerPath = named(`${where}.`, () => handlerWithin(handlersFolder, route.handlerPath));
    return { ...route, handlerPath };
  });
}
