// Trading over a real port: orders from the request to the position at the simulated provider,
// positions as they are listed, changed and closed, and the capability `trading-tools`. Rules and
// refusals case by case are tested in packages/domain, requests in packages/http.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { keyOf, linkDesk, linkDocument, listRoutes, refusalOf } from './support/desk.ts'
import type { Desk, LinkedDesk } from './support/desk.ts'
import { createTestClock, useTestService } from './support/service.ts'
import type { Json, Reply } from './support/service.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
// Nine o'clock of tomorrow: never near midnight, and ahead of the database's own clock, by which
// old keys and lists are removed.
const clock = createTestClock(Math.floor(Date.now() / dayMs) * dayMs + 33 * 60 * minuteMs)
const [bid, ask] = [1.1, 1.1002]
/** Its market is always closed: an order in it is accepted, and rejected by the broker. */
const shut = 'UKOIL'

const service = useTestService([], {
  now: clock.now,
  environment: { CAPABILITIES: 'trading-tools' },
})
beforeAll(() => service.sandbox.market.close(shut))
beforeEach(() => {
  service.sandbox.prices.pin('EURUSD', { bid, ask })
  service.sandbox.faults.clear()
  clock.advance(minuteMs)
})

const dataOf = ({ status, body }: Reply): Json => {
  expect([status, body.error]).toEqual([200, null])
  return body.data
}
const noneIsPending = (desk: Desk): Promise<void> =>
  expect.poll(() => desk.countOrders('&status=pending')).toBe(0)
const times = <A>(count: number, act: () => Promise<A>): Promise<A[]> =>
  Promise.all(Array.from({ length: count }, act))
/**
 * Makes the outcome of orders unknown although they are executed: they stay pending until the
 * faults are cleared.
 */
const holdPending = (desk: LinkedDesk): void => {
  desk.fail('trade', { kind: 'timeout', when: 'after' })
  for (const route of listRoutes) desk.fail(route, { kind: 'timeout' })
}

describe('an order', () => {
  const sent = {
    price: 1.05,
    stopLoss: 1.05,
    takeProfit: 1.25,
    comment: 'breakfast 🥐',
    clientId: 'mine-1',
  }

  it('is answered as pending, then filled with its position, which shows at once in what was cached', async () => {
    const desk = await linkDesk(service)
    const margin = async () => (await desk.get(`/accounts/${desk.accountId}`)).body.data.margin
    expect([(await desk.list()).body.data, await margin()]).toEqual([[], 0])
    const { status, headers, body } = await desk.post(sent)
    const { id } = body.data
    const { accountId } = desk
    const recorded = {
      id,
      userId: 'u-1',
      accountId,
      symbol: 'EURUSD',
      type: 'buy',
      orderType: 'market',
      volume: 0.1,
      ...sent,
    }
    const dates = { createdAt: clock.iso(), updatedAt: clock.iso() }
    expect([status, headers.get('Location')]).toEqual([201, `/api/v1/orders/${id}`])
    expect(body.data).toEqual({ ...recorded, ...dates, status: 'pending' })
    const order = await desk.ended(id)
    const [row] = desk.broker.positions()
    const positionId = desk.idOf(row?.id ?? '')
    expect(order).toEqual({
      ...recorded,
      ...dates,
      status: 'filled',
      fillPrice: ask,
      filledVolume: 0.1,
      filledAt: clock.iso(),
      positionId,
    })
    expect((await desk.list()).body.data).toMatchObject([
      { id: positionId, entryPrice: ask, stopLoss: 1.05, takeProfit: 1.25 },
    ])
    expect(await margin()).toBeGreaterThan(0)
    // The broker sees neither the caller's comment nor the caller's reference.
    expect(row).toMatchObject({ clientId: expect.stringMatching(/^TP_[a-z0-9]+_[a-z0-9]+$/) })
    expect(row).not.toHaveProperty('comment')
    expect(desk.broker.sends()).toBe(1)
  })

  it('can be neither changed nor cancelled while it is on its way, nor once it has ended', async () => {
    const desk = await linkDesk(service)
    const attempts = async (id: string) =>
      [
        await desk.call('PUT', `/orders/${id}`, { takeProfit: 1.3 }),
        await desk.call('DELETE', `/orders/${id}`),
      ].map(refusalOf)
    holdPending(desk)
    const { id } = await desk.place()
    const inFlight = { status: 409, code: 'ORDER_IN_FLIGHT' }
    expect(await attempts(id)).toMatchObject([inFlight, inFlight])
    desk.heal()
    await desk.ended(id)
    desk.fail('trade', { kind: 'partial-fill', times: 1 })
    const ended = [
      await desk.find(id),
      await desk.placeAndWait(),
      await desk.placeAndWait({ symbol: shut }),
    ]
    const closed = { code: 'TRADE_RETCODE_MARKET_CLOSED', message: expect.stringMatching(/\w/) }
    expect(ended).toMatchObject([
      { status: 'filled' },
      { status: 'partially_filled', filledVolume: 0.05 },
      { status: 'rejected', rejectReason: closed },
    ])
    for (const order of ended) {
      const details = { status: order.status }
      expect(await attempts(order.id)).toEqual([
        { status: 400, code: 'ORDER_NOT_MODIFIABLE', details },
        { status: 400, code: 'ORDER_NOT_CANCELLABLE', details },
      ])
      expect(await desk.find(order.id)).toEqual(order)
    }
  })

  it('is never sent to an account that its broker does not call a demo account, whatever the link says', async () => {
    const desk = await linkDesk(service, { broker: { type: 'real' } })
    const order = await desk.placeAndWait()
    expect(order).toMatchObject({
      status: 'rejected',
      rejectReason: { code: 'LIVE_ACCOUNT_RESTRICTED' },
    })
    expect(desk.broker.sends()).toBe(0)
    expect(refusalOf(await desk.post())).toMatchObject({
      status: 403,
      code: 'LIVE_ACCOUNT_RESTRICTED',
    })
  })
})

const keyed = (key: string) => ({ 'Idempotency-Key': key })

describe('an order with an Idempotency-Key', () => {
  it('is made once by many requests at once, and is answered the same again, also after a restart and for a day', async () => {
    const desk = await linkDesk(service, { user: 'u-keyed' })
    const replies = await times(20, () => desk.post({}, keyed('k-1')))
    const made = replies.filter(({ status }) => status === 201)
    const [first] = made.filter(({ headers }) => headers.get('Idempotent-Replayed') === null)
    for (const { body } of made) expect(body.data.id).toBe(first?.body.data.id)
    for (const reply of replies.filter(({ status }) => status !== 201))
      expect([refusalOf(reply).code, reply.headers.get('Retry-After')]).toEqual([
        'IDEMPOTENCY_IN_PROGRESS',
        '1',
      ])
    await noneIsPending(desk)
    expect([await desk.countOrders(), desk.broker.sends()]).toEqual([1, 1])
    await service.restart()
    const again = await desk.post({}, keyed('k-1'))
    expect([again.status, again.headers.get('Idempotent-Replayed'), again.body.data]).toEqual([
      201,
      'true',
      first?.body.data,
    ])
    expect(refusalOf(await desk.post({ volume: 0.2 }, keyed('k-1')))).toMatchObject({
      status: 409,
      code: 'IDEMPOTENCY_KEY_REUSED',
    })
    clock.advance(dayMs)
    const anew = await desk.post({}, keyed('k-1'))
    expect([anew.status, anew.headers.get('Idempotent-Replayed')]).toEqual([201, null])
  })
})

describe('a level', () => {
  it('is moved to where the broker rounded it, keeps what another program set, and answers the position', async () => {
    const desk = await linkDesk(service)
    const [ticket, other] = [
      desk.broker.open({ takeProfit: 1.3 }),
      desk.broker.open({ stopLoss: 1.01 }),
    ]
    await desk.list()
    desk.broker.trade({ actionType: 'POSITION_MODIFY', positionId: ticket, takeProfit: 1.25 })
    const { body, headers } = await desk.moveStopLoss(ticket, 1.0500049)
    expect(headers.get('Cache-Control')).toBe('no-store')
    expect(body.data).toEqual({
      id: desk.idOf(ticket),
      userId: 'u-1',
      accountId: desk.accountId,
      brokerPositionId: ticket,
      symbol: 'EURUSD',
      type: 'buy',
      volume: 0.4,
      entryPrice: ask,
      currentPrice: bid,
      stopLoss: 1.05,
      takeProfit: 1.25,
      swap: 0,
      commission: -1.4,
      unrealizedPnl: -8,
      realizedPnl: 0,
      marginUsed: 440.08,
      openedAt: clock.iso(),
    })
    expect(dataOf(await desk.findPosition(ticket))).toEqual(body.data)
    expect(desk.broker.held()).toMatchObject([
      { takeProfit: 1.25 },
      { ticket: other, stopLoss: 1.01, takeProfit: undefined },
    ])
  })
})

describe('a close', () => {
  it('of parts answers each fill exactly, and makes one trade of them all', async () => {
    const desk = await linkDesk(service)
    const ticket = desk.broker.open({ actionType: 'ORDER_TYPE_SELL', volume: 0.3 })
    expect(await desk.trades()).toEqual([])
    service.sandbox.prices.pin('EURUSD', { bid: 1.09, ask: 1.0902 })
    const { body } = await desk.close(ticket, 0.1)
    const [deal] = desk.broker.closed()
    expect(body.data).toEqual({
      id: desk.idOf(ticket),
      accountId: desk.accountId,
      brokerPositionId: ticket,
      brokerOrderId: deal?.['orderId'],
      closedVolume: 0.1,
      remainingVolume: 0.2,
      closePrice: 1.0902,
      realizedPnl: 98,
      closedAt: clock.iso(),
    })
    expect(dataOf(await desk.close(ticket, 0.1))).toMatchObject({ remainingVolume: 0.1 })
    expect(dataOf(await desk.findPosition(ticket))).toMatchObject({ volume: 0.1, realizedPnl: 196 })
    service.sandbox.prices.pin('EURUSD', { bid, ask })
    expect(refusalOf(await desk.close(ticket, 0.11))).toMatchObject({
      status: 400,
      code: 'INVALID_VOLUME',
      details: { volume: 0.11, openVolume: 0.1 },
    })
    expect(dataOf(await desk.close(ticket))).toMatchObject({
      closedVolume: 0.1,
      remainingVolume: 0,
      realizedPnl: -2,
    })
    expect(refusalOf(await desk.close(ticket))).toMatchObject({
      status: 404,
      code: 'POSITION_NOT_FOUND',
    })
    expect(dataOf(await desk.list())).toEqual([])
    const trade = {
      id: desk.idOf(ticket),
      type: 'sell',
      volume: 0.3,
      profit: 194,
      commission: -2.1,
    }
    expect(await desk.trades()).toMatchObject([trade])
    expect(dataOf(await desk.get(`/trades/${desk.idOf(ticket)}`))).toMatchObject(trade)
  })
})

it('closes what matches, once for an Idempotency-Key, and says of each position what became of it', async () => {
  const desk = await linkDesk(service)
  service.sandbox.prices.pin('XAUUSD', { bid: 2000, ask: 2001 })
  const buys = [desk.broker.open(), desk.broker.open()]
  const sell = desk.broker.open({ actionType: 'ORDER_TYPE_SELL' })
  const gold = desk.broker.open({ symbol: 'XAUUSD', volume: 0.2 })
  const close = (selection: object, key: string) =>
    desk.call('POST', '/positions/close', { accountId: desk.accountId, ...selection }, keyed(key))
  const selection = { symbol: 'EURUSD', side: 'buy' }
  const { status, body } = await close(selection, 'eurusd')
  expect([status, body.data]).toMatchObject([
    200,
    buys.map((ticket) => ({
      positionId: desk.idOf(ticket),
      outcome: 'closed',
      remainingVolume: 0,
      closePrice: 1.1,
    })),
  ])
  const again = await close(selection, 'eurusd')
  expect([again.headers.get('Idempotent-Replayed'), again.body.data]).toEqual(['true', body.data])
  expect(desk.broker.held()).toMatchObject([{ ticket: sell }, { ticket: gold }])
  expect((await close({ only: 'profit' }, 'profit')).body.data).toEqual([])
  expect((await close({}, 'all')).body.data).toMatchObject([
    { positionId: desk.idOf(sell), outcome: 'closed' },
    { positionId: desk.idOf(gold), outcome: 'closed' },
  ])
  expect(desk.broker.held()).toEqual([])
})

it('tells any credential what it is, and what is left of its limits', async () => {
  await service.setUp(linkDocument({ user: 'u-me' }))
  await service.setUp({
    users: [{ id: 'u-me', plan: 'pro' }],
    apiKeys: [{ id: 'u-me-key', scopes: [], expiresAt: '2030-01-01T00:00:00Z' }],
  })
  const readMe = async () => (await service.get('/me', keyOf('u-me'))).body.data
  const me = await readMe()
  expect(me).toMatchObject({
    userId: 'u-me',
    plan: 'pro',
    scopes: [],
    credential: { kind: 'api_key', id: 'u-me-key', expiresAt: '2030-01-01T00:00:00.000Z' },
    limits: [
      { scope: 'tier', window: 'minute', limit: 3_000 },
      { scope: 'tier', window: 'day', limit: 100_000 },
    ],
    capabilities: ['trading-tools'],
  })
  const left = (described: typeof me) => described.limits[1].remaining as number
  expect(left(await readMe())).toBe(left(me) - 1)
})

it('previews an order with the broker’s terms and prices, once for an Idempotency-Key, and places nothing', async () => {
  const desk = await linkDesk(service)
  const preview = (fields: object) =>
    desk.call(
      'POST',
      '/orders/preview',
      {
        accountId: desk.accountId,
        symbol: 'EURUSD',
        type: 'buy',
        orderType: 'market',
        volume: 0.1,
        ...fields,
      },
      keyed(JSON.stringify(fields)),
    )
  const fields = { stopLoss: 1.0952, takeProfit: 1.1102 }
  const { status, body } = await preview(fields)
  expect([status, body.data.allowed]).toEqual([200, true])
  expect(body.data.estimate).toMatchObject({
    price: 1.1002,
    spread: 0.0002,
    margin: expect.any(Number),
    marginLevelAfter: expect.any(Number),
    riskAmount: 50,
    rewardAmount: 100,
  })
  expect((await preview(fields)).headers.get('Idempotent-Replayed')).toBe('true')
  await desk.call('POST', `/accounts/${desk.accountId}/halt`)
  const refused = (await preview({ volume: 11.001, symbol: 'NOSUCH' })).body.data
  expect([
    refused.allowed,
    refused.checks.filter((check: Json) => check.passed === false).map((check: Json) => check.code),
  ]).toEqual([false, ['RISK_LIMIT_EXCEEDED', 'ACCOUNT_HALTED', 'NOT_FOUND']])
  const placed = await desk.countOrders(`&accountId=${desk.accountId}`)
  expect([placed, desk.broker.sends()]).toEqual([0, 0])
  const other = await linkDesk(service, { user: 'u-2' })
  expect(refusalOf(await preview({ accountId: other.accountId })).code).toBe('ACCOUNT_NOT_FOUND')
})

it('holds back the reply to an order until its outcome, and repeats what was answered', async () => {
  const { call, accountId, broker } = await linkDesk(service)
  const order = { accountId, symbol: 'EURUSD', type: 'buy', orderType: 'market', volume: 0.1 }
  const waiting = (seconds: number) =>
    call('POST', `/orders?wait=${seconds}`, order, keyed('waits'))
  const filled = await waiting(30)
  expect([filled.status, filled.body.data.status]).toEqual([201, 'filled'])
  const again = await waiting(30)
  expect([again.headers.get('Idempotent-Replayed'), again.body.data]).toEqual([
    'true',
    filled.body.data,
  ])
  expect(broker.sends()).toBe(1)
  expect(refusalOf(await waiting(31)).code).toBe('VALIDATION_ERROR')
})

it('places no order on a halted account, and keeps the halt of the operator from the owner until the operator removes it', async () => {
  const desk = await linkDesk(service)
  desk.broker.open()
  const path = `/accounts/${desk.accountId}/halt`
  const setHalt = (fields: object) =>
    service.setUp({ halts: [{ accountId: desk.accountId, ...fields }] })
  await setHalt({ reason: 'under review' })
  expect(refusalOf(await desk.post())).toMatchObject({
    code: 'ACCOUNT_HALTED',
    details: { by: 'operator' },
  })
  expect(refusalOf(await desk.call('DELETE', path))).toMatchObject({
    status: 403,
    code: 'ACCOUNT_HALTED',
  })
  expect((await desk.call('POST', path, { closePositions: true })).body.data).toMatchObject({
    by: 'operator',
    closes: [{ outcome: 'closed' }],
  })
  await setHalt({ removed: true })
  expect(refusalOf(await desk.post())).toMatchObject({
    status: 403,
    code: 'ACCOUNT_HALTED',
    details: { by: 'owner', since: expect.any(String) },
  })
  expect((await desk.call('DELETE', path)).body.data).toMatchObject({ halted: false, by: null })
  expect((await desk.placeAndWait()).status).toBe('filled')
})
