-- What `cargo xtask bench` reads of wrk: requests, failures, and percentiles in microseconds.
function done(summary, latency, requests)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format("bench %d %d %d %d %d\n", summary.requests, failed,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end
