// What a worker does for each request. ^Task(id) is a document, ^TaskCount the last id.

/**
 * @param {import('caretdb/fastify').Message} message
 * @param {import('caretdb/fastify').HandlerContext} context
 */
export default async function handle({ data: { method, params, body } }, { glsdb }) {
  const tasks = new glsdb.node('Task');
  if (method === 'POST') return create(glsdb, body);
  if (params.id === undefined) return list(tasks);
  const task = tasks.$(params.id);
  if (!task.exists) return { error: `there is no task ${params.id}`, errorCode: 404 };
  if (method === 'DELETE') {
    task.delete();
    return { ok: true };
  }
  if (method === 'PUT') task.document = body;
  return task.document;
}

/**
 * @param {any} glsdb
 * @param {unknown} body
 */
function create(glsdb, body) {
  const id = String(new glsdb.node('TaskCount').increment());
  new glsdb.node(['Task', id]).document = body;
  return { id, http_response: { statusCode: 201, headers: { location: `/tasks/${id}` } } };
}

/** @param {any} tasks */
function list(tasks) {
  /** @type {object[]} */
  const found = [];
  tasks.forEachChildNode((/** @type {any} */ task) => {
    found.push({ id: task.key, ...task.document });
  });
  return { tasks: found };
}
