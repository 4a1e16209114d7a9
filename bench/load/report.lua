-- The report of wrk as one line of JSON.

function done(summary, latency)
  local e = summary.errors
  io.write(string.format('REPORT {"rate":%.1f,"errors":%d,"p50":%.3f,"p95":%.3f,"p99":%.3f}\n',
    summary.requests / summary.duration * 1e6, e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50) / 1000, latency:percentile(95) / 1000, latency:percentile(99) / 1000))
end
