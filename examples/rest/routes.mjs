// The routes of the service, with the shape of what they take: a request that does not fit is answered with 400 before it
// costs a worker anything.

const id = { type: 'object', properties: { id: { type: 'string', pattern: '^[1-9]\\d{0,15}$' } } };
const task = {
  type: 'object',
  required: ['title'],
  additionalProperties: false,
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 200 },
    done: { type: 'boolean' },
  },
};

/**
 * @param {string} handlerPath
 */
export function routes(handlerPath) {
  return [
    { method: 'get', url: '/tasks', handlerPath },
    { method: 'post', url: '/tasks', handlerPath, schema: { body: task } },
    { method: 'get', url: '/tasks/:id', handlerPath, schema: { params: id } },
    { method: 'put', url: '/tasks/:id', handlerPath, schema: { params: id, body: task } },
    { method: 'delete', url: '/tasks/:id', handlerPath, schema: { params: id } },
  ];
}
