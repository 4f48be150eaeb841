// How long requests take, by route and status. Every request is counted, so into plain numbers: the
// library's own histogram takes thirty times as long, because it looks up its labels each time.
import type { Metric, Registry } from 'prom-client'

/** What the meter reads of an answered request of @tradeport/http. */
export interface AnsweredRequest {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly durationMs: number
}

const name = 'tradeport_http_request_duration_seconds'
const help = 'Time from the head of a request to its whole reply, by route and status.'
const boundsSeconds = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
] as const

interface Series {
  readonly labels: Readonly<Record<string, string>>
  /** Requests within each bound and above the one before; the last element has no bound. */
  readonly counts: Float64Array
  sumSeconds: number
}

export const createRequestMeter = (registry: Registry): ((answered: AnsweredRequest) => void) => {
  const allSeries = new Map<string, Series>()
  const durations = {
    name,
    get: () =>
      Promise.resolve({
        name,
        help,
        type: 'histogram',
        aggregator: 'sum',
        values: [...allSeries.values()].flatMap(samplesOf),
      }),
  }
  // The registry accepts anything with a name and `get`; its type has only the library's classes.
  registry.registerMetric(durations as unknown as Metric)

  return ({ method, route, status, durationMs }) => {
    const key = `${method} ${route} ${status}`
    let series = allSeries.get(key)
    if (series === undefined) {
      series = {
        labels: { method, route, status: String(status) },
        counts: new Float64Array(boundsSeconds.length + 1),
        sumSeconds: 0,
      }
      allSeries.set(key, series)
    }
    const seconds = durationMs / 1_000
    let at = 0
    while (at < boundsSeconds.length && seconds > (boundsSeconds[at] ?? 0)) at += 1
    series.counts[at] = (series.counts[at] ?? 0) + 1
    series.sumSeconds += seconds
  }
}

// A bucket contains the ones before it.
const samplesOf = ({ labels, counts, sumSeconds }: Series) => {
  let within = 0
  const buckets = Array.from(counts, (count, at) => {
    within += count
    return {
      metricName: `${name}_bucket`,
      labels: { le: String(boundsSeconds[at] ?? '+Inf'), ...labels },
      value: within,
    }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sumSeconds },
    { metricName: `${name}_count`, labels, value: within },
  ]
}
