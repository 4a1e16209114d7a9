// The page of the server's routes, as its OpenAPI document describes them: by group, each opens to show what it takes and answers.

import { openApiDocument } from '../api.mjs';
import { element } from '../elements.mjs';
import { groupsOf } from './api/groups.mjs';
import { schemaText } from './api/schema-text.mjs';

/**
 * @typedef {import('./api/groups.mjs').Route} Route
 * @typedef {{ route: Route, part: HTMLElement }} Shown
 */

/** @param {HTMLElement} place */
export function show(place) {
  const note = element('p', { class: 'note', role: 'status' }, 'Reading the routes…');
  const field = /** @type {HTMLInputElement} */ (
    element('input', { id: 'route-filter', type: 'search', spellcheck: 'false', autocomplete: 'off' })
  );
  const groups = element('div', { class: 'route-groups' });
  place.append(
    element(
      'div',
      { class: 'page-head' },
      element('h1', {}, 'API'),
      element(
        'p',
        {},
        'Every route of this server. Programs read the same from ',
        element('a', { href: '/openapi.json' }, '/openapi.json'),
        '.',
      ),
    ),
    element('label', { for: 'route-filter' }, 'Filter by path, method or words'),
    field,
    note,
    groups,
  );
  fillGroups(groups, field, note).catch((error) => {
    note.textContent = `The routes could not be read. ${error.message}`;
    note.classList.add('problem');
  });
}

/**
 * @param {HTMLElement} place
 * @param {HTMLInputElement} field
 * @param {HTMLElement} note
 */
async function fillGroups(place, field, note) {
  const api = await openApiDocument();
  const sections = groupsOf(api).map(({ name, routes }) => {
    const shown = routes.map((route) => ({ route, part: routePart(route) }));
    const title = element('h2', {}, name);
    return { shown, section: element('section', {}, title, ...shown.map(({ part }) => part)) };
  });
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const left = sections.map(({ shown, section }) => filterSection(section, shown, words));
    const total = sections.reduce((sum, { shown }) => sum + shown.length, 0);
    const count = left.reduce((sum, one) => sum + one, 0);
    note.textContent = words.length === 0 ? `${total} routes` : `${count} of ${total} routes`;
  };
  place.append(...sections.map(({ section }) => section), ...schemaSection(api.components?.schemas ?? {}));
  field.addEventListener('input', filter);
  filter();
}

/**
 * @param {HTMLElement} section
 * @param {Shown[]} shown
 * @param {string[]} words all of which a route must have
 * @returns {number} how many routes are left
 */
function filterSection(section, shown, words) {
  let left = 0;
  for (const { route, part } of shown) {
    part.hidden = !words.every((word) => route.text.includes(word));
    if (!part.hidden) left += 1;
  }
  section.hidden = left === 0;
  return left;
}

/** @param {Route} route */
function routePart({ method, path, operation }) {
  const { summary = '', parameters = [], requestBody, responses = {} } = operation;
  const head = element(
    'summary',
    {},
    element('span', { class: 'route-method' }, method),
    element('code', {}, path),
    element('span', { class: 'route-summary' }, summary),
  );
  const bodies = Object.entries(requestBody?.content ?? {});
  return element(
    'details',
    { class: 'route' },
    head,
    ...table(
      'Parameters',
      parameters.map((one) => [
        element('code', {}, one.name),
        `${one.in}${one.required ? ', required' : ''}`,
        element('code', {}, schemaText(one.schema)),
      ]),
    ),
    ...table(
      'Body',
      bodies.map(([type, { schema }]) => [element('code', {}, type), element('pre', {}, schemaText(schema))]),
    ),
    ...table(
      'Replies',
      Object.entries(responses).map(([status, { description, content = {} }]) => [
        element('code', {}, status === 'default' ? 'else' : status),
        description,
        ...Object.values(content).map(({ schema }) => element('code', {}, schemaText(schema))),
      ]),
    ),
  );
}

/**
 * @param {string} title
 * @param {(Node | string)[][]} rows the first cell of each names it
 * @returns {HTMLElement[]} nothing without rows
 */
function table(title, rows) {
  if (rows.length === 0) return [];
  const columns = Math.max(...rows.map((row) => row.length));
  return [
    element(
      'table',
      {},
      element('caption', {}, title),
      element(
        'tbody',
        {},
        ...rows.map(([name, ...cells]) =>
          element(
            'tr',
            {},
            element('th', { scope: 'row' }, name),
            ...Array.from({ length: columns - 1 }, (_, at) => element('td', {}, cells[at] ?? '')),
          ),
        ),
      ),
    ),
  ];
}

/** @param {Record<string, object>} schemas that routes refer to by name */
function schemaSection(schemas) {
  const named = Object.entries(schemas);
  if (named.length === 0) return [];
  const rows = named.map(([name, schema]) => [
    element('code', {}, name),
    element('pre', {}, schemaText(schema)),
  ]);
  return [element('section', {}, element('h2', {}, 'Schemas'), ...table('What routes refer to', rows))];
}
