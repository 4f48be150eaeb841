// Open positions as they are listed, changed and closed, and what the broker then holds.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AccountOptions } from '@tradeport/sandbox-broker'
import { keyOf, linkDesk, refusalOf } from './support/desk.ts'
import type { LinkedDesk } from './support/desk.ts'
import { createTestClock, startTestService } from './support/service.ts'
import type { Json, Reply, TestService } from './support/service.ts'

const clock = createTestClock('2026-03-05T12:00:00.000Z')
const [bid, ask] = [1.1, 1.1002]

let service: TestService
beforeAll(async () => {
  service = await startTestService([], { now: clock.now })
})
afterAll(() => service?.close())
beforeEach(() => service.sandbox.prices.pin('EURUSD', { bid, ask }))

const link = (broker: Partial<AccountOptions> = {}, fields: object = {}, user = 'u-1') =>
  linkDesk(service, { user, broker, fields })
const dataOf = ({ status, body }: Reply): Json => {
  expect([status, body.error]).toEqual([200, null])
  return body.data
}

describe('GET /positions', () => {
  it('lists those of every account but the paper book, oldest first, page by page and filtered', async () => {
    const user = 'u-list'
    const desks = [
      await link({ leverage: 50 }, {}, user),
      await link({ type: 'real' }, { isDemo: false, status: 'disconnected' }, user),
    ]
    await link({}, { brokerType: 'paper', providerAccountId: null }, user)
    const opened: string[] = []
    for (let n = 0; n < 5; n += 1) {
      clock.advance(60_000)
      const desk = desks[n % 2] as LinkedDesk
      opened.push(
        desk.idOf(
          desk.broker.open({
            symbol: n === 1 ? 'XAUUSD' : 'EURUSD',
            volume: 0.2,
            takeProfit: n === 0 ? 2.5 : undefined,
          }),
        ),
      )
    }
    clock.advance(2_500)
    const read = async (query: string) => {
      const { body } = await service.get(`/positions${query}`, keyOf(user))
      return { ids: body.data.map(({ id }: Json) => id), ...body }
    }
    const accounts = desks.map(({ accountId }) => accountId)
    const first = await read('?limit=3')
    expect(first.ids).toEqual(opened.slice(0, 3))
    expect(first.meta.pagination).toEqual({
      page: 1,
      limit: 3,
      total: 5,
      total_pages: 2,
      has_next: true,
      has_prev: false,
    })
    expect(first.meta.provenance).toEqual({ source: 'metaapi', accounts, readAt: clock.iso() })
    expect((await read('?limit=3&page=2')).ids).toEqual(opened.slice(3))
    expect((await read(`?accountId=${accounts[1]}&symbol=XAUUSD`)).ids).toEqual([opened[1]])
    expect(first.data[0]).toMatchObject({
      takeProfit: 2.5,
      marginUsed: 440.08,
      userId: user,
      accountId: accounts[0],
    })
    expect(first.data[0]).not.toHaveProperty('stopLoss')
    const { data, meta } = (
      await service.get(`/positions/${encodeURIComponent(opened[0] ?? '')}`, keyOf(user))
    ).body
    expect([data, meta.provenance.accounts]).toEqual([first.data[0], [accounts[0]]])
  })
})

describe('a level', () => {
  it('is moved to where the broker rounded it, keeps what another program set, and answers the position', async () => {
    const desk = await link()
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
    const desk = await link()
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

const changesOf = (desk: LinkedDesk, ticket: string) => [
  () => desk.moveStopLoss(ticket, 1.05),
  () => desk.moveTakeProfit(ticket, 1.2),
  () => desk.close(ticket),
]

describe('every change', () => {
  it.each<readonly [string, Partial<AccountOptions>, object, number, string]>([
    [
      'that its broker calls live, whatever the link says',
      { type: 'real' },
      {},
      403,
      'LIVE_ACCOUNT_RESTRICTED',
    ],
    [
      'that the provider does not know',
      {},
      { providerAccountId: 'nowhere' },
      400,
      'NOT_PROVISIONED',
    ],
  ])(
    'is refused on an account %s, and nothing is sent',
    async (_, broker, fields, status, code) => {
      const desk = await link(broker, fields)
      for (const change of changesOf(desk, desk.broker.open()))
        expect(refusalOf(await change())).toMatchObject({ status, code })
      expect(desk.broker.sends()).toBe(0)
    },
  )
})
