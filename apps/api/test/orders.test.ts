// Orders from the request to the position at the simulated provider. Rules and refusals case by case
// are tested in packages/domain, requests in packages/http.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { linkDesk, listRoutes, refusalOf } from './support/desk.ts'
import type { Desk, LinkedDesk } from './support/desk.ts'
import { createTestClock, useTestService } from './support/service.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
// Nine o'clock of tomorrow: never near midnight, and ahead of the database's own clock, by which
// old keys and lists are removed.
const clock = createTestClock(Math.floor(Date.now() / dayMs) * dayMs + 33 * 60 * minuteMs)
const [bid, ask] = [1.1, 1.1002]
/** Its market is always closed: an order in it is accepted, and rejected by the broker. */
const shut = 'UKOIL'

const service = useTestService([], { now: clock.now })
beforeAll(async () => {
  service.sandbox.prices.pin('EURUSD', { bid, ask })
  service.sandbox.market.close(shut)
})
beforeEach(() => {
  service.sandbox.faults.clear()
  clock.advance(minuteMs)
})

const link = (user: string, options: Parameters<typeof linkDesk>[1] = {}) =>
  linkDesk(service, { user, ...options })
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
    const desk = await link('u-1')
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
    const desk = await link('u-1')
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
    const desk = await link('u-1', { broker: { type: 'real' } })
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
    const desk = await link('u-keyed')
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
