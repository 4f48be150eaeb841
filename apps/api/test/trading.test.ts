// Trading over a real port: orders from the request to the position at the simulated provider,
// positions as they are listed, changed and closed, and halts. Rules and refusals case by case are
// tested in packages/domain, requests and replies in packages/http.
import { times } from '@tradeport/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import { linkDesk, refusalOf, pinPrice } from './support/desk.ts'
import { createTestClock, useTestService, type Reply } from './support/service.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
// Nine o'clock of tomorrow: never near midnight, and ahead of the database's own clock, by which
// old keys and lists are removed.
const clock = createTestClock(Math.floor(Date.now() / dayMs) * dayMs + 33 * 60 * minuteMs)
const [bid, ask] = [1.1, 1.1002]

const service = useTestService([], {
  now: clock.now,
  environment: { CAPABILITIES: 'trading-tools' },
})
beforeEach(() => {
  pinPrice(service.sandbox, bid)
  clock.advance(minuteMs)
})

const dataOf = ({ status, body }: Reply) => {
  expect([status, body.error]).toEqual([200, null])
  return body.data
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
    const margin = async () => (await desk.read(`/accounts/${desk.accountId}`)).margin
    expect([await desk.positions(), await margin()]).toEqual([[], 0])
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
    expect(await desk.positions()).toMatchObject([
      { id: positionId, entryPrice: ask, stopLoss: 1.05, takeProfit: 1.25 },
    ])
    expect(await margin()).toBeGreaterThan(0)
    // The broker sees neither the caller's comment nor the caller's reference.
    expect(row).toMatchObject({ clientId: expect.stringMatching(/^TP_[a-z0-9]+_[a-z0-9]+$/) })
    expect(row).not.toHaveProperty('comment')
    expect(desk.broker.sends()).toBe(1)
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

it('twenty orders at once against a limit share their reads of the positions', async () => {
  const desk = await linkDesk(service, { user: 'u-limited' })
  const { accountId } = desk
  await service.setUp({ traderLimits: [{ accountId, limits: { maxOpenLots: 0.05 } }] })
  const replies = await Promise.all(times(20, () => desk.post()))
  expect(new Set(replies.map((reply) => refusalOf(reply).code))).toEqual(
    new Set(['TRADER_LIMIT_BREACHED']),
  )
  expect(desk.requests('positions')).toBeLessThan(7)
})

const keyed = (key: string) => ({ 'Idempotency-Key': key })

describe('an order with an Idempotency-Key', () => {
  it('is made once by many requests at once, and is answered the same again, also after a restart', async () => {
    const desk = await linkDesk(service, { user: 'u-keyed' })
    const replies = await Promise.all(times(20, () => desk.post({}, keyed('k-1'))))
    const made = replies.filter(({ status }) => status === 201)
    const [first] = made.filter(({ headers }) => headers.get('Idempotent-Replayed') === null)
    for (const { body } of made) expect(body.data.id).toBe(first?.body.data.id)
    for (const reply of replies.filter(({ status }) => status !== 201))
      expect([refusalOf(reply).code, reply.headers.get('Retry-After')]).toEqual([
        'IDEMPOTENCY_IN_PROGRESS',
        '1',
      ])
    await expect.poll(() => desk.countOrders('&status=pending')).toBe(0)
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
    pinPrice(service.sandbox, 1.09)
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
    pinPrice(service.sandbox, bid)
    expect(dataOf(await desk.close(ticket))).toMatchObject({
      closedVolume: 0.1,
      remainingVolume: 0,
      realizedPnl: -2,
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
