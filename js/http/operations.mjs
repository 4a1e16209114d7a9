// The routes for whoever runs the server: GET /health for probes, GET /metrics for Prometheus.

/** The paths of /health need no token: a probe has none, and learns one word. */
export const HEALTH_PATHS = ['/health', '/health/live', '/health/ready'];

/**
 * @param {import('./health.mjs').Health} health
 * @returns {Promise<object>}
 */
async function readiness(health) {
  if (health.pool.closing) return { status: 'shutting down', http_response: { statusCode: 503 } };
  const { workers, store } = await health.find();
  const isReady = workers === 'ok' && store === 'ok';
  const status = isReady ? 'ok' : 'failing';
  return { status, workers, store, http_response: { statusCode: isReady ? 200 : 503 } };
}

/**
 * @param {import('./metrics.mjs').Metrics} metrics
 * @param {import('./health.mjs').Health} health
 */
async function exposition(metrics, health) {
  const { figures } = await health.find();
  const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };
  return { http_response: { headers, body: Buffer.from(metrics.expose(health.pool, figures)) } };
}

/**
 * @param {import('./metrics.mjs').Metrics} metrics
 * @param {import('./health.mjs').Health} health
 * @returns {import('./service.mjs').RouteOptions[]}
 */
export function operationRoutes(metrics, health) {
  return [
    { method: 'get', url: '/health', mainHandler: () => readiness(health) },
    { method: 'get', url: '/health/ready', mainHandler: () => readiness(health) },
    { method: 'get', url: '/health/live', mainHandler: () => ({ status: 'ok' }) },
    { method: 'get', url: '/metrics', mainHandler: () => exposition(metrics, health) },
  ];
}
