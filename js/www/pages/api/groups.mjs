// The routes of an OpenAPI document by group: its tag, or for routes without one the first part of their path.

/**
 * @typedef {object} Operation what a document says of a route
 * @property {string} [summary]
 * @property {string[]} [tags]
 * @property {{ name: string, in: string, required?: boolean, schema: object }[]} [parameters]
 * @property {{ content: Record<string, { schema: object }> }} [requestBody]
 * @property {Record<string, { description: string, content?: Record<string, { schema: object }> }>} [responses]
 *
 * @typedef {object} Api the parts of an OpenAPI document that are shown
 * @property {Record<string, Record<string, Operation>>} paths
 * @property {{ schemas?: Record<string, object> }} [components]
 *
 * @typedef {object} Route
 * @property {string} method in capitals
 * @property {string} path
 * @property {Operation} operation
 * @property {string} text what a filter looks at, in small letters
 */

/**
 * @param {Api} api
 * @returns {{ name: string, routes: Route[] }[]} by name; those of the document's tags before those of paths
 */
export function groupsOf({ paths }) {
  /** @type {Map<string, Route[]>} */
  const groups = new Map();
  for (const [path, operations] of Object.entries(paths)) {
    for (const [small, operation] of Object.entries(operations)) {
      const method = small.toUpperCase();
      const group = operation.tags?.[0] ?? `/${path.split('/')[1]}`;
      const text = `${method} ${path} ${operation.summary ?? ''} ${group}`.toLowerCase();
      groups.set(group, [...(groups.get(group) ?? []), { method, path, operation, text }]);
    }
  }
  const isPath = (/** @type {string} */ name) => Number(name.startsWith('/'));
  return [...groups]
    .map(([name, routes]) => ({ name, routes }))
    .sort((a, b) => isPath(a.name) - isPath(b.name) || a.name.localeCompare(b.name));
}
