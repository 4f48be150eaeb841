// @tradeport/client against a started service: every method once, and what it does about answers
// that are lost.
import { createClient, isTradeportError } from '@tradeport/client'
import type { ClientOptions, Operation, TradeportError } from '@tradeport/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyOf, linkDesk } from './support/desk.ts'
import type { LinkedDesk } from './support/desk.ts'
import { createTestClock, hearReply, startTestService } from './support/service.ts'
import type { TestService } from './support/service.ts'

const clock = createTestClock(Date.now())

let service: TestService
let desk: LinkedDesk
const called = new Set<string>()
const arrived: string[] = []
/** How many of the next answers are lost on their way, after the service gave them. */
let answersToLose = 0

const connect = (options: Partial<ClientOptions> = {}) => {
  const baseUrl = `${service.apiUrl}/api/v1`
  const fetchThrough: typeof fetch = async (input, init = {}) => {
    const { url, method } = new Request(input, init)
    const response = await fetch(input, init)
    arrived.push(`${method} ${url.slice(baseUrl.length)}`)
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
  return new Proxy(
    createClient({ baseUrl, apiKey: keyOf('u-1'), fetch: fetchThrough, ...options }),
    {
      get: (target, name: Operation) => {
        called.add(name)
        return target[name]
      },
    },
  )
}
let client: ReturnType<typeof connect>

beforeAll(async () => {
  service = await startTestService([], { now: clock.now })
  desk = await linkDesk(service, { broker: { generate: { trades: 120, openPositions: 2 } } })
  client = connect()
})
afterAll(() => service?.close())

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
const openPosition = (): string => {
  clock.advance(2_500)
  return desk.idOf(desk.broker.open())
}

describe('the client', () => {
  it('reads accounts, their history, instruments, and every trade of several pages once', async () => {
    const { accountId } = desk
    const { data: accounts, headers } = await client.listAccounts()
    expect([
      accounts.map(({ id }) => id),
      Number(headers.get('X-RateLimit-Remaining')) > 0,
    ]).toEqual([[accountId], true])
    expect((await client.getAccount(accountId)).data).toMatchObject({ id: accountId, isDemo: true })
    expect((await client.listBalanceHistory(accountId, { interval: '1d' })).data).toHaveLength(1)
    expect((await client.listSymbols({ type: 'metal' })).data.map(({ symbol }) => symbol)).toEqual([
      'XAUUSD',
      'XAGUSD',
    ])
    const ids: string[] = []
    for await (const { id } of client.listTrades.each({ accountId })) ids.push(id)
    expect([ids.length > 100, new Set(ids).size]).toEqual([true, ids.length])
    expect((await client.getTradeStatistics({ accountId })).data.totalTrades).toBe(ids.length)
    const file = await client.exportTrades({ format: 'json' })
    expect(file.name).toMatch(/^trades_\d{4}-\d\d-\d\d\.json$/)
    expect(JSON.parse(await file.text()).trades.map(({ id }: { id: string }) => id)).toEqual(ids)
    expect((await client.getTrade(ids[0] ?? '')).data.id).toBe(ids[0])
    const asked = [
      client.getQuote('EURUSD'),
      client.listCandles('EURUSD', { timeframe: '1h' }),
      client.listTicks('EURUSD'),
    ]
    for (const refused of await Promise.all(asked.map(failure)))
      expect(refused).toMatchObject({ code: 'NOT_IMPLEMENTED', status: 501 })
  })

  it('places an order once when the answer is lost', async () => {
    answersToLose = 1
    const { data, headers } = await client.placeOrder(order())
    expect([
      headers.get('Idempotent-Replayed'),
      arrived.filter((one) => one === 'POST /orders').length,
    ]).toEqual(['true', 2])
    await expect.poll(async () => (await client.getOrder(data.id)).data.status).toBe('filled')
    expect(desk.broker.sends()).toBe(1)
    const orders: string[] = []
    for await (const { id } of client.listOrders.each()) orders.push(id)
    expect(orders).toEqual([data.id])
    expect(await failure(client.modifyOrder(data.id, { stopLoss: 1 }))).toMatchObject({
      code: 'ORDER_NOT_MODIFIABLE',
      details: { status: 'filled' },
    })
    expect(await failure(client.cancelOrder(data.id))).toMatchObject({
      code: 'ORDER_NOT_CANCELLABLE',
      outcome: 'not_done',
    })
  })

  it('changes and closes positions, once although the first answer was lost, and never again where the outcome is unknown', async () => {
    const id = openPosition()
    expect(
      (await client.listPositions({ accountId: desk.accountId })).data.map((one) => one.id),
    ).toContain(id)
    expect((await client.moveStopLoss(id, { value: 0.5 })).data.stopLoss).toBe(0.5)
    expect((await client.moveTakeProfit(id, { value: 5 })).data).toMatchObject({
      stopLoss: 0.5,
      takeProfit: 5,
    })
    expect(await failure(client.moveStopLoss(id, { value: 7 }))).toMatchObject({
      code: 'INVALID_PRICE',
      outcome: 'not_done',
    })
    const sent = desk.broker.sends()
    answersToLose = 1
    const { data, headers } = await client.closePosition(id, { volume: 0.1 })
    expect([
      data.remainingVolume,
      headers.get('Idempotent-Replayed'),
      desk.broker.sends() - sent,
    ]).toEqual([0.3, 'true', 1])
    desk.fail('trade', { kind: 'timeout', when: 'after', times: 1 })
    desk.fail('positions', { kind: 'unavailable', skip: 1 })
    expect(await failure(client.closePosition(id, {}))).toMatchObject({
      code: 'BROKER_OUTCOME_UNKNOWN',
      outcome: 'unknown',
      attempts: 1,
    })
    desk.heal()
    expect(desk.broker.sends() - sent).toBe(2)
    expect(await failure(client.getPosition(id))).toMatchObject({
      code: 'POSITION_NOT_FOUND',
      status: 404,
    })
  })

  it('registers, reads, tries, changes and deletes a webhook', async () => {
    const { secret, ...shown } = (
      await client.createWebhook({
        url: 'https://receiver.invalid/hook',
        eventTypes: ['order.filled'],
      })
    ).data
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    expect([(await client.listWebhooks()).data, (await client.getWebhook(shown.id)).data]).toEqual([
      [shown],
      shown,
    ])
    expect((await client.changeWebhook(shown.id, { enabled: false })).data.enabled).toBe(false)
    expect((await client.testWebhook(shown.id)).data).toMatchObject({
      success: false,
      responseCode: 0,
    })
    for await (const delivery of client.listWebhookDeliveries.each(shown.id, { status: 'failed' }))
      expect.fail(delivery.id)
    expect(await failure(client.replayWebhookDelivery(shown.id, 'none'))).toMatchObject({
      code: 'NOT_FOUND',
    })
    expect((await client.deleteWebhook(shown.id)).data).toEqual({ id: shown.id, deleted: true })
  })

  it('was tried with every method that it has', () => {
    expect([...called].toSorted()).toEqual(Object.keys(createClient({ baseUrl: '/' })).toSorted())
  })
})
