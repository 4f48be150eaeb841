// Positions as they are changed and closed over the whole service: what is answered, what the broker then holds, what the next read and the trade history
// show, and that two changes of one position never lose what the other did.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AccountOptions } from '@tradeport/sandbox-broker'
import type { Service } from '../src/service.ts'
import { eventually, openDesk } from './support/order-desk.ts'
import { closingDealsOn, linkingDesks, openPositionDesk } from './support/position-desk.ts'
import type { LinkedDesk } from './support/position-desk.ts'
import { copyDatabase, startTestService } from './support/running-service.ts'
import type { Reply, RunningService } from './support/running-service.ts'
import { createServerDatabase, serverTitle, serverUrl } from './support/server-database.ts'
import { startFrom } from './support/start-service.ts'
import { createTestClock } from './support/test-clock.ts'

const key = 'tp_live_only_for_automated_tests_position_changes'
const clock = createTestClock('2026-03-05T12:00:00.000Z')
const now = (): string => new Date(clock.now()).toISOString()
const [bid, ask] = [1.1, 1.1002]
const sell = { actionType: 'ORDER_TYPE_SELL' }

let service: RunningService
let link: ReturnType<typeof linkingDesks>
beforeAll(async () => {
  service = await startTestService([], { now: clock.now })
  service.sandbox.prices.pin('EURUSD', { bid, ask })
  link = linkingDesks(service, { user: 'u-1', key })
})
afterAll(() => service?.close())

/** Runs a test at another price. */
const atPrice = async (price: { bid: number; ask: number }, test: () => Promise<void>): Promise<void> => {
  service.sandbox.prices.pin('EURUSD', price)
  await test().finally(() => service.sandbox.prices.pin('EURUSD', { bid, ask }))
}
const dataOf = ({ status, body }: Reply) => {
  expect([status, body.error]).toEqual([200, null])
  return body.data
}
const tradesOf = async (desk: LinkedDesk) => dataOf(await desk.get(`/trades?accountId=${desk.accountId}`))

describe('moving a level', () => {
  it('answers the position as it then is, with its margin and where it was read', async () => {
    const desk = await link()
    const ticket = desk.open({ stopLoss: 1.04, takeProfit: 1.3 })
    const { status, body, headers } = await desk.moveStopLoss(ticket, 1.05)
    expect([status, headers.get('Cache-Control')]).toEqual([200, 'no-store'])
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
      takeProfit: 1.3,
      swap: 0,
      commission: -1.4,
      unrealizedPnl: -8,
      realizedPnl: 0,
      marginUsed: 440.08,
      openedAt: now(),
    })
    expect(body.meta.provenance).toEqual({ source: 'metaapi', accounts: [desk.accountId], readAt: now() })
    expect(dataOf(await desk.find(ticket))).toEqual(body.data)
  })

  it.each(['BUY', 'SELL'] as const)('sets, moves and keeps both levels of a %s, and leaves out the one that is not there', async (side) => {
    const desk = await link()
    const ticket = desk.open({ actionType: `ORDER_TYPE_${side}` })
    const [stop, target] = side === 'BUY' ? [1.05, 1.2] : [1.2, 1.05]
    const first = dataOf(await desk.moveStopLoss(ticket, stop))
    expect(first).toMatchObject({ stopLoss: stop })
    expect(first).not.toHaveProperty('takeProfit')
    expect(dataOf(await desk.moveTakeProfit(ticket, target))).toMatchObject({ stopLoss: stop, takeProfit: target })
    expect(dataOf(await desk.moveStopLoss(ticket, stop - 0.01 * Math.sign(target - stop)))).toMatchObject({ takeProfit: target })
    expect(desk.held()).toMatchObject([{ ticket, stopLoss: side === 'BUY' ? 1.04 : 1.21, takeProfit: target }])
  })

  it('keeps a level that another program set a moment ago', async () => {
    const desk = await link()
    const ticket = desk.open({ takeProfit: 1.3 })
    await desk.list()
    desk.broker.trade({ actionType: 'POSITION_MODIFY', positionId: ticket, takeProfit: 1.25 })
    expect(dataOf(await desk.moveStopLoss(ticket, 1.05))).toMatchObject({ stopLoss: 1.05, takeProfit: 1.25 })
    expect(desk.held()).toMatchObject([{ stopLoss: 1.05, takeProfit: 1.25 }])
  })

  it.each<readonly [string, Partial<AccountOptions>]>([
    ['MT5', {}],
    ['MT4', { platform: 'mt4' }],
    ['an MT4 that does not know the result of it', { platform: 'mt4', mt4NoChanges: 'no-result' }],
  ])('to where it is already is a success on %s', async (_, options) => {
    const desk = await link(options)
    const ticket = desk.open({ stopLoss: 1.05, takeProfit: 1.2 })
    expect(dataOf(await desk.moveStopLoss(ticket, 1.05))).toMatchObject({ stopLoss: 1.05, takeProfit: 1.2 })
    expect(dataOf(await desk.moveTakeProfit(ticket, 1.2))).toMatchObject({ stopLoss: 1.05, takeProfit: 1.2 })
    expect(desk.sends()).toBe(2)
  })

  it('is told as the broker rounded it', async () => {
    const desk = await link()
    const ticket = desk.open()
    expect(dataOf(await desk.moveStopLoss(ticket, 1.0500049))).toMatchObject({ stopLoss: 1.05 })
    expect(dataOf(await desk.moveStopLoss(ticket, 1.0499951))).toMatchObject({ stopLoss: 1.05 })
  })

  it('leaves the other positions of the account alone', async () => {
    const desk = await link()
    const others = [desk.open({ stopLoss: 1.01 }), desk.open({ ...sell, takeProfit: 1.02 })]
    const ticket = desk.open()
    await desk.moveStopLoss(ticket, 1.05)
    expect(desk.held().filter((one) => one.ticket !== ticket)).toMatchObject([
      { ticket: others[0], stopLoss: 1.01, takeProfit: undefined },
      { ticket: others[1], stopLoss: undefined, takeProfit: 1.02 },
    ])
  })

  it('is open to an account whose challenge has failed, or that has reached a limit of its trader', async () => {
    const desk = await link()
    const tickets = [desk.open(), desk.open(), desk.open()]
    await service.setUp({
      challenges: [{ accountId: desk.accountId, status: 'failed', startedAt: '2026-01-01T00:00:00.000Z' }],
      traderLimits: [
        { accountId: desk.accountId, limits: { maxOpenLots: 0.1, maxOpenPositions: 1, allowedSymbols: [], approvalAboveLots: 0.01 } },
      ],
    })
    const [first = '', second = '', third = ''] = tickets
    const replies = [await desk.moveStopLoss(first, 1.05), await desk.moveTakeProfit(second, 1.2), await desk.close(third)]
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
  })
})

describe('closing', () => {
  it('answers what was closed and at what price; the position is then not found, and is a trade', async () => {
    const desk = await link()
    const ticket = desk.open()
    await tradesOf(desk)
    await atPrice({ bid: 1.105, ask: 1.1052 }, async () => {
      const { body } = await desk.close(ticket)
      const [deal] = closingDealsOn(service.sandbox, desk.provider)
      expect(body.data).toEqual({
        id: desk.idOf(ticket),
        accountId: desk.accountId,
        brokerPositionId: ticket,
        brokerOrderId: deal?.['orderId'],
        closedVolume: 0.4,
        remainingVolume: 0,
        closePrice: 1.105,
        realizedPnl: 192,
        closedAt: now(),
      })
      expect(body.meta.provenance).toMatchObject({ source: 'metaapi', accounts: [desk.accountId] })
    })
    expect((await desk.find(ticket)).body.error.code).toBe('POSITION_NOT_FOUND')
    expect(dataOf(await desk.list())).toEqual([])
    const trade = {
      id: desk.idOf(ticket),
      type: 'buy',
      volume: 0.4,
      entryPrice: ask,
      exitPrice: 1.105,
      profit: 192,
      commission: -2.8,
      netProfit: 189.2,
    }
    expect(await tradesOf(desk)).toMatchObject([trade])
    expect(dataOf(await desk.get(`/trades/${desk.idOf(ticket)}`))).toMatchObject(trade)
    expect((await desk.close(ticket)).body.error.code).toBe('POSITION_NOT_FOUND')
  })

  it('of parts closes more each time, exactly, and makes one trade of them all', async () => {
    const desk = await link()
    const ticket = desk.open({ ...sell, volume: 0.3 })
    for (const [volume, left, profit] of [
      [0.1, 0.2, 98],
      [0.1, 0.1, 98],
    ] as const) {
      await atPrice({ bid: 1.09, ask: 1.0902 }, async () => {
        expect(dataOf(await desk.close(ticket, volume))).toMatchObject({
          closedVolume: volume,
          remainingVolume: left,
          closePrice: 1.0902,
          realizedPnl: profit,
        })
      })
      expect(dataOf(await desk.find(ticket))).toMatchObject({ volume: left })
      expect(await tradesOf(desk)).toEqual([])
    }
    expect(dataOf(await desk.find(ticket)).realizedPnl).toBe(196)
    const last = dataOf(await desk.close(ticket, 0.1))
    expect(last).toMatchObject({ closedVolume: 0.1, remainingVolume: 0, closePrice: ask, realizedPnl: -2 })
    expect(last).not.toHaveProperty('remainingPositionId')
    expect(await tradesOf(desk)).toMatchObject([{ id: desk.idOf(ticket), type: 'sell', volume: 0.3, profit: 194, commission: -2.1 }])
  })

  it.each([0.1 + 0.2, 0.3])('of %d of 0.3 lots is one of all', async (volume) => {
    const desk = await link()
    expect(dataOf(await desk.close(desk.open({ volume: 0.3 }), volume))).toMatchObject({ closedVolume: 0.3, remainingVolume: 0 })
    expect(desk.held()).toEqual([])
  })

  it('looks for its deal for two seconds, answers nulls after that, and shows the fill in the trades later', async () => {
    const desk = await link()
    const ticket = desk.open()
    service.sandbox.faults.set(desk.provider, 'trade', { kind: 'closing-deal-lag', reads: 20 })
    expect(dataOf(await desk.close(ticket))).toMatchObject({ closedVolume: 0.4, closePrice: null, realizedPnl: null, closedAt: null })
    const shown = await eventually(
      async () => {
        clock.advance(5_000)
        return tradesOf(desk)
      },
      ({ length }) => length > 0,
    )
    expect(shown).toMatchObject([{ id: desk.idOf(ticket), exitPrice: bid, profit: -8 }])
  })

  it('tells a deal that shows a little later', async () => {
    const desk = await link()
    const ticket = desk.open()
    service.sandbox.faults.set(desk.provider, 'trade', { kind: 'closing-deal-lag', reads: 2 })
    expect(dataOf(await desk.close(ticket))).toMatchObject({ closePrice: bid, realizedPnl: -8, closedAt: now() })
  })

  it('reduces a netting position, whose average price and other lots stay', async () => {
    const desk = await link({ marginMode: 'netting' })
    const ticket = desk.open({ volume: 0.1 })
    service.sandbox.prices.pin('EURUSD', { bid: 1.1998, ask: 1.2 })
    desk.open({ volume: 0.1 })
    service.sandbox.prices.pin('EURUSD', { bid, ask })
    expect(dataOf(await desk.moveStopLoss(ticket, 1.05))).toMatchObject({ volume: 0.2, entryPrice: 1.1501, stopLoss: 1.05 })
    expect(dataOf(await desk.close(ticket, 0.15))).toMatchObject({ closedVolume: 0.15, remainingVolume: 0.05, realizedPnl: -751.5 })
    expect(dataOf(await desk.list())).toMatchObject([{ id: desk.idOf(ticket), volume: 0.05, entryPrice: 1.1501, stopLoss: 1.05 }])
    expect(dataOf(await desk.close(ticket))).toMatchObject({ closedVolume: 0.05, remainingVolume: 0 })
    expect(await tradesOf(desk)).toMatchObject([{ volume: 0.2, entryPrice: 1.1501, exitPrice: bid, profit: -1_002 }])
  })

  it.each<readonly [string, Partial<AccountOptions>]>([
    ['whose deals share the ticket’s number', { mt4DealIds: 'shared' }],
    ['whose deals have numbers of their own', { mt4DealIds: 'distinct' }],
  ])('a part on MT4, %s, tells the number that the rest goes on with, and all parts fold into one trade', async (_, options) => {
    const desk = await link({ platform: 'mt4', ...options })
    const first = desk.open({ volume: 0.3, stopLoss: 1.05, takeProfit: 1.2 })
    let ticket = first
    for (const left of [0.2, 0.1]) {
      const { remainingPositionId, ...closed } = dataOf(await desk.close(ticket, 0.1))
      expect(closed).toMatchObject({ id: desk.idOf(ticket), closedVolume: 0.1, remainingVolume: left, closePrice: bid, realizedPnl: -2 })
      expect((await desk.find(ticket)).body.error.code).toBe('POSITION_NOT_FOUND')
      const [rest] = desk.held()
      expect([remainingPositionId, rest?.volume]).toEqual([desk.idOf(rest?.ticket ?? ''), left])
      ticket = rest?.ticket ?? ''
      expect(dataOf(await desk.find(ticket))).toMatchObject({ volume: left, stopLoss: 1.05, takeProfit: 1.2, openedAt: now() })
      expect(await tradesOf(desk)).toEqual([])
    }
    expect(dataOf(await desk.moveStopLoss(ticket, 1.06))).toMatchObject({ stopLoss: 1.06, takeProfit: 1.2 })
    expect(dataOf(await desk.close(ticket))).toMatchObject({ closedVolume: 0.1, remainingVolume: 0, closePrice: bid, realizedPnl: -2 })
    const { body } = await desk.get(`/trades?accountId=${desk.accountId}`)
    expect(body.data).toMatchObject([{ id: desk.idOf(first), volume: 0.3, entryPrice: ask, exitPrice: bid, profit: -6 }])
    expect(body.meta.provenance.skipped).toEqual([])
  })

  it('a part on MT4 is told rightly beside a position that was opened at the same moment and price', async () => {
    const desk = await link({ platform: 'mt4' })
    const [twin, ticket] = [desk.open({ volume: 0.3 }), desk.open({ volume: 0.4 })]
    const { remainingPositionId } = dataOf(await desk.close(ticket, 0.1))
    expect(remainingPositionId).not.toBe(desk.idOf(twin))
    expect(desk.held().map(({ volume }) => volume)).toEqual([0.3, 0.3])
    expect(dataOf(await desk.list()).map(({ id }: { id: string }) => id)).toEqual(
      expect.arrayContaining([desk.idOf(twin), remainingPositionId]),
    )
  })
})

/** Changes of one position, several at once, each answered, and the book as they left it. */
describe.each<readonly [string, Partial<AccountOptions>]>([
  ['hedging', {}],
  ['netting', { marginMode: 'netting' }],
  ['MT4', { platform: 'mt4' }],
])('two changes of one position at the same time, %s', (_, options) => {
  let desk: LinkedDesk
  beforeAll(async () => {
    desk = await link(options)
    // Long enough for each to be read before the other is made, were they let.
    service.sandbox.faults.set(desk.provider, 'trade', { kind: 'delay', ms: 15 })
  })

  it('never lose the level that the other one set, in many rounds', async () => {
    const ticket = desk.open()
    for (let round = 1; round <= 25; round += 1) {
      const [stop, target] = [Number((1 + round / 1_000).toFixed(5)), Number((1.2 + round / 1_000).toFixed(5))]
      const changes = [() => desk.moveStopLoss(ticket, stop), () => desk.moveTakeProfit(ticket, target)]
      const replies = await Promise.all((round % 2 ? changes : changes.toReversed()).map((change) => change()))
      expect(replies.map(({ status }) => status)).toEqual([200, 200])
      expect(desk.held()).toMatchObject([{ ticket, stopLoss: stop, takeProfit: target }])
      expect(dataOf(await desk.find(ticket))).toMatchObject({ stopLoss: stop, takeProfit: target })
    }
    desk.broker.trade({ actionType: 'POSITION_CLOSE_ID', positionId: ticket })
  })

  it('close each their own lots, and no more than there are', async () => {
    const ticket = desk.open({ volume: 0.5 })
    const sent = desk.sends()
    const replies = await Promise.all([0.1, 0.2, 0.3].map((volume) => desk.close(ticket, volume)))
    const done = replies.filter(({ status }) => status === 200)
    const closed = done.reduce((hundredths, { body }) => hundredths + body.data.closedVolume * 100, 0)
    expect(Math.round(closed)).toBe(50 - Math.round((desk.held()[0]?.volume ?? 0) * 100))
    // Too little is left, or nothing, or on MT4 a rest of another number: which of them can be told before anything is sent.
    const codes = replies.flatMap(({ body }) => body.error?.code ?? [])
    expect(['INVALID_VOLUME', 'POSITION_NOT_FOUND']).toEqual(expect.arrayContaining(codes))
    expect([codes.length > 0, desk.sends() - sent]).toEqual([true, done.length])
    for (const rest of desk.held()) desk.broker.trade({ actionType: 'POSITION_CLOSE_ID', positionId: rest.ticket })
  })

  it('one of a level and a close, are both answered as the book has it', async () => {
    const ticket = desk.open()
    const [level, close] = await Promise.all([desk.moveStopLoss(ticket, 1.05), desk.close(ticket)])
    expect(close.status).toBe(200)
    expect([200, 404]).toContain(level.status)
    expect(desk.held()).toEqual([])
  })
})

it('changes of different positions of an account do not wait for one another', async () => {
  const desk = await link()
  const tickets = Array.from({ length: 8 }, () => desk.open())
  // None is answered until all have been sent.
  service.sandbox.faults.set(desk.provider, 'trade', { kind: 'delay', ms: 1_000 })
  const changing = Promise.all(tickets.map((ticket) => desk.moveStopLoss(ticket, 1.05)))
  await expect.poll(desk.sends, { timeout: 60_000 }).toBe(8)
  expect(desk.held().filter(({ stopLoss }) => stopLoss === 1.05).length).toBeLessThan(8)
  expect((await changing).map(({ status }) => status)).toEqual(tickets.map(() => 200))
})

const keyed = (name: string) => ({ 'Idempotency-Key': name })

describe('a close with an Idempotency-Key', () => {
  it('closes once, however often it is sent, and answers as the first time', async () => {
    const desk = await link()
    const ticket = desk.open()
    const first = await desk.close(ticket, 0.1, keyed('close-1'))
    expect([first.status, first.headers.get('Idempotent-Replayed')]).toEqual([200, null])
    const again = await desk.close(ticket, 0.1, keyed('close-1'))
    expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([200, 'true'])
    expect(again.body.data).toEqual(first.body.data)
    expect([desk.held().map(({ volume }) => volume), desk.sends()]).toEqual([[0.3], 1])
  })

  it('closes once where it is sent many times at once', async () => {
    const desk = await link()
    const ticket = desk.open()
    const replies = await Promise.all(Array.from({ length: 8 }, () => desk.close(ticket, 0.1, keyed('close-2'))))
    const answered = replies.filter(({ status }) => status === 200)
    expect(answered.filter(({ headers }) => headers.get('Idempotent-Replayed') === null)).toHaveLength(1)
    for (const { body } of answered) expect(body.data).toEqual(answered[0]?.body.data)
    for (const { status, body, headers } of replies.filter((reply) => !answered.includes(reply)))
      expect([status, body.error.code, headers.get('Retry-After')]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS', '1'])
    expect([desk.held().map(({ volume }) => volume), desk.sends()]).toEqual([[0.3], 1])
  })

  it('refuses its key for another volume, another position and another route', async () => {
    const desk = await link()
    const [ticket, other] = [desk.open(), desk.open()]
    expect((await desk.close(ticket, 0.1, keyed('close-3'))).status).toBe(200)
    for (const reply of [
      await desk.close(ticket, 0.2, keyed('close-3')),
      await desk.close(ticket, undefined, keyed('close-3')),
      await desk.close(other, 0.1, keyed('close-3')),
      await openDesk(service, { key, accountId: desk.accountId }).post({}, keyed('close-3')),
    ])
      expect([reply.status, reply.body.error?.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED'])
    expect(desk.sends()).toBe(1)
  })

  it('leaves its key free after a refusal by which nothing was sent', async () => {
    const desk = await link()
    const ticket = desk.open()
    expect((await desk.close(ticket, 0.5, keyed('close-4'))).status).toBe(400)
    expect((await desk.close(ticket, 0.4, keyed('close-4'))).status).toBe(200)
    expect([desk.held(), desk.sends()]).toEqual([[], 1])
  })

  it.each([
    { what: 'is refused', status: 422, fault: { kind: 'return-code', numericCode: 10_018, when: 'before', times: 1 } },
    { what: 'is not confirmed', status: 504, fault: { kind: 'cut', when: 'before', times: 1 } },
  ] as const)('that $what by the broker is answered so again, and sent once', async ({ status, fault }) => {
    const desk = await link()
    const ticket = desk.open()
    service.sandbox.faults.set(desk.provider, 'trade', fault)
    const first = await desk.close(ticket, 0.1, keyed(`close-${status}`))
    const again = await desk.close(ticket, 0.1, keyed(`close-${status}`))
    expect([first.status, again.status, again.headers.get('Idempotent-Replayed')]).toEqual([status, status, 'true'])
    expect(again.body.error).toEqual({ ...first.body.error, request_id: again.body.error.request_id })
    expect([desk.held().map(({ volume }) => volume), desk.sends()]).toEqual([[0.4], 1])
  })
})

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  it('two instances on one database never lose a level, and each hears of what the other changed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tradeport-'))
    copyDatabase(folder)
    const database = await createServerDatabase()
    const environment = { DATABASE_URL: database.url, SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') }
    const one = await startTestService([], { environment })
    let two: Service | undefined
    try {
      two = await startFrom({ ...one.environment, DATA_DIR: folder })
      one.sandbox.prices.pin('EURUSD', { bid, ask })
      const here = await linkingDesks(one, { user: 'u-1', key })()
      const there = openPositionDesk(two, { key, accountId: here.accountId })
      const ticket = here.open()
      one.sandbox.faults.set(here.provider, 'trade', { kind: 'delay', ms: 15 })
      for (let round = 1; round <= 25; round += 1) {
        const [stop, target] = [Number((1 + round / 1_000).toFixed(5)), Number((1.2 + round / 1_000).toFixed(5))]
        const replies = await Promise.all([here.moveStopLoss(ticket, stop), there.moveTakeProfit(ticket, target)])
        expect(replies.map(({ status }) => status)).toEqual([200, 200])
        expect(here.held()).toMatchObject([{ ticket, stopLoss: stop, takeProfit: target }])
        for (const desk of [here, there]) {
          const shown = await eventually(
            async () => dataOf(await desk.find(ticket)),
            ({ stopLoss, takeProfit }) => stopLoss === stop && takeProfit === target,
          )
          expect(shown).toMatchObject({ stopLoss: stop, takeProfit: target })
        }
      }
      const closes = await Promise.all([here.close(ticket), there.close(ticket)])
      expect(new Set(closes.map(({ status }) => status))).toEqual(new Set([200, 404]))
      expect(here.held()).toEqual([])
    } finally {
      await one.sandbox.close()
      await two?.close()
      await one.close()
      await database.drop()
      await rm(folder, { recursive: true, force: true })
    }
  })
})
