// Following the log of events over connections that end in every way.
import { beforeEach, expect, expectTypeOf, it, vi } from 'vitest'
import type { EventBody, LogEvent } from '../src/index.ts'
import { clientWith, errorOf, lost, refusal, success, type Answer } from './service.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  return () => void vi.useRealTimers()
})

const frame = (id: string) => `id: ${id}\nevent: order.filled\ndata: {"id":"${id}"}\n\n`
const start = 'retry: 2000\nid: evt_0\n\n'

/** A stream of these texts, chunk by chunk, which then ends, fails, or stays open. */
const stream =
  (end: 'end' | 'fail' | 'stay', ...chunks: readonly string[]): Answer =>
  () => {
    const texts = [...chunks]
    return new Response(
      new ReadableStream({
        pull: (controller) => {
          const text = texts.shift()
          if (text !== undefined) controller.enqueue(new TextEncoder().encode(text))
          else if (end === 'end') controller.close()
          else if (end === 'fail') controller.error(new Error('cut'))
          else return new Promise<void>(() => undefined)
          return undefined
        },
      }),
      { headers: { 'Content-Type': 'text/event-stream' } },
    )
  }

const last = stream('stay', start, frame('evt_9'))

const notFoundPage = () => new Response('<html>', { status: 404 })

it('a page of a proxy between two connections ends nothing', async () => {
  const { client } = clientWith([stream('end', start), notFoundPage, last])
  const next = client.events()[Symbol.asyncIterator]().next()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(await next).toMatchObject({ value: { id: 'evt_9' } })
})

const proxyAway = () => new Response('<html>', { status: 503, headers: { 'Retry-After': '900' } })
const suspended = refusal(429, 'RATE_LIMIT_EXCEEDED', {}, { 'Retry-After': '900' })

it.each([
  ['ended', stream('end', start, frame('evt_1')), 'evt_1', 2_000],
  ['ended without an event', stream('end', start), 'evt_0', 2_000],
  ['ended by an instance that stops', stream('end', start, 'retry: 1000\n\n'), 'evt_0', 1_000],
  [
    'ended after a wait in words',
    stream('end', start, 'retry: \n\nretry: soon\n\n'),
    'evt_0',
    2_000,
  ],
  ['was cut', stream('fail', start, frame('evt_1'), ':\n\n'), 'evt_1', 2_000],
  ['was cut within an event', stream('fail', start + frame('evt_2').slice(0, -1)), 'evt_0', 2_000],
  [
    'came in odd pieces',
    stream('end', ...(start + frame('evt_1')).split(/(?=.)/s)),
    'evt_1',
    2_000,
  ],
  ['fell silent', stream('stay', start, frame('evt_1')), 'evt_1', 47_000],
  ['was refused for longer than a call is repeated', suspended, null, 900_000],
  ['was refused by a proxy for so long', proxyAway, null, 900_000],
])('a connection that %s is followed by another', async (_, answer, after, waitMs) => {
  const { client, sent } = clientWith([answer, last])
  const seen: string[] = []
  const connections: boolean[] = []
  const onConnection = (isOpen: boolean) => void connections.push(isOpen)
  const following = (async () => {
    for await (const { id } of client.events({ onConnection }))
      if (seen.push(id) > 0 && id === 'evt_9') return
  })()
  await vi.advanceTimersByTimeAsync(waitMs - 1)
  expect(sent).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1_000)
  await following
  expect(new URL(sent[1]?.url ?? '').searchParams.get('after')).toBe(after)
  expect(connections).toEqual(after === null ? [false, true] : [true, false, true])
  expect(seen).toEqual(after === 'evt_1' ? ['evt_1', 'evt_9'] : ['evt_9'])
})

it('waits for as long as the service is away', async () => {
  const { client } = clientWith([...Array.from({ length: 40 }, () => lost), last])
  const first = client.events({ after: 'evt_0' })[Symbol.asyncIterator]().next()
  await vi.advanceTimersByTimeAsync(600_000)
  expect((await first).value).toEqual({ id: 'evt_9' })
})

it.each<[string, (cancel: () => void) => Answer]>([
  [
    'for the next event',
    (cancel) => () =>
      new Response(new ReadableStream({ cancel }), {
        headers: { 'Content-Type': 'text/event-stream' },
      }),
  ],
  ['to connect again', () => lost],
])('ends at once, and closes its connection, while it waits %s', async (what, answer) => {
  const closed = vi.fn()
  const { client } = clientWith([answer(closed)], { retry: { attempts: 1 } })
  const events = client.events()[Symbol.asyncIterator]()
  const next = events.next()
  await vi.advanceTimersByTimeAsync(100)
  expect(await events.return?.()).toEqual({ done: true, value: undefined })
  expect(await next).toEqual({ done: true, value: undefined })
  expect(closed).toHaveBeenCalledTimes(what === 'for the next event' ? 1 : 0)
  expect(await events.next()).toEqual({ done: true, value: undefined })
})

it('ends with ABORTED at the signal of its caller', async () => {
  const controller = new AbortController()
  const following = clientWith([last]).client.events({ signal: controller.signal })
  const events = following[Symbol.asyncIterator]()
  await events.next()
  const failed = errorOf(events.next())
  await vi.advanceTimersByTimeAsync(100)
  controller.abort()
  expect(await failed).toMatchObject({ code: 'ABORTED' })
})

it.each([
  [410, 'EVENT_GONE', { resumeAfter: 'evt_4', oldest: 'evt_5' }],
  [401, 'UNAUTHORIZED', undefined],
  [403, 'INSUFFICIENT_SCOPE', { required_any_of: ['trading:read'] }],
])('ends with the error where %d %s is answered', async (status, code, details) => {
  const { client, sent } = clientWith([refusal(status, code, details), success()])
  const events = client.events({ after: 'evt_0', types: ['order.filled', 'trade.closed'] })
  const error = await errorOf(events[Symbol.asyncIterator]().next())
  expect(sent[0]?.url).toContain('after=evt_0&types=order.filled%2Ctrade.closed')
  expect(error).toMatchObject({ status, code, ...(details && { details }) })
})

it('quotes are followed over connections that end, and not where there are none', async () => {
  const quote = { symbol: 'EURUSD', bid: 1, ask: 2, spread: 1, time: 't', stale: false }
  const frames = `retry: 2000\n\nevent: quote\ndata: ${JSON.stringify(quote)}\n\n`
  const { client, sent } = clientWith([
    stream('end', frames),
    stream('stay', frames),
    refusal(501, 'NOT_IMPLEMENTED', { feature: 'market-data' }),
  ])
  const seen: unknown[] = []
  const onConnection = (isOpen: boolean) => void seen.push(isOpen)
  const following = (async () => {
    for await (const update of client.quotes({ symbols: ['EURUSD', 'XAUUSD'], onConnection }))
      seen.push(update)
  })()
  const failed = errorOf(following)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await failed).toMatchObject({ code: 'NOT_IMPLEMENTED' })
  expect(seen).toEqual([true, quote, false, true, quote, false])
  expect(sent[0]?.url).toContain('/quotes/stream?symbols=EURUSD%2CXAUUSD')
})

it('an event of the log has the data that webhooks get, by its type', () => {
  expectTypeOf<Extract<LogEvent, { event: 'order.filled' }>['data']>().toEqualTypeOf<
    EventBody<'order.filled'>['data']
  >()
})
