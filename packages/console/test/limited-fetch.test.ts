// What is asked of the service once it has refused a key.
import { createClient } from '@tradeport/client'
import { beforeEach, expect, it, vi } from 'vitest'
import { createFetch } from '../page/limited-fetch.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
  return () => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  }
})

type Refusal = readonly [status: number, code: string, details?: object]

/** A client of a service that refuses everything, and how many requests that gets. */
const setUp = ([status, code, details]: Refusal, retryAfter = '1') => {
  let requests = 0
  vi.stubGlobal('fetch', async () => {
    requests += 1
    const error = { code, message: 'Refused.', details, request_id: 'req_1' }
    const headers = { 'Retry-After': retryAfter }
    return Response.json({ success: false, error }, { status, headers })
  })
  const onUnauthorized = vi.fn()
  const client = createClient({
    baseUrl: 'https://trade.example.com/api/v1',
    apiKey: 'tp_live_key',
    fetch: createFetch(onUnauthorized),
    retry: { attempts: 2, withinMs: 10_000 },
  })
  /** Returns the code of the error. */
  const read = async () => {
    const failed = client.listAccounts().catch((error: { code: string }) => error.code)
    await vi.advanceTimersByTimeAsync(12_000)
    return failed
  }
  return { client, read, onUnauthorized, count: () => requests }
}

const limit = (scope: string): Refusal => [429, 'RATE_LIMIT_EXCEEDED', { scope }]

it.each([
  [limit('tier'), 1],
  [limit('suspension'), 1],
  [limit('address'), 1],
  [limit('calculations'), 8],
  [[429, 'BROKER_RATE_LIMITED'], 8],
  [[503, 'BROKER_UNAVAILABLE'], 8],
  [[403, 'INSUFFICIENT_SCOPE'], 4],
  [[401, 'UNAUTHORIZED'], 4],
] as const)('asks no more for a while after %j', async (refusal, count) => {
  const service = setUp(refusal)
  for (let read = 0; read < 4; read += 1) expect(await service.read()).toBe(refusal[1])
  expect(service.count()).toBe(count)
  // Which ends the session.
  expect(service.onUnauthorized).toHaveBeenCalledTimes(refusal[0] === 401 ? count : 0)
})

it('ends the session only once a refused write is known to be refused', async () => {
  const { client, onUnauthorized } = setUp([401, 'UNAUTHORIZED'])
  const refused = client.closePosition('a:1').catch(() => onUnauthorized.mock.calls.length)
  await vi.advanceTimersByTimeAsync(1_000)
  expect([await refused, onUnauthorized.mock.calls.length]).toEqual([0, 1])
})

it.each([
  ['5', 60],
  ['120', 120],
])(
  'asks again %s s after a refusal with Retry-After, and not before %i s',
  async (header, seconds) => {
    const service = setUp(limit('tier'), header)
    const start = Date.now()
    while (service.count() < 2) await service.read()
    expect(Math.abs(Date.now() - start - seconds * 1_000)).toBeLessThan(15_000)
  },
)

it('still sends writes, which a user asks for once', async () => {
  const { client, read, count } = setUp(limit('tier'), '100')
  await read()
  const failed = client.closePosition('a:1').catch(() => undefined)
  await vi.advanceTimersByTimeAsync(2_000)
  await failed
  expect(count()).toBe(2)
})
