// Every way in which the simulated provider can fail a read or a trade: a read is whole and right
// or an error; a trade is sent once, what is said of it agrees with the broker's true books, and a
// lookup afterwards finds what was executed.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { AccountOptions, Fault, FaultRoute, Sandbox } from '@tradeport/sandbox-broker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { dealKey } from '@tradeport/domain/journal'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { BrokerOrder, SentOrder } from '@tradeport/domain/ports'
import type { Ticket } from '@tradeport/domain/primitives'
import type { MetaApiConfig } from '../src/index.ts'
import {
  account,
  always,
  apiWith,
  closePart,
  everWindow,
  manyRows,
  order as plainOrder,
  rightOf,
  sentOrder,
  token,
  unknown,
} from './support.ts'

const readOnlyToken = 'read-only-token'
const [bid, ask] = [1.1, 1.1002]

let sandbox: Sandbox
let accounts = 0
beforeAll(async () => {
  sandbox = await startSandbox({ tokens: [token, { token: readOnlyToken, readOnly: true }] })
})
afterEach(() => {
  sandbox.faults.clear()
  sandbox.market.open()
})
afterAll(() => sandbox.close())

/** A fresh account with an order for it. */
const open = (
  options: Partial<AccountOptions> = {},
  more: Partial<BrokerOrder> = {},
  config: Partial<MetaApiConfig> = {},
) => {
  accounts += 1
  const id = `p-${accounts}`
  sandbox.prices.pin('EURUSD', { bid, ask })
  const control = sandbox.addAccount({ id, region: 'london', ...options })
  const own: BrokerAccount = { ...account, providerAccountId: id }
  const order: BrokerOrder = {
    ...plainOrder,
    clientId: `TP_${String(accounts).padStart(10, '0')}_abcdefghij`,
    ...more,
  }
  let aheadMs = 0
  const api = apiWith({
    clientUrl: `${sandbox.url}/{region}`,
    provisioningUrl: sandbox.url,
    clock: { now: Date.now },
    stopwatch: { elapsedMs: () => performance.now() + aheadMs },
    deadlines: { tradeMs: 2_000, readMs: 2_000, fillMs: 1_000 },
    ...config,
  })
  const sentAt = (config.clock?.now ?? Date.now)()
  return {
    ...api,
    id,
    own,
    control,
    set: (route: FaultRoute, fault: Fault) => sandbox.faults.set(id, route, fault),
    send: () => api.trading.placeOrder(own, order, always)(),
    passTime: (ms: number) => void (aheadMs += ms),
    look: (sought: Partial<SentOrder> = {}) =>
      api.trading.findOrder(own, sentOrder({ order, sentAt, ...sought }))(),
    sends: () => sandbox.requests.count({ account: id, route: 'trade' }),
    executed: () =>
      control
        .deals()
        .reduce(
          (lots, deal) => lots + (deal['clientId'] === order.clientId ? Number(deal['volume']) : 0),
          0,
        ),
  }
}

const whole = (volume = 0.1, price = ask) => ({
  price,
  volume,
  at: expect.any(Number) as number,
  positionId: expect.any(String) as string,
})
const filled = { kind: 'filled', fill: whole() }
const found = { kind: 'found', settlement: filled }
const half = { kind: 'partially_filled', fill: whole(0.05) }
const nothing = { kind: 'nothing' }
const unreadable = { kind: 'unreadable' }
const notSent = { kind: 'not_sent' }
const refused = (code: string) => ({ kind: 'refused', reason: { code } })
const [outcomeUnknown, unavailable, gone] = [
  'BrokerOutcomeUnknown',
  'BrokerUnavailable',
  'PositionNotFound',
]

describe.each<Partial<AccountOptions>>([
  {},
  { marginMode: 'netting' },
  { platform: 'mt4' },
  { platform: 'mt4', mt4DealIds: 'distinct' },
])('a trade of an account of %j', (options) => {
  it.each<readonly [Fault, unknown, string | undefined, number]>([
    [{ kind: 'delay', ms: 50 }, filled, undefined, 0.1],
    [{ kind: 'slow-body', ms: 60 }, filled, undefined, 0.1],
    [{ kind: 'slow-body', ms: 6_000 }, unknown, outcomeUnknown, 0.1],
    [{ kind: 'numeric-ids' }, filled, undefined, 0.1],
    [{ kind: 'legacy-trade-body' }, filled, undefined, 0.1],
    [{ kind: 'patch', remove: ['orderId', 'positionId'] }, filled, undefined, 0.1],
    [{ kind: 'positions-lag', reads: 3 }, filled, undefined, 0.1],
    [{ kind: 'partial-fill' }, half, undefined, 0.05],
    ...(['timeout', 'cut', 'lost', 'unavailable', 'server-error'] as const).flatMap((kind) => [
      [{ kind, when: 'before' }, unknown, outcomeUnknown, 0] as const,
      [{ kind, when: 'after' }, unknown, outcomeUnknown, 0.1] as const,
    ]),
    [{ kind: 'malformed-json' }, unknown, outcomeUnknown, 0.1],
    ...(['object', 'array', 'string', 'null', 'empty'] as const).map(
      (shape) => [{ kind: 'wrong-shape', shape }, unknown, outcomeUnknown, 0.1] as const,
    ),
    [{ kind: 'undeployed' }, unknown, outcomeUnknown, 0],
    [{ kind: 'wrong-region' }, unknown, outcomeUnknown, 0],
    [{ kind: 'unauthorized' }, { ...notSent, cause: 'token_refused' }, unavailable, 0],
    [{ kind: 'forbidden' }, notSent, unavailable, 0],
    [
      { kind: 'rate-limit', header: 'none', retryTime: 'none' },
      { ...notSent, retryAfterMs: 1_000 },
      'BrokerRateLimited',
      0,
    ],
    [{ kind: 'not-found' }, refused('SYMBOL_NOT_FOUND'), gone, 0],
    ...[-11, 10_012, 10_031, 12_345].map(
      (numericCode) =>
        [
          { kind: 'return-code', numericCode, when: 'after' },
          unknown,
          outcomeUnknown,
          0.1,
        ] as const,
    ),
    [{ kind: 'return-code', numericCode: -10 }, notSent, unavailable, 0],
    [
      { kind: 'return-code', numericCode: 10_019, status: 400 },
      refused('TRADE_RETCODE_NO_MONEY'),
      'TradeRejected',
      0,
    ],
    [{ kind: 'reply', status: 307, headers: { location: '/' } }, unknown, outcomeUnknown, 0],
  ])(
    'that meets %j is sent once and said as %j %s; %d lots are executed',
    async (fault, answer, error, lots) => {
      const one = open(options)
      one.set('trade', fault)
      expect(await one.send()).toMatchObject(answer as object)
      expect([one.sends(), one.executed()]).toEqual([1, expect.closeTo(lots, 8)])
      sandbox.faults.clear()
      one.passTime(60_000)
      const settlement = lots === 0.05 ? half : filled
      expect(await one.look()).toEqual(lots === 0 ? nothing : { ...found, settlement })
      expect(one.sends()).toBe(1)

      const held = open({ ...options, positions: [{ symbol: 'EURUSD', side: 'buy', volume: 0.4 }] })
      held.set('trade', fault)
      const ticket = held.control.positions()[0]?.id as Ticket
      const closing = await closePart.make(held.positionDesk, held.own, always, ticket)
      expect(E.isLeft(closing) ? closing.left._tag : undefined).toBe(error)
      expect([held.sends(), held.control.positions()[0]?.volume]).toEqual([
        1,
        expect.closeTo(0.4 - lots, 8),
      ])
    },
  )
})

describe('an order', () => {
  it.each([0.1 + 0.2, 0.7 - 0.4])(
    'of %d lots is one of 0.3, sent and found as such',
    async (volume) => {
      const one = open({}, { volume })
      expect(await one.send()).toEqual({ kind: 'filled', fill: whole(0.3) })
      expect(await one.look()).toEqual({
        kind: 'found',
        settlement: { kind: 'filled', fill: whole(0.3) },
      })
    },
  )

  it('that is accepted before it is filled is placed, then working, then filled; also by the number alone that the broker gave it', async () => {
    const one = open()
    one.set('trade', { kind: 'placed', reads: 8 })
    const answer = await one.send()
    expect(answer).toEqual({ kind: 'placed', orderId: expect.stringMatching(/^\d+$/) as string })
    expect([one.executed(), await one.look()]).toEqual([0, { kind: 'working' }])
    for (const route of lists) one.set(route, { kind: 'patch', remove: ['clientId', 'comment'] })
    expect(await one.look()).toEqual(unreadable)
    expect(
      await one.look({ orderId: answer.kind === 'placed' ? answer.orderId : null }),
    ).toMatchObject({ kind: 'found' })
  })

  it('that is accepted and cannot be filled is rejected', async () => {
    const one = open()
    one.set('trade', { kind: 'placed', reads: 8 })
    await one.send()
    sandbox.market.close('EURUSD')
    const reason = {
      code: 'ORDER_STATE_REJECTED',
      message: 'The broker ended the order without executing it: rejected.',
    }
    await expect
      .poll(() => one.look())
      .toEqual({ kind: 'found', settlement: { kind: 'rejected', reason } })
  })

  it.each<readonly [Partial<BrokerOrder>, Partial<AccountOptions>, string]>([
    [{ volume: 0.015 }, {}, 'TRADE_RETCODE_INVALID_VOLUME'],
    [{ volume: 10 }, { startBalance: 10, platform: 'mt4' }, 'ERR_NOT_ENOUGH_MONEY'],
    [{ symbol: 'NOPE' }, {}, 'SYMBOL_NOT_FOUND'],
    [{ symbol: 'NOPE' }, { unknownSymbol: 'return-code' }, 'TRADE_RETCODE_INVALID'],
    [{}, { tradeAllowed: false }, 'ERR_INVESTOR'],
    [{ clientId: 'TP-1' }, {}, 'VALIDATION'],
  ])(
    'of %j on an account of %j is refused with %s, and not to be found',
    async (more, options, code) => {
      const one = open(options, more)
      expect(await one.send()).toMatchObject(refused(code))
      expect(await one.look()).toEqual(nothing)
    },
  )

  it('is not sent on where the token may not trade', async () => {
    expect(
      await open({}, {}, { providerToken: () => TE.right(O.some(readOnlyToken)) }).send(),
    ).toMatchObject(notSent)
  })

  it.each<readonly [readonly FaultRoute[], Fault, object]>([
    [['positions'], { kind: 'timeout' }, filled],
    [['deals'], { kind: 'timeout' }, filled],
    [
      ['positions', 'deals'],
      { kind: 'timeout' },
      { kind: 'filled', fill: { positionId: expect.any(String) as string } },
    ],
    [
      ['positions', 'deals'],
      { kind: 'lost' },
      { kind: 'filled', fill: { positionId: expect.any(String) as string } },
    ],
  ])(
    'that is filled is told as far as it is known in time, where %j meet %j',
    async (routes, fault, answer) => {
      const one = open()
      for (const route of routes) one.set(route, fault)
      expect(await one.send()).toEqual(answer)
    },
  )
})

const lists = ['positions', 'orders', 'history-orders', 'deals'] as const
const forget: Fault = { kind: 'patch', remove: ['clientId', 'comment'] }

/** An order that was executed while its answer was lost. */
const sendAndLose = async (
  options: Partial<AccountOptions> = {},
  config: Partial<MetaApiConfig> = {},
) => {
  const one = open(options, {}, config)
  sandbox.faults.set(one.id, 'trade', { kind: 'cut', when: 'after', times: 1 })
  expect(await one.send()).toEqual(unknown)
  return one
}

const held = (side: 'buy' | 'sell', volume: number): Partial<AccountOptions> => ({
  marginMode: 'netting',
  startBalance: 100_000,
  positions: [{ symbol: 'EURUSD', side, volume, clientId: 'TE_HELD_1' }],
})

describe('an order that was executed is found', () => {
  it.each<Partial<AccountOptions>>([
    {},
    { marginMode: 'netting' },
    { platform: 'mt4' },
    { platform: 'mt4', mt4PartialTicket: 'same' },
    // It adds to a position, takes from one, closes one and turns one round.
    held('buy', 0.3),
    held('sell', 0.3),
    held('sell', 0.1),
    held('sell', 0.04),
  ])('on an account of %j, also after others like it and after its stop loss', async (options) => {
    const one = await sendAndLose(options)
    expect(await one.look()).toEqual(found)
    sandbox.prices.pin('EURUSD', { bid: 1.12, ask: 1.13 })
    one.control.trade({
      actionType: 'ORDER_TYPE_BUY',
      symbol: 'EURUSD',
      volume: 0.1,
      clientId: 'TP_9999999999_abcdefghij',
    })
    sandbox.prices.pin('EURUSD', { bid: 1.04, ask: 1.0402 })
    expect(await one.look()).toEqual(found)
  })

  it.each(lists)('where %s cannot be read, or lacks what the others have', async (route) => {
    const one = await sendAndLose()
    one.set(route, { kind: 'timeout' })
    expect(await one.look()).toEqual(found)
    const other = await sendAndLose()
    other.set(route, { kind: 'patch', remove: ['clientId'] })
    expect(await other.look()).toEqual(found)
  })

  it.each([90_000, -90_000, 3_600_000, -3_600_000])(
    'with our clock %d ms ahead; and without its name it is not taken for lost',
    async (aheadMs) => {
      const one = await sendAndLose({}, { clock: { now: () => Date.now() + aheadMs } })
      expect(await one.look()).toEqual(found)
      for (const route of lists) one.set(route, forget)
      expect(await one.look()).toEqual(unreadable)
    },
  )

  it('by its answer alone, where it has lost its name everywhere', async () => {
    const one = open()
    for (const route of lists) one.set(route, forget)
    expect(await one.send()).toEqual(filled)
    expect(await one.look()).toEqual(unreadable)
  })

  it('at the end of a history of several pages, from a day before it was sent', async () => {
    const one = await sendAndLose()
    const row = {
      type: 'DEAL_TYPE_SELL',
      entryType: 'DEAL_ENTRY_IN',
      clientId: 'TE_BUSY_1',
      symbol: 'EURUSD',
      volume: 0.01,
      price: bid,
      profit: 0,
    }
    const time = new Date(Date.now() - 23 * 3_600_000).toISOString()
    one.control.addDeals(
      Array.from({ length: 2_100 }, (_, index) => ({ ...row, id: String(50_000 + index), time })),
    )
    for (const route of ['positions', 'history-orders'] as const)
      one.set(route, { kind: 'timeout' })
    expect(await one.look()).toEqual(found)
    expect(sandbox.requests.count({ account: one.id, route: 'deals' })).toBe(3)
  })

  it('with refresh past the provider copy, which does not show it yet', async () => {
    const one = open()
    one.set('trade', { kind: 'positions-lag', ms: 3_600_000 })
    await one.send()
    for (const route of ['history-orders', 'deals'] as const)
      one.set(route, { kind: 'reply', status: 200, body: [] })
    expect(await one.look()).toEqual(nothing)
    expect(await one.look({ refresh: true })).toEqual(found)
  })
})

describe('nothing is not said', () => {
  const page = Array.from({ length: 1_000 }, (_, index) => ({
    id: String(index),
    type: 'DEAL_TYPE_BALANCE',
    profit: 0,
  }))
  const faults: readonly Fault[] = [
    ...(
      [
        'timeout',
        'unavailable',
        'cut',
        'lost',
        'rate-limit',
        'unauthorized',
        'not-found',
        'malformed-json',
      ] as const
    ).map((kind) => ({
      kind,
    })),
    ...(['object', 'null', 'string'] as const).map((shape) => ({
      kind: 'wrong-shape' as const,
      shape,
    })),
    { kind: 'wrong-shape', shape: 'wrapped', synchronizing: true },
  ]
  it.each<readonly [string, Fault]>([
    ...lists.flatMap((route) => faults.map((fault) => [route, fault] as const)),
    // A history that never ends.
    ['deals', { kind: 'reply', status: 200, body: page }],
  ])('where %s meet %j', async (route, fault) => {
    const one = open()
    one.set(route as FaultRoute, fault)
    expect(await one.look()).toEqual(unreadable)
  })

  it.each<readonly [Partial<AccountOptions>, object, boolean]>([
    [{}, {}, true],
    [{}, { magic: 7 }, false],
    [{ marginMode: 'netting' }, { magic: 7 }, false],
    [{ platform: 'mt4' }, { magic: 7 }, false],
    [{}, { volume: 0.2 }, false],
  ])(
    'on an account of %j where another trade of %j could be the order: %s',
    async (options, more, isSuspect) => {
      const one = open(options)
      one.control.trade({ actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.1, ...more })
      expect(await one.look()).toEqual(isSuspect ? unreadable : nothing)
      // Until another order of ours claims it; and again where the account cannot be asked for
      // more.
      expect(
        await one.look({ othersTickets: one.control.positions().map(({ id }) => id) }),
      ).toEqual(nothing)
      one.set('account', { kind: 'timeout' })
      if (!('volume' in more)) expect(await one.look()).toEqual(unreadable)
    },
  )

  it.each([
    ['hedging', nothing],
    ['netting', unreadable],
  ] as const)(
    'on a %s account where a trade that closed a position could be it: %j',
    async (marginMode, answer) => {
      const one = open({
        marginMode,
        positions: [{ symbol: 'EURUSD', side: 'sell', volume: 0.1, clientId: 'TE_HELD_1' }],
      })
      one.control.trade({
        actionType: 'POSITION_CLOSE_ID',
        positionId: one.control.positions()[0]?.id,
      })
      expect(await one.look()).toEqual(answer)
    },
  )
})

describe('a read', () => {
  it.each<readonly [Fault, string]>([
    [{ kind: 'slow-body', ms: 50 }, 'Right'],
    [{ kind: 'numeric-ids' }, 'Right'],
    [{ kind: 'unavailable', times: 1 }, 'Right'],
    [{ kind: 'cut', times: 1 }, 'Right'],
    ...(
      [
        'unavailable',
        'server-error',
        'cut',
        'lost',
        'timeout',
        'unauthorized',
        'forbidden',
        'undeployed',
        'wrong-region',
        'malformed-json',
      ] as const
    ).map((kind) => [{ kind }, unavailable] as const),
    ...(['object', 'array', 'string', 'null', 'empty'] as const).map(
      (shape) => [{ kind: 'wrong-shape', shape }, unavailable] as const,
    ),
    [{ kind: 'not-found' }, 'NotProvisioned'],
    [{ kind: 'rate-limit' }, 'BrokerRateLimited'],
  ])('that meets %j says %s', async (fault, said) => {
    for (const route of ['account-information', 'deals'] as const) {
      const { broker, own, set } = open()
      set(route, fault)
      const result = await (
        route === 'deals' ? broker.dealsPage(own, everWindow) : broker.accountInformation(own)
      )()
      expect(E.isLeft(result) ? result.left._tag : result._tag).toBe(said)
    }
  })

  it.each<readonly [Fault, boolean]>([
    [{ kind: 'shuffled' }, true],
    [{ kind: 'duplicates', rows: 400 }, true],
    [{ kind: 'wrong-shape', shape: 'wrapped' }, true],
    [{ kind: 'missing-volume', entry: 'all' }, true],
    [{ kind: 'cut', skip: 2, times: 1 }, true],
    [{ kind: 'malformed-json', skip: 2 }, false],
    [{ kind: 'patch', set: { profit: '12.5' }, every: 500 }, false],
    [{ kind: 'patch', remove: ['id'], every: 500 }, false],
  ])('of a history that meets %j is whole: %s', async (fault, isWhole) => {
    const { broker, own, set } = open({ history: { deals: manyRows(2_345) } })
    set('deals', fault)
    const keys = new Set<string>()
    const read = async (offset: number): Promise<boolean> => {
      const page = await broker.dealsPage(own, { ...everWindow, offset })()
      if (E.isLeft(page)) return false
      for (const deal of rightOf(page).deals) keys.add(dealKey(deal))
      return page.right.nextOffset === null || read(page.right.nextOffset)
    }
    expect([await read(0), keys.size === 2_345]).toEqual([isWhole, isWhole])
  })
})
