// @tradeport/client against a started service: every method once, and what it does about answers
// that are lost.
import { createClient, isTradeportError } from '@tradeport/client'
import { setTimeout as pause } from 'node:timers/promises'
import type { Client, LogEvent, TradeportError } from '@tradeport/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { everyScope, keyOf, linkDesk } from './support/desk.ts'
import type { LinkedDesk } from './support/desk.ts'
import { createTestClock, hearReply, useTestService } from './support/service.ts'

const clock = createTestClock(Date.now())

const service = useTestService([], {
  now: clock.now,
  environment: { CAPABILITIES: 'all' },
})
let desk: LinkedDesk
const called = new Set<string>()
/** How many of the next answers are lost on their way, after the service gave them. */
let answersToLose = 0

const isStream = ({ headers }: Response): boolean =>
  headers.get('Content-Type') === 'text/event-stream'

/** The connection is lost after its first event. */
const cutAfterOneEvent = ({ body, headers }: Response): Response => {
  let text = ''
  const cut = new TransformStream<string, string>({
    transform: (chunk, controller) => {
      text += chunk
      const end = text.indexOf('\n\n', text.indexOf('data: '))
      controller.enqueue(chunk)
      if (text.includes('data: ') && end >= 0) controller.error(new Error('read ECONNRESET'))
    },
  })
  return new Response(
    body
      ?.pipeThrough(new TextDecoderStream())
      .pipeThrough(cut)
      .pipeThrough(new TextEncoderStream()),
    { headers },
  )
}

const fetchThrough: typeof fetch = async (input, init = {}) => {
  const { url, method } = new Request(input, init)
  const response = await fetch(input, init)
  if (isStream(response)) return cutAfterOneEvent(response)
  const { status, headers } = response
  hearReply({
    method,
    url,
    sent: typeof init.body === 'string' ? init.body : undefined,
    status,
    headers: [...headers],
    text: await response.clone().text(),
  })
  if (answersToLose === 0) return response
  answersToLose -= 1
  throw new TypeError('fetch failed', { cause: new Error('read ECONNRESET') })
}

let client: ReturnType<typeof createClient>

beforeAll(async () => {
  desk = await linkDesk(service, { broker: { generate: { trades: 120 } } })
  const baseUrl = `${service.apiUrl}/api/v1`
  client = new Proxy(createClient({ baseUrl, apiKey: keyOf('u-1'), fetch: fetchThrough }), {
    get: (target, name: keyof Client) => {
      called.add(name)
      return target[name]
    },
  })
})

const failure = async (promise: Promise<unknown>): Promise<TradeportError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!isTradeportError(error)) throw new Error(`not a TradeportError: ${String(error)}`)
  return error
}
const order = () =>
  ({
    accountId: desk.accountId,
    symbol: 'EURUSD',
    type: 'buy',
    orderType: 'market',
    volume: 0.1,
  }) as const
describe('the client', () => {
  it('reads everything, pages included', async () => {
    const { accountId } = desk
    const trades: string[] = []
    for await (const { id: read } of client.listTrades.each({ accountId })) trades.push(read)
    expect([trades.length, new Set(trades).size]).toEqual([120, 120])
    const [id = ''] = trades
    // The history begins with this read.
    expect((await client.listAccounts()).data).toMatchObject([{ id: accountId }])
    const replies = await Promise.all([
      client.getAccount(accountId),
      client.listBalanceHistory(accountId, { interval: '1d' }),
      client.listSymbols({ type: 'metal' }),
      client.getTrade(id),
      client.getTradeStatistics({ accountId }),
      client.getMe(),
    ])
    expect(replies.map(({ data }) => data)).toMatchObject([
      { id: accountId, isDemo: true },
      [{ balance: expect.any(Number) }],
      [{ symbol: 'XAUUSD' }, { symbol: 'XAGUSD' }],
      { id },
      { totalTrades: 120 },
      {
        scopes: everyScope,
        credential: { kind: 'api_key' },
        limits: expect.arrayContaining([expect.objectContaining({ scope: 'tier' })]),
        capabilities: expect.arrayContaining(['insights', 'trading-tools']),
      },
    ])
    const file = await client.exportTrades({ format: 'json' })
    expect(JSON.parse(await file.text()).trades).toHaveLength(120)
    const insights = await Promise.all([
      client.getReconciliation(accountId),
      client.getTradeCurve({ points: 10 }),
      client.getTradeBreakdown({ by: 'side' }),
      client.getRobustStatistics({ resamples: 1_000 }),
      client.getTradeDeals(id),
    ])
    expect(insights.map(({ data }) => data)).toMatchObject([
      { complete: true },
      { points: { length: 10 } },
      { groups: [{ key: 'buy' }, { key: 'sell' }] },
      { trades: 120 },
      { deals: expect.anything() },
    ])
  })

  it('reads and follows prices, and names what is not available', async () => {
    const { accountId } = desk
    expect((await client.getQuote('EURUSD', { accountId })).data).toMatchObject({
      symbol: 'EURUSD',
    })
    const quotes = await client.listQuotes({ symbols: 'EURUSD,XAUUSD', accountId })
    expect(quotes.data.map(({ symbol }) => symbol)).toEqual(['EURUSD', 'XAUUSD'])
    const candles = await client.listCandles('EURUSD', { timeframe: '1h', limit: 5, accountId })
    expect(candles.data).toHaveLength(5)
    expect((await client.listTicks('EURUSD', { limit: 5, accountId })).data).toHaveLength(5)
    for await (const quote of client.quotes({ symbols: ['EURUSD'], accountId })) {
      expect(quote).toMatchObject({ symbol: 'EURUSD' })
      break
    }
    // There is no feed of the operator.
    expect(await failure(client.getQuote('EURUSD'))).toMatchObject({
      code: 'NOT_IMPLEMENTED',
      status: 501,
    })
  })

  it('places an order and closes its position once although the answers are lost', async () => {
    expect((await client.previewOrder(order())).data).toMatchObject({
      allowed: true,
      estimate: { margin: expect.any(Number), marginLevelAfter: expect.any(Number) },
    })
    answersToLose = 1
    const { data, headers, settled } = await client.placeOrder(order())
    expect(headers.get('Idempotent-Replayed')).toBe('true')
    expect(await settled()).toMatchObject({ id: data.id, status: 'filled' })
    expect((await client.listOrders()).data).toMatchObject([{ id: data.id }])
    for (const refused of [
      () => client.modifyOrder(data.id, { stopLoss: 1 }),
      () => client.cancelOrder(data.id),
    ])
      expect(await failure(refused())).toMatchObject({ details: { status: 'filled' } })
    clock.advance(2_500)
    const id = (await client.getOrder(data.id)).data.positionId ?? ''
    expect((await client.listPositions()).data.map((one) => one.id)).toContain(id)
    await client.moveStopLoss(id, { value: 0.5 })
    expect((await client.moveTakeProfit(id, { value: 5 })).data).toMatchObject({
      stopLoss: 0.5,
      takeProfit: 5,
    })
    const levels = { stopLoss: 0.6, takeProfit: 6 }
    expect((await client.changePositionLevels(id, levels)).data).toMatchObject(levels)
    answersToLose = 1
    expect((await client.closePosition(id)).headers.get('Idempotent-Replayed')).toBe('true')
    const { accountId } = desk
    expect((await client.closePositions({ accountId })).data).toEqual([])
    expect((await client.cancelOrders({ accountId })).data).toEqual([])
    expect((await client.haltAccount(accountId)).data).toMatchObject({ halted: true })
    expect((await client.getHalt(accountId)).data).toMatchObject({ halted: true, by: 'owner' })
    expect((await client.liftHalt(accountId)).data).toMatchObject({ halted: false })
    // The order, three changes of levels and the close.
    expect(desk.broker.sends()).toBe(5)
    expect(await failure(client.getPosition(id))).toMatchObject({ code: 'POSITION_NOT_FOUND' })
  })

  it('follows the log of events over connections that are lost, each event once and in order', async () => {
    const followed: LogEvent[] = []
    const placed: string[] = []
    const following = (async () => {
      for await (const event of client.events({
        types: ['order.created', 'order.filled'],
      }))
        if (followed.push(event) === 4) return
    })()
    await pause(200)
    for (let count = 0; count < 2; count++) placed.push((await client.placeOrder(order())).data.id)
    await following
    const all: LogEvent[] = []
    for await (const event of client.listEvents.each({ types: 'order.created,order.filled' }))
      all.push(event)
    expect(followed).toEqual(all.slice(-4))
    expect(followed.filter(({ event }) => event === 'order.created')).toMatchObject(
      placed.map((id) => ({ data: { order_id: id } })),
    )
    const ended = client.events({ signal: AbortSignal.abort() })[Symbol.asyncIterator]()
    expect(await failure(ended.next())).toMatchObject({ code: 'ABORTED' })
  })

  it('registers, reads, tries, changes and deletes a webhook', async () => {
    const url = 'https://receiver.invalid/hook'
    const { data } = await client.createWebhook({ url, eventTypes: ['order.filled'] })
    const { secret, ...shown } = data
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    expect((await client.listWebhooks()).data).toEqual([shown])
    expect((await client.getWebhook(data.id)).data).toEqual(shown)
    expect((await client.testWebhook(data.id)).data).toMatchObject({ success: false })
    expect((await client.changeWebhook(data.id, { enabled: false })).data.enabled).toBe(false)
    expect((await client.listWebhookDeliveries(data.id)).data).toEqual([])
    expect(await failure(client.replayWebhookDelivery(data.id, 'none'))).toMatchObject({
      code: 'NOT_FOUND',
    })
    const { data: rotated } = await client.rotateWebhookSecret(data.id, { overlapHours: 0 })
    expect(rotated.secret).toMatch(/^[0-9a-f]{64}$/)
    expect(await failure(client.recoverWebhook(data.id, { since: '2026-01-01' }))).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('Enable it first'),
    })
    expect((await client.deleteWebhook(data.id)).data).toEqual({ id: data.id, deleted: true })
  })

  it('was tried with every method that it has', () => {
    expect([...called].toSorted()).toEqual(
      Object.keys(createClient({ baseUrl: '/api/v1' })).toSorted(),
    )
  })
})
