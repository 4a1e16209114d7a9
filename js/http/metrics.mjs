// What the server counts, in the text form that Prometheus reads. Counting happens on every reply, so it is a few additions; all
// else is read when somebody asks.

/** The upper ends of the histogram's buckets, in seconds. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

/** Methods that a series may be named after; anybody can send any other. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The replies of one route to one method. */
class Series {
  /** @param {string} method @param {string} route */
  constructor(method, route) {
    this.method = method;
    this.route = route;
    /** @type {Map<number, number>} replies by status */
    this.statuses = new Map();
    /** Replies by bucket; the last are those above all. */
    this.buckets = new Array(BUCKETS.length + 1).fill(0);
    this.seconds = 0;
    this.count = 0;
  }

  /** @param {number} status @param {number} seconds */
  add(status, seconds) {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    let bucket = 0;
    while (bucket < BUCKETS.length && seconds > BUCKETS[bucket]) bucket += 1;
    this.buckets[bucket] += 1;
    this.seconds += seconds;
    this.count += 1;
  }
}

/** @param {string} text */
function escaped(text) {
  return text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}

/** @param {Record<string, string | number>} labels */
function labelled(labels) {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(String(value))}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** A text of families of samples. */
class Exposition {
  constructor() {
    /** @type {string[]} */
    this.lines = [];
  }

  /**
   * @param {string} name
   * @param {'counter' | 'gauge' | 'histogram'} type
   * @param {string} help
   */
  family(name, type, help) {
    this.lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
  }

  /** @param {string} name @param {number} value @param {Record<string, string | number>} [labels] */
  sample(name, value, labels = {}) {
    this.lines.push(`${name}${labelled(labels)} ${value}`);
  }

  /** @param {string} name @param {'counter' | 'gauge'} type @param {string} help @param {number} value */
  single(name, type, help, value) {
    this.family(name, type, help);
    this.sample(name, value);
  }

  get text() {
    return `${this.lines.join('\n')}\n`;
  }
}

/** The counts of one server. */
export class Metrics {
  constructor() {
    /** By route, then by method. @type {Map<string, Map<string, Series>>} */
    this.routes = new Map();
    this.startedAt = Date.now() / 1000 - process.uptime();
  }

  /**
   * @param {string} method
   * @param {string} route as configured, never what a caller sent: each is a series of its own
   * @returns {Series}
   */
  of(method, route) {
    const series = this.routes.get(route)?.get(method);
    return series ?? this.add(METHODS.has(method) ? method : 'other', route);
  }

  /** @param {string} method @param {string} route */
  add(method, route) {
    let methods = this.routes.get(route);
    if (methods === undefined) {
      methods = new Map();
      this.routes.set(route, methods);
    }
    let series = methods.get(method);
    if (series === undefined) {
      series = new Series(method, route);
      methods.set(method, series);
    }
    return series;
  }

  /** @returns {Series[]} */
  get all() {
    return [...this.routes.values()].flatMap((methods) => [...methods.values()]);
  }

  /**
   * The text of GET /metrics.
   * @param {import('../pool/pool.mjs').WorkerPool} pool
   * @param {Record<string, number> | undefined} store the store's figures, or undefined where it did not answer
   * @returns {string}
   */
  expose(pool, store) {
    const out = new Exposition();
    this.exposeRequests(out);
    exposePool(out, pool);
    exposeStore(out, store);
    exposeProcess(out, this.startedAt);
    return out.text;
  }

  /** @param {Exposition} out */
  exposeRequests(out) {
    const requests = 'caretdb_http_requests_total';
    out.family(requests, 'counter', 'Requests that were answered, by method, route and status.');
    for (const { method, route, statuses } of this.all) {
      for (const [status, count] of statuses) out.sample(requests, count, { method, route, status });
    }
    const seconds = 'caretdb_http_request_duration_seconds';
    out.family(seconds, 'histogram', 'Seconds from a request to its reply, by method and route.');
    for (const series of this.all) {
      const { method, route } = series;
      let below = 0;
      for (const [index, end] of BUCKETS.entries()) {
        below += series.buckets[index];
        out.sample(`${seconds}_bucket`, below, { method, route, le: end });
      }
      out.sample(`${seconds}_bucket`, series.count, { method, route, le: '+Inf' });
      out.sample(`${seconds}_sum`, series.seconds, { method, route });
      out.sample(`${seconds}_count`, series.count, { method, route });
    }
  }
}

/** @param {Exposition} out @param {import('../pool/pool.mjs').WorkerPool} pool */
function exposePool(out, pool) {
  const { waiting, running, workers, started, ended, refused } = pool.figures;
  out.single('caretdb_pool_queue_length', 'gauge', 'Requests that wait for a worker.', waiting);
  out.single('caretdb_pool_requests_in_workers', 'gauge', 'Requests that workers hold or run.', running);
  out.family('caretdb_pool_workers', 'gauge', 'Workers by state.');
  for (const [state, count] of Object.entries(workers)) out.sample('caretdb_pool_workers', count, { state });
  out.single('caretdb_pool_workers_max', 'gauge', 'How many workers there may be.', pool.size);
  out.single('caretdb_pool_workers_started_total', 'counter', 'Workers that were started.', started);
  out.single('caretdb_pool_workers_ended_total', 'counter', 'Workers that ended before their time.', ended);
  out.single(
    'caretdb_pool_refused_total',
    'counter',
    'Requests refused because the queue was full.',
    refused,
  );
}

/** @param {Exposition} out @param {Record<string, number> | undefined} store */
function exposeStore(out, store) {
  out.single('caretdb_store_up', 'gauge', 'Whether the store answered.', store === undefined ? 0 : 1);
  for (const [figure, value] of Object.entries(store ?? {})) {
    if (!Number.isFinite(value)) continue;
    const name = figure.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/\W/g, '_');
    out.single(`caretdb_store_${name}`, 'gauge', `The store's figure '${figure}'.`, value);
  }
}

/** @param {Exposition} out @param {number} startedAt */
function exposeProcess(out, startedAt) {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const cpu = (user + system) / 1e6;
  out.single('process_resident_memory_bytes', 'gauge', 'Memory of the server, threads included.', rss);
  out.single('process_heap_bytes', 'gauge', "Used heap of the server's main thread.", heapUsed);
  out.single('process_cpu_seconds_total', 'counter', 'Processor time of the server.', cpu);
  out.single('process_start_time_seconds', 'gauge', 'When the server started, in Unix time.', startedAt);
}
