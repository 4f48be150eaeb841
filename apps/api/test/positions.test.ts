// Open positions as they are listed, changed and closed, and what the broker then holds.
import { beforeEach, describe, expect, it } from 'vitest'
import { linkDesk, refusalOf } from './support/desk.ts'
import { createTestClock, useTestService } from './support/service.ts'
import type { Json, Reply } from './support/service.ts'

const clock = createTestClock('2026-03-05T12:00:00.000Z')
const [bid, ask] = [1.1, 1.1002]

const service = useTestService([], { now: clock.now })
beforeEach(() => service.sandbox.prices.pin('EURUSD', { bid, ask }))

const dataOf = ({ status, body }: Reply): Json => {
  expect([status, body.error]).toEqual([200, null])
  return body.data
}

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
