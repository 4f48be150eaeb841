-- The requests of wrk: one per API key, in turn. Arguments after `--`: a file with one API key per line.
local requests = {}
local sent = 0

init = function(args)
  for key in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format("GET", nil, { ["x-api-key"] = key })
  end
end

request = function()
  sent = sent + 1
  return requests[sent % #requests + 1]
end

-- The last line is for generator.ts. wrk gives times in microseconds, and counts an answer of 400 or more as a status error.
done = function(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  print(string.format('\n{"perSecond":%.3f,"p99Ms":%.3f,"failed":%d}',
    summary.requests / summary.duration * 1e6, latency:percentile(99) / 1e3, failed))
end
