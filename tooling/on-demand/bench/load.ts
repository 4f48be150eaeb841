// A client as a process of its own: `node load.ts <options as JSON>` sends requests for some
// seconds and prints what came back, as JSON.
import { randomBytes } from 'node:crypto'
import autocannon, { type Options, type Request, type Result } from 'autocannon'
import { median, percentile } from './bench.ts'

export interface LoadOptions {
  readonly url: string
  readonly seconds: number
  readonly connections: number
  /** Used in turn; without any, each request has one that nobody issued. */
  readonly keys?: readonly string[]
  /**
   * At this rate, whether or not earlier requests were answered; as fast as they are if left out.
   */
  readonly perSecond?: number
  /** Sends hostile JSON bodies of the largest size that the API accepts. */
  readonly isHostile?: boolean
  /** Sent from another address than the other clients. */
  readonly isElsewhere?: boolean
}

export interface Load {
  readonly perSecond: number
  readonly medianMs: number
  readonly p99Ms: number
  readonly statuses: Readonly<Record<string, number>>
  /** Requests without an answer. */
  readonly failed: number
}

// A client that has just started opens its connections and compiles its own code, which takes
// longer than the service does.
const warmUpMs = 500
const bodyBytes = 10 * 1024 * 1024

const filled = (start: string, repeated: string, end: string): string =>
  start + repeated.repeat((bodyBytes - start.length - end.length) / repeated.length) + end

const hostileBodies = (): readonly string[] => [
  filled('[0', ',0', ']'),
  `{${Array.from({ length: bodyBytes / 12 }, (_, index) => `"${index}":0`).join()}}`,
  '['.repeat(bodyBytes / 2) + ']'.repeat(bodyBytes / 2),
  filled('[[]', ',[]', ']'),
  filled('{"url":"', String.raw`\u0074p_live`, '"}'),
]

// As long as generated keys on one request, and as short as an operator's on the next: a service
// may refuse the former by their form alone.
const madeUpKeys = (): readonly string[] =>
  Array.from(
    { length: 10_000 },
    (_, index) => `tp_live_${randomBytes(index % 2 === 0 ? 20 : 14).toString('hex')}`,
  )

/** Neither route has a limit of its own, which would refuse most requests before their bodies. */
const hostileRequests = (keys: readonly string[]): Request[] => {
  const bodies = hostileBodies()
  return Array.from({ length: Math.max(bodies.length, keys.length) }, (_, index) => ({
    ...(index % 2 === 0
      ? { method: 'POST', path: '/api/v1/webhooks' }
      : { method: 'PUT', path: '/api/v1/orders/be9c4000-0000-4000-8000-000000000000' }),
    headers: { 'x-api-key': keys[index % keys.length], 'content-type': 'application/json' },
    body: bodies[index % bodies.length],
  }))
}

const given = JSON.parse(process.argv[2] ?? '') as LoadOptions
const { url, seconds, connections, keys = madeUpKeys(), perSecond } = given

/** Each client begins with another request, since a key may send only two bodies at once. */
const inTurn = (requests: Request[]): NonNullable<Options['setupClient']> => {
  let clients = 0
  return (client) => {
    const first = clients % requests.length
    clients += 1
    client.setRequests([...requests.slice(first), ...requests.slice(0, first)])
  }
}
const options: Options = {
  url,
  connections,
  duration: seconds,
  timeout: 60,
  ...(given.isHostile === true
    ? { setupClient: inTurn(hostileRequests(keys)) }
    : { requests: keys.map((key) => ({ headers: { 'x-api-key': key } })) }),
  ...(perSecond !== undefined && { overallRate: perSecond }),
  // Only Linux gives a process every loopback address.
  ...(given.isElsewhere === true && process.platform === 'linux' && { localAddress: '127.0.0.2' }),
}
// autocannon's own percentiles are in whole milliseconds, and count the warm-up.
const times: number[] = []
const startedAt = performance.now()
const result = await new Promise<Result>((resolve, reject) => {
  const running = autocannon(options, (error: Error | null, done) =>
    error === null || error === undefined ? resolve(done) : reject(error),
  )
  running.on('response', (_client, _status, _bytes, ms) => {
    if (performance.now() - startedAt > warmUpMs) times.push(ms)
  })
})
const load: Load = {
  perSecond: result.requests.average,
  medianMs: median(times),
  p99Ms: percentile(times, 0.99),
  statuses: Object.fromEntries(
    Object.entries(result.statusCodeStats ?? {}).map(([status, { count = 0 }]) => [status, count]),
  ),
  failed: result.errors + result.timeouts,
}
process.stdout.write(JSON.stringify(load))
