// GET /helloworld: the least that a handler can do, in a worker.

/**
 * @this {{serverName: string, id: number}}
 * @param {object} _messageObj
 * @param {(reply: object) => void} finished
 */
export const handler = function (_messageObj, finished) {
  finished({ ok: true, hello: `from ${this.serverName} Worker ${this.id}` });
};
