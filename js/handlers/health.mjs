// The probe behind GET /health and GET /metrics: a worker opens the store and tells its figures. No route of its own leads here.

/** @this {{db: any}} @param {object} _messageObj @param {(reply: object) => void} finished */
export const handler = function (_messageObj, finished) {
  const { warnings: _, ...figures } = this.db.stats();
  finished({ figures });
};
