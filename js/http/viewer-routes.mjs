// The routes of the viewer beyond those of the showcase: reading any node, and changing it where the server was started with --edit.

/** A node: subscripts are an array, so that no character in one has a meaning. */
const SUBSCRIPT = {
  anyOf: [
    { type: 'string', minLength: 1, maxLength: 4096 },
    { type: 'number' },
    {
      type: 'object',
      required: ['bytes'],
      additionalProperties: false,
      properties: { bytes: { type: 'string', pattern: '^([0-9a-f]{2}){1,2048}$' } },
    },
  ],
};

const ADDRESS = {
  global: { type: 'string', minLength: 1, maxLength: 256 },
  subscripts: { type: 'array', items: SUBSCRIPT, maxItems: 1024 },
};

const WHOLE = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

/**
 * @param {Record<string, object>} more the properties besides those that name the node
 * @param {string[]} [needed]
 */
function body(more = {}, needed = []) {
  return {
    body: {
      type: 'object',
      required: ['global', ...needed],
      additionalProperties: false,
      properties: { ...ADDRESS, ...more },
    },
  };
}

/** What each route's requests look like; all are POST, because a subscript may be anything. */
const READING = {
  '/viewer/children': body({
    limit: { type: 'integer', minimum: 1, maximum: 1000 },
    reverse: { type: 'boolean' },
    from: SUBSCRIPT,
    after: SUBSCRIPT,
    find: { type: 'string', minLength: 1, maxLength: 4096 },
  }),
  '/viewer/node': body(),
  '/viewer/document': body(),
  '/viewer/bytes': body({ offset: WHOLE, length: WHOLE }),
  '/viewer/count': body(),
};

const EDITING = {
  '/viewer/set': body(
    {
      type: { enum: ['string', 'number', 'boolean', 'null', 'document'] },
      text: { type: 'string' },
      isNew: { type: 'boolean' },
    },
    ['type'],
  ),
  '/viewer/delete': body({ what: { enum: ['subtree', 'value'] } }, ['what']),
};

/** The answer of a route that changes something, where nothing may be changed. */
function refuseEdit() {
  return {
    error: 'This server only shows globals: start it with --edit to change them here',
    errorCode: 403,
    code: 'ERR_READ_ONLY',
  };
}

/**
 * @param {(name: string) => string} handler the URL of a handler module
 * @param {boolean} edit whether globals may be changed
 * @returns {import('./service.mjs').RouteOptions[]}
 */
export function viewerRoutes(handler, edit) {
  const editing = edit ? { handlerPath: handler('viewer/edits') } : { mainHandler: refuseEdit };
  return [
    { method: 'get', url: '/viewer/options', mainHandler: () => ({ edit }) },
    ...Object.entries(READING).map(([url, schema]) => ({
      method: 'post',
      url,
      schema,
      handlerPath: handler('viewer/nodes'),
    })),
    ...Object.entries(EDITING).map(([url, schema]) => ({ method: 'post', url, schema, ...editing })),
  ];
}
