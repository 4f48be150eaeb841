// @tradeport/client against a started service, over a real port: every method once, and what it makes of answers that are lost.
import { setTimeout as pause } from 'node:timers/promises'
import { createClient, isTradeportError, verifyWebhookSignature } from '@tradeport/client'
import type { Position, TradeportError } from '@tradeport/client'
import { signWebhook } from '@tradeport/domain'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accountId, linkClientUser, openClientUser } from './support/client-user.ts'
import type { ClientUser } from './support/client-user.ts'
import { startTestService } from './support/running-service.ts'
import type { RunningService } from './support/running-service.ts'

const key = 'tp_live_only_for_automated_tests_of_the_client'
const provider = 'client-main'
const order = { accountId, symbol: 'EURUSD', type: 'buy', orderType: 'market', volume: 0.1 } as const
const opening = { actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.4 }

let service: RunningService
let user: ClientUser

beforeAll(async () => {
  service = await startTestService([{ id: provider, generate: { trades: 120, openPositions: 2 } }])
  await linkClientUser(service, key, provider)
  user = openClientUser(service, key)
})
afterAll(() => service?.close())

const sends = (): number => service.sandbox.requests.count({ account: provider, route: 'trade' })
const failure = async (promise: Promise<unknown>): Promise<TradeportError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!isTradeportError(error)) throw new Error(`not a TradeportError: ${String(error)}`)
  return error
}
const settled = async (id: string) => {
  for (;;) {
    const { data } = await user.client.getOrder(id)
    if (data.status !== 'pending') return data
    await pause(100)
  }
}
/** Opens one at the broker, and gives it as soon as it shows. */
const openPosition = async (): Promise<Position> => {
  const { positionId = '' } = service.sandbox.account(provider).trade(opening)
  for (;;) {
    for await (const position of user.client.listPositions.each({ accountId }))
      if (position.brokerPositionId === positionId) return position
    await pause(200)
  }
}

describe('the client', () => {
  it('reads accounts, their history and the instruments', async () => {
    const { data: accounts, headers } = await user.client.listAccounts()
    expect(accounts.map(({ id }) => id)).toEqual([accountId])
    expect(Number(headers.get('X-RateLimit-Remaining'))).toBeGreaterThan(0)
    const { data: account } = await user.client.getAccount(accountId)
    expect(account).toMatchObject({ id: accountId, isDemo: true, status: 'connected' })
    const { data: snapshots } = await user.client.listBalanceHistory(accountId, { interval: '1d' })
    expect(snapshots[0]?.balance).toBe(account.balance)
    const { data: instruments } = await user.client.listSymbols({ type: 'metal' })
    expect(instruments.map(({ symbol }) => symbol)).toEqual(['XAUUSD', 'XAGUSD'])
  })

  it('gives every trade of several pages once, the same that the file and the statistics have', async () => {
    const ids: string[] = []
    for await (const { id } of user.client.listTrades.each({ accountId })) ids.push(id)
    const { data: first, meta } = await user.client.listTrades({ limit: 50 })
    expect(ids.slice(0, 50)).toEqual(first.map(({ id }) => id))
    expect(ids).toHaveLength(meta.pagination.total)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBeGreaterThan(100)
    const { data: statistics } = await user.client.getTradeStatistics({ accountId })
    expect(statistics.totalTrades).toBe(ids.length)
    const file = await user.client.exportTrades({ format: 'json' })
    expect(file.name).toMatch(/^trades_\d{4}-\d\d-\d\d\.json$/)
    expect(JSON.parse(await file.text()).trades.map(({ id }: { id: string }) => id)).toEqual(ids)
    const { data: trade } = await user.client.getTrade(ids[0] ?? '')
    expect(trade).toEqual(first[0])
  })

  it('says that there is no market data yet', async () => {
    const { client } = user
    const asked = [client.getQuote('EURUSD'), client.listCandles('EURUSD', { timeframe: '1h' }), client.listTicks('EURUSD')]
    for (const refused of await Promise.all(asked.map(failure)))
      expect(refused).toMatchObject({ code: 'NOT_IMPLEMENTED', status: 501, details: { feature: 'market-data' } })
  })

  it('places an order once when the answer is lost, and gets the first answer again', async () => {
    const before = sends()
    user.loseAnswers(1)
    const { data, headers } = await user.client.placeOrder(order)
    expect(headers.get('Idempotent-Replayed')).toBe('true')
    expect(user.arrived.filter((one) => one === 'POST /orders')).toHaveLength(2)
    const placed = await settled(data.id)
    expect(placed.status).toBe('filled')
    expect(sends()).toBe(before + 1)
    const orders: string[] = []
    for await (const { id } of user.client.listOrders.each()) orders.push(id)
    expect(orders).toEqual([data.id])
    expect(await failure(user.client.modifyOrder(data.id, { stopLoss: 1 }))).toMatchObject({
      code: 'ORDER_NOT_MODIFIABLE',
      details: { status: 'filled' },
    })
    expect(await failure(user.client.cancelOrder(data.id))).toMatchObject({ code: 'ORDER_NOT_CANCELLABLE', outcome: 'not_done' })
  })

  it('tells the key of an order whose answers were all lost, with which it is found', async () => {
    const before = sends()
    user.loseAnswers(2)
    const error = await failure(user.client.placeOrder(order, { retry: { attempts: 2 } }))
    expect(error).toMatchObject({ code: 'NETWORK_FAILURE', outcome: 'unknown', attempts: 2 })
    const { data } = await user.client.placeOrder(order, { idempotencyKey: error.idempotencyKey })
    await settled(data.id)
    expect(sends()).toBe(before + 1)
  })

  it('changes positions, and tells of levels that cannot be', async () => {
    const { id } = await openPosition()
    expect((await user.client.moveStopLoss(id, { value: 0.5 })).data.stopLoss).toBe(0.5)
    expect((await user.client.moveTakeProfit(id, { value: 5 })).data).toMatchObject({ stopLoss: 0.5, takeProfit: 5 })
    expect(await failure(user.client.moveStopLoss(id, { value: 7 }))).toMatchObject({
      code: 'INVALID_PRICE',
      details: { currentPrice: expect.closeTo(1.1, 0) },
      outcome: 'not_done',
    })
    const { data: part } = await user.client.closePosition(id, { volume: 0.1 })
    expect(part).toMatchObject({ closedVolume: 0.1, remainingVolume: 0.3 })
    const { data: rest } = await user.client.closePosition(id, {})
    expect(rest).toMatchObject({ remainingVolume: 0 })
    expect(await failure(user.client.getPosition(id))).toMatchObject({ code: 'POSITION_NOT_FOUND', status: 404 })
  })

  it('closes once, although the first answer was lost', async () => {
    const { id } = await openPosition()
    const before = sends()
    user.loseAnswers(1)
    const { data, headers } = await user.client.closePosition(id, { volume: 0.1 })
    expect([data.closedVolume, headers.get('Idempotent-Replayed')]).toEqual([0.1, 'true'])
    expect(sends()).toBe(before + 1)
    expect((await user.client.getPosition(id)).data.volume).toBe(0.3)
  })

  it('does not send a change again that the broker did not confirm', async () => {
    const { id } = await openPosition()
    const before = sends()
    // Executed, without an answer; and nothing can be read afterwards that would tell.
    service.sandbox.faults.set(provider, 'trade', { kind: 'timeout', when: 'after', times: 1 })
    service.sandbox.faults.set(provider, 'position', { kind: 'unavailable', skip: 1 })
    service.sandbox.faults.set(provider, 'positions', { kind: 'unavailable', skip: 1 })
    const error = await failure(user.client.closePosition(id, { volume: 0.1 }))
    service.sandbox.faults.clear()
    expect(error).toMatchObject({ code: 'BROKER_OUTCOME_UNKNOWN', status: 504, outcome: 'unknown', attempts: 1, details: { accountId } })
    expect(sends()).toBe(before + 1)
  })

  it('waits for as long as the broker asks for, and reads again', async () => {
    // Until what was read before is forgotten.
    await pause(2_600)
    service.sandbox.faults.set(provider, 'positions', { kind: 'rate-limit', retryAfterSeconds: 1, times: 1 })
    const before = user.arrived.length
    const began = performance.now()
    const { data } = await user.client.listPositions({ accountId })
    expect(performance.now() - began).toBeGreaterThan(1_000)
    expect(user.arrived.slice(before)).toEqual(Array.from({ length: 2 }, () => `GET /positions?accountId=${accountId}`))
    expect(data.length).toBeGreaterThan(0)
  })

  it('registers, reads, tries, changes and deletes a webhook', async () => {
    const { client } = user
    const { data: created } = await client.createWebhook({ url: 'https://receiver.invalid/hook', eventTypes: ['order.filled'] })
    expect(created.secret).toMatch(/^[0-9a-f]{64}$/)
    const { secret: _, ...shown } = created
    expect((await client.listWebhooks()).data).toEqual([shown])
    expect((await client.getWebhook(created.id)).data).toEqual(shown)
    expect((await client.changeWebhook(created.id, { enabled: false })).data.enabled).toBe(false)
    expect((await client.testWebhook(created.id)).data).toMatchObject({ success: false, responseCode: 0 })
    const deliveries: unknown[] = []
    for await (const delivery of client.listWebhookDeliveries.each(created.id, { status: 'failed' })) deliveries.push(delivery)
    expect(deliveries).toEqual([])
    expect(await failure(client.replayWebhookDelivery(created.id, 'none'))).toMatchObject({ code: 'NOT_FOUND' })
    expect((await client.deleteWebhook(created.id)).data).toEqual({ id: created.id, deleted: true })
  })

  it('tells what is wrong with a request, a credential and an address', async () => {
    const invalid = await failure(user.client.listTrades({ limit: 0 }))
    expect(invalid).toMatchObject({ code: 'VALIDATION_ERROR', details: { issues: [{ path: 'limit' }] } })
    const stranger = createClient({ baseUrl: `${service.apiUrl}/api/v1`, apiKey: 'tp_live_of_nobody' })
    expect(await failure(stranger.listAccounts())).toMatchObject({
      code: 'UNAUTHORIZED',
      status: 401,
      requestId: expect.stringMatching(/^req_/),
    })
    const lost = createClient({ baseUrl: 'http://127.0.0.1:1/api/v1', retry: { attempts: 1 } })
    expect((await failure(lost.listSymbols())).message).toMatch(
      /^listSymbols got no answer \(after 1 attempt\): .*Check baseUrl and the network\.$/,
    )
    const elsewhere = createClient({ baseUrl: `${service.apiUrl}/nowhere` })
    expect(await failure(elsewhere.listSymbols())).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('was tried with every method that it has', () => {
    expect([...user.called].toSorted()).toEqual(Object.keys(createClient({ baseUrl: '/' })).toSorted())
  })
})

it('knows the signature that the service makes', () =>
  fc.assert(
    fc.asyncProperty(fc.string({ minLength: 16, maxLength: 64 }), fc.uint8Array({ maxLength: 300 }), async (secret, body) => {
      expect(await verifyWebhookSignature(secret, body, signWebhook(secret, body))).toBe(true)
    }),
    { numRuns: 30 },
  ))
