// What the broker's four lists say of an order, case by case over rows in the provider's shape, and
// as laws: an executed order is never concluded to be absent, nor an absent one executed.
import { times } from '@tradeport/testkit'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LookupAnswer } from '@tradeport/domain/orders'
import type { OrderToSend } from '@tradeport/domain/ports'
import { answerFrom, type Evidence } from '../src/order-evidence.ts'
import type { LookupContext } from '../src/order-to-find.ts'
import {
  createRecordReader,
  recordListOf,
  type ListName,
  type RecordRow,
} from '../src/order-records.ts'
import { clientId, dealRow, order, positionRow } from './support.ts'

const sentAt = Date.parse('2026-05-01T12:00:00.000Z')
const at = (seconds: number) => new Date(sentAt + seconds * 1_000).toISOString()
const soon = sentAt + 2_000
const late = sentAt + 121_000

type Row = Readonly<Record<string, unknown>>
const { stopLoss: _level, ...bare } = positionRow

const position = (more: Row = {}) => ({
  ...bare,
  id: '501',
  symbol: 'EURUSD',
  volume: 0.1,
  openPrice: 1.1,
  time: at(1),
  clientId,
  ...more,
})
const deal = (more: Row = {}) => ({
  ...dealRow,
  id: '901',
  time: at(1),
  volume: 0.1,
  price: 1.1,
  positionId: '501',
  orderId: '501',
  clientId,
  ...more,
})
const done = (more: Row = {}) => ({
  id: '501',
  type: 'ORDER_TYPE_BUY',
  state: 'ORDER_STATE_FILLED',
  symbol: 'EURUSD',
  volume: 0.1,
  currentVolume: 0,
  time: at(1),
  doneTime: at(1),
  positionId: '501',
  reason: 'ORDER_REASON_EXPERT',
  clientId,
  ...more,
})
const openRow = (more: Row = {}) =>
  done({ state: 'ORDER_STATE_PLACED', currentVolume: 0.1, positionId: undefined, ...more })

/** Rows of each list; null where it could not be read. */
type Lists = Partial<Record<ListName, readonly Row[] | null>>

const read = (name: ListName, { [name]: rows = [] }: Lists) => ({
  ...recordListOf(name, rows ?? []),
  ...(rows === null && { isWhole: false }),
})

const evidenceOf = (lists: Lists): Evidence => ({
  positions: read('positions', lists),
  orders: read('orders', lists),
  historyOrders: read('historyOrders', lists),
  deals: read('deals', lists),
})

const contextAt = (at: number, more: Partial<LookupContext> = {}): LookupContext => ({
  now: at,
  executedAtLatest: sentAt + 60_000,
  isCancelledByUs: false,
  platform: 'mt5',
  skewMs: 0,
  ticketsOfOtherOrders: new Set(),
  traits: {},
  ...more,
})

const answerOf = (
  lists: Lists,
  now = soon,
  more: Partial<LookupContext> = {},
  tickets = {},
): LookupAnswer =>
  answerFrom(
    { order, sentAt, sentAtLatest: sentAt, tickets },
    evidenceOf(lists),
    contextAt(now, more),
  )

const filled = (fill: object) => ({ kind: 'found', outcome: { kind: 'filled', fill } })
const partly = (fill: object) => ({ kind: 'found', outcome: { kind: 'partially_filled', fill } })
const rejected = (state: string) => ({
  kind: 'found',
  outcome: {
    kind: 'rejected',
    reason: { code: `ORDER_STATE_${state}`, message: expect.any(String) },
  },
})
const whole = { price: 1.1, volume: 0.1, at: sentAt + 1_000, positionId: '501' }
const half = { ...whole, volume: 0.05 }
const [nothing, unreadable, stillOpen, unfinished] = [
  { kind: 'nothing' },
  { kind: 'unreadable' },
  { kind: 'open' },
  { kind: 'unfinished' },
]

// What closed the position, or a part of it.
const closing = (volume: number, more: Row = {}): Row =>
  deal({
    id: '950',
    type: 'DEAL_TYPE_SELL',
    entryType: 'DEAL_ENTRY_OUT',
    orderId: '600',
    clientId: undefined,
    time: at(1.5),
    volume,
    price: 1.2,
    ...more,
  })

// What others bought before by the order that opened the position, and a stop that closed it.
const manual = (seconds: number): Row =>
  deal({ clientId: undefined, time: at(seconds), volume: 0.2, price: 1.13 })
const stopped = closing(0.3, { clientId: 'TP_0123456789_600' })

const hedging = { traits: { isHedging: true } }
const ofOurs = { ticketsOfOtherOrders: new Set(['501']) }

type Case = readonly [title: string, lists: Lists, answer: object]
const foreign = { clientId: 'TE_a_b' }
const nameless = { clientId: undefined }
const ended = { currentVolume: 0.05 }
const rejectedOrder = { state: 'ORDER_STATE_REJECTED', currentVolume: 0.1, positionId: undefined }
const reducing = { entryType: 'DEAL_ENTRY_OUT', positionId: '77' }
const byOrder = { volume: 0.1, positionId: '501' }

it.each<Case>([
  [
    'by deals of the whole volume, in binary fractions',
    { deals: [deal({ volume: 0.09999999999999999 })] },
    whole,
  ],
  [
    'by several deals, weighted by volume, at the time of the last, with the position that it opened',
    {
      deals: [
        deal({ ...reducing, volume: 0.03 }),
        deal({ id: '902', volume: 0.07, price: 1.2, time: at(1.25) }),
      ],
    },
    { price: 1.17, volume: 0.1, at: sentAt + 1_250, positionId: '501' },
  ],
  ['at a price below 0', { deals: [deal({ price: -37.5 })] }, { ...whole, price: -37.5 }],
  ['once, whatever pages repeat', { deals: [deal(), deal()] }, whole],
  [
    'although all of it is closed',
    { deals: [deal(), closing(0.1)], historyOrders: [done()] },
    whole,
  ],
  ['although open orders are behind', { deals: [deal()], orders: [openRow()] }, whole],
  [
    'by deals, if nothing else can be read',
    { deals: [deal()], positions: null, orders: null, historyOrders: null },
    whole,
  ],
  ['by its finished order, without a deal yet', { historyOrders: [done()] }, byOrder],
  [
    'by its finished order, whose position was reversed since',
    {
      historyOrders: [done()],
      positions: [position({ type: 'POSITION_TYPE_SELL', openPrice: 1.3 })],
      deals: null,
    },
    byOrder,
  ],
  [
    'by its finished order without a volume',
    { historyOrders: [done({ volume: undefined, currentVolume: undefined })] },
    { positionId: '501' },
  ],
  [
    'by its finished order without a volume, if a deal is missing',
    {
      historyOrders: [done({ volume: undefined, currentVolume: undefined })],
      deals: [deal({ volume: 0.05 })],
    },
    { positionId: '501' },
  ],
  [
    'by its finished order, of which only the deal that closed another position is shown',
    {
      historyOrders: [done({ positionId: undefined })],
      deals: [deal({ ...reducing, volume: 0.05 })],
    },
    { volume: 0.1 },
  ],
  [
    'by its finished order and the position that it opened, after closing another',
    {
      historyOrders: [done({ positionId: undefined })],
      deals: [deal({ ...reducing, volume: 0.05 })],
      positions: [position({ volume: 0.05 })],
    },
    byOrder,
  ],
  [
    'by its finished order, if a deal is missing, or was split by a partial close on MT4',
    { historyOrders: [done()], deals: [deal({ ...reducing, volume: 0.05 })] },
    byOrder,
  ],
  [
    'by its order as it was last, in whatever order it is listed',
    {
      historyOrders: [
        done(),
        done({ state: 'ORDER_STATE_PARTIAL', currentVolume: 0.05, doneTime: at(0.5) }),
      ],
    },
    byOrder,
  ],
  [
    'after a first try that was rejected',
    { historyOrders: [done({ ...rejectedOrder, id: '499' }), done()] },
    byOrder,
  ],
  [
    'by a deal that reduces an opposite position',
    { deals: [deal(reducing)] },
    { ...whole, positionId: '77' },
  ],
  [
    'by a deal without a client id, of an order with it',
    { historyOrders: [done()], deals: [deal(nameless)] },
    whole,
  ],
  [
    'by a deal without a client id, of a position with it',
    { positions: [position({ volume: 0.02 })], deals: [deal(nameless), closing(0.08)] },
    whole,
  ],
  [
    'by a deal without a client id, of a position that a stop closed',
    { deals: [deal(nameless), closing(0.1, { clientId: 'TP_0123456789_600' })] },
    whole,
  ],
  [
    'by the first two parts of its client id, where it adds to a position of others',
    {
      historyOrders: [
        done({ ...nameless, volume: 0.3 }),
        done({ id: '502', clientId: 'TP_0123456789' }),
      ],
      deals: [
        deal({ ...nameless, volume: 0.3 }),
        deal({ id: '902', orderId: '502', clientId: 'TP_0123456789' }),
      ],
    },
    whole,
  ],
  ...[
    [manual(-3_600), deal({ id: '902', orderId: '502' }), stopped],
    [manual(-10), deal({ ...nameless, id: '902', orderId: '502' }), stopped],
  ].map((deals, index): Case => [
    `less what others had bought, where a stop closed both together (${index})`,
    { historyOrders: [done({ id: '502' })], deals },
    whole,
  ]),
  [
    'by its order, where its position is as large and older',
    { historyOrders: [done({ id: '502' })], positions: [position({ time: at(-61) })] },
    byOrder,
  ],
  ...['comment', 'brokerComment'].map((name): Case => [
    `by a client id in its ${name}`,
    { deals: [deal({ ...nameless, [name]: `from #3 ${clientId}` })] },
    whole,
  ]),
  [
    'on MT4, where opening and closing share id and client id',
    {
      deals: [
        deal({ id: '501' }),
        closing(0.1, { id: '501', orderId: '501', clientId, price: 1.3 }),
      ],
    },
    whole,
  ],
])('an order is filled: %s', (_, lists, fill) => {
  for (const now of [soon, late]) expect(answerOf(lists, now)).toEqual(filled(fill))
})

it.each<readonly [string, Lists, netting: object]>([
  ['alone', { positions: [position()], historyOrders: null, deals: null }, unfinished],
  [
    'beside its finished order, which has no price',
    { historyOrders: [done()], positions: [position()], deals: null },
    filled(byOrder),
  ],
  ...['TP_0123456789_501', 'TP_0123456789'].map(
    (kept) =>
      [
        `under the first two parts, as ${kept}`,
        { positions: [position({ clientId: kept })] },
        unfinished,
      ] as const,
  ),
  [
    'under two parts of its client id in a comment',
    { positions: [position({ ...nameless, comment: 'TP_0123456789_501' })] },
    unfinished,
  ],
])(
  'an order is filled by its position %s, unless others may have traded in that as well',
  (_, lists, netting) => {
    for (const now of [soon, late]) {
      expect(answerOf(lists, now, hedging)).toEqual(filled(whole))
      for (const isHedging of [false, undefined])
        expect(answerOf(lists, now, { traits: { isHedging } })).toEqual(netting)
    }
  },
)

it.each<Case>([
  [
    'if its order is at its end and its deals agree',
    {
      historyOrders: [done({ ...ended, state: 'ORDER_STATE_CANCELED' })],
      deals: [deal({ volume: 0.05 })],
      orders: [openRow(ended)],
    },
    half,
  ],
  [
    'if its order was for no more',
    { historyOrders: [done({ volume: 0.05 })], deals: [deal({ volume: 0.05 })] },
    half,
  ],
  [
    'if its order has the rest',
    { historyOrders: [done({ ...ended, state: 'ORDER_STATE_PARTIAL' })] },
    { volume: 0.05, positionId: '501' },
  ],
  [
    'if what it executed was closed since',
    {
      historyOrders: [done({ ...ended, state: 'ORDER_STATE_EXPIRED' })],
      deals: [deal({ volume: 0.05 }), closing(0.05)],
    },
    half,
  ],
  ...[
    { entryType: 'DEAL_ENTRY_OUT_BY', positionId: '502' },
    { clientId: 'TE_OTHER_1' },
    { clientId: 'TP_0123456789', orderId: '601', reason: 'DEAL_REASON_SL' },
  ].map((more): Case => {
    const other = deal({ id: '903', volume: 0.05, ...nameless, ...more })
    const deals = [deal({ volume: 0.05 }), other]
    const title = `and no more by a deal with ${JSON.stringify(more)}`
    return [title, { historyOrders: [done({ volume: 0.05 })], deals }, half]
  }),
])('an order is filled in part: %s', (_, lists, fill) => {
  for (const now of [soon, late]) expect(answerOf(lists, now)).toEqual(partly(fill))
})

it.each([
  ['REJECTED', 0.1],
  ['CANCELED', 0.1],
  ['EXPIRED', 0.1],
  // Nothing is left because nothing was accepted.
  ['REJECTED', 0],
])(
  'an order is rejected if it ended as %s with nothing executed of it and %d left: at once under the number that the broker gave, else when no later number can be missing any more',
  (state, currentVolume) => {
    const order = done({ ...rejectedOrder, state: `ORDER_STATE_${state}`, currentVolume })
    const answers = (now: number, tickets = {}) =>
      answerOf({ historyOrders: [order] }, now, {}, tickets)
    expect(answers(soon, { orderId: order['id'] })).toEqual(rejected(state))
    expect(answers(soon)).toEqual(unfinished)
    expect(answers(late)).toEqual(rejected(state))
  },
)

const ends = (outcome: object) => ({ kind: 'found', outcome })

describe('a pending order', () => {
  const pendingOrder: OrderToSend = {
    ...order,
    limitOrStop: { type: 'limit', price: 1.09, timeInForce: 'gtc' },
  }
  const filledAt = 3 * 86_400
  const justAfter = sentAt + (filledAt + 10) * 1_000
  const later = justAfter + 61_000
  const type = 'ORDER_TYPE_BUY_LIMIT'
  const waiting = (more: Row = {}) =>
    openRow({
      type,
      openPrice: 1.09,
      stopLoss: 1.05,
      takeProfit: 0,
      expirationType: 'ORDER_TIME_GTC',
      doneTime: undefined,
      ...more,
    })
  const finished = (state: string, more: Row = {}): Row =>
    done({
      type,
      state: `ORDER_STATE_${state}`,
      openPrice: 1.09,
      doneTime: at(filledAt),
      ...more,
    })
  const never = { expirationTime: '1970-01-01T00:00:00.000Z' }
  const daily = { ...never, expirationType: 'ORDER_TIME_DAY' }
  const unexecuted = { currentVolume: 0.1, positionId: undefined }
  const lateDeal = (more: Row = {}) => deal({ time: at(filledAt), ...more })
  const fill = { price: 1.1, volume: 0.1, at: sentAt + filledAt * 1_000, positionId: '501' }
  const held = {
    brokerOrderId: '501',
    clientId,
    volume: 0.1,
    isUnexecuted: true,
    price: 1.09,
    stopLoss: 1.05,
    timeInForce: 'gtc',
  }
  const [endedAt, byBroker] = [fill.at, { kind: 'cancelled', reason: 'broker' }]
  const ofAnother = { ticketsOfOtherOrders: new Set(['600']), traits: { isHedging: true } }
  const answers = (lists: Lists, now = justAfter, more: Partial<LookupContext> = {}) =>
    answerFrom(
      { order: pendingOrder, sentAt, sentAtLatest: sentAt, tickets: { orderId: '501' } },
      evidenceOf(lists),
      contextAt(now, { executedAtLatest: sentAt + filledAt * 1_000, ...more }),
    )

  it.each([
    ['while it waits', { orders: [waiting()] }, held],
    [
      'under another number, whose first one was cancelled',
      { orders: [waiting({ id: '600' })], historyOrders: [finished('CANCELED', unexecuted)] },
      { ...held, brokerOrderId: '600' },
    ],
    [
      'without its client id',
      { orders: [waiting({ clientId: undefined })] },
      { ...held, clientId: undefined },
    ],
    [
      'while its rest waits',
      {
        orders: [waiting({ state: 'ORDER_STATE_PARTIAL', currentVolume: 0.05 })],
        deals: [lateDeal({ volume: 0.05 })],
        positions: [position({ volume: 0.05, time: at(filledAt) })],
      },
      { ...held, isUnexecuted: false },
    ],
    [
      'while its rest waits under another number',
      {
        orders: [waiting({ id: '600', volume: 0.05, currentVolume: 0.05 })],
        deals: [lateDeal({ volume: 0.05 })],
      },
      { ...held, brokerOrderId: '600', volume: 0.05, isUnexecuted: false },
    ],
    [
      'as the limit order that it became',
      { orders: [waiting({ stopLimitPrice: 0, ...daily })] },
      { ...held, timeInForce: 'day' },
    ],
    ['without an expiry, though it has a time', { orders: [waiting(never)] }, held],
    [
      'with its expiry',
      {
        orders: [
          waiting({ expirationType: 'ORDER_TIME_SPECIFIED', expirationTime: at(9 * 86_400) }),
        ],
      },
      { ...held, timeInForce: 'gtd', expiresAt: sentAt + 9 * 86_400_000 },
    ],
    [
      'until the end of a day',
      {
        orders: [
          waiting({ expirationType: 'ORDER_TIME_SPECIFIED_DAY', expirationTime: at(9 * 86_400) }),
        ],
      },
      { ...held, timeInForce: 'gtd', expiresAt: sentAt + 10 * 86_400_000 - 1_000 },
    ],
    ['in terms that cannot be read', { orders: [waiting({ openPrice: 'high' })] }, undefined],
    ['while only a part of its deals is there', { deals: [lateDeal({ volume: 0.05 })] }, undefined],
    [
      'while a smaller position has no deals',
      { positions: [position({ volume: 0.05, time: at(filledAt) })] },
      undefined,
    ],
    [
      'after a part, while its rest may wait under a number in a list that cannot be read',
      {
        historyOrders: [finished('CANCELED', { currentVolume: 0.05 })],
        deals: [lateDeal({ volume: 0.05 })],
        orders: null,
      },
      undefined,
    ],
    [
      'while only the number that it had before is shown at its end',
      { historyOrders: [finished('CANCELED', { ...unexecuted, id: '499' })] },
      undefined,
    ],
    [
      'while a second position may be of a number that no list shows yet',
      {
        historyOrders: [finished('CANCELED', { currentVolume: 0.05 })],
        deals: [lateDeal({ volume: 0.05 })],
        positions: [
          position({ volume: 0.05 }),
          position({ id: '600', volume: 0.05, time: at(filledAt) }),
        ],
      },
      undefined,
    ],
    [
      'while nothing shows how much a partial order executed',
      { historyOrders: [finished('PARTIAL', { currentVolume: 0 })] },
      undefined,
    ],
  ])('is open %s', (_, lists, shown) => {
    expect(answers(lists)).toEqual({
      kind: 'open',
      ...(shown !== undefined && { order: shown }),
    })
  })

  it.each([
    ['filled long after it was sent', { deals: [lateDeal()] }, ends({ kind: 'filled', fill })],
    [
      'filled under another number',
      {
        historyOrders: [finished('FILLED', { id: '600', positionId: '600' })],
        deals: [lateDeal({ orderId: '600', positionId: '600', clientId: undefined })],
      },
      ends({ kind: 'filled', fill: { ...fill, positionId: '600' } }),
    ],
    [
      'filled under another number, which its position alone shows',
      {
        historyOrders: [finished('CANCELED', unexecuted)],
        deals: [lateDeal({ orderId: '600', positionId: '600', clientId: undefined })],
        positions: [position({ id: '600', clientId: 'TP_0123456789' })],
      },
      ends({ kind: 'filled', fill: { ...fill, positionId: '600' } }),
    ],
    [
      'filled by two numbers, the first of which closed another position',
      {
        historyOrders: [
          finished('CANCELED', { currentVolume: 0.05, positionId: '77' }),
          finished('FILLED', { id: '600', volume: 0.05, positionId: '600' }),
        ],
      },
      ends({ kind: 'filled', fill: { volume: 0.1, positionId: '600' } }),
    ],
    [
      'filled in several deals',
      {
        deals: [
          lateDeal({ volume: 0.03, time: at(60) }),
          lateDeal({ id: '902', volume: 0.07, price: 1.2 }),
        ],
      },
      ends({ kind: 'filled', fill: { ...fill, price: 1.17 } }),
    ],
    [
      'on MT4 as a market order under its number',
      { historyOrders: [finished('FILLED', { type: 'ORDER_TYPE_BUY' })], deals: [lateDeal()] },
      ends({ kind: 'filled', fill }),
    ],
    [
      'cancelled after a part',
      {
        historyOrders: [finished('CANCELED', { currentVolume: 0.05 })],
        deals: [lateDeal({ volume: 0.05 })],
      },
      ends({ kind: 'partially_filled', fill: { ...fill, volume: 0.05 } }),
    ],
    [
      'cancelled',
      { historyOrders: [finished('CANCELED', unexecuted)] },
      ends({ ...byBroker, at: endedAt }),
    ],
    [
      'cancelled last, where its first number is listed again',
      {
        historyOrders: [
          finished('CANCELED', { ...unexecuted, doneTime: at(10) }),
          finished('EXPIRED', { ...unexecuted, id: '600', doneTime: at(20) }),
          finished('CANCELED', unexecuted),
        ],
      },
      ends({ ...byBroker, at: endedAt }),
    ],
    [
      'cancelled without a time',
      { historyOrders: [finished('CANCELED', { ...unexecuted, doneTime: undefined })] },
      ends({ ...byBroker, at: undefined }),
    ],
    [
      'cancelled where it had no expiry',
      { historyOrders: [finished('CANCELED', { ...unexecuted, ...daily })] },
      ends({ ...byBroker, at: endedAt }),
    ],
    [
      'cancelled before its expiry',
      {
        historyOrders: [finished('CANCELED', { ...unexecuted, expirationTime: at(filledAt + 1) })],
      },
      ends({ ...byBroker, at: endedAt }),
    ],
    [
      'expired',
      { historyOrders: [finished('EXPIRED', unexecuted)] },
      ends({ kind: 'expired', at: endedAt }),
    ],
    [
      'expired where the platform cancels it then',
      { historyOrders: [finished('CANCELED', { ...unexecuted, expirationTime: at(filledAt) })] },
      ends({ kind: 'expired', at: endedAt }),
    ],
    ['rejected', { historyOrders: [finished('REJECTED', unexecuted)] }, rejected('REJECTED')],
  ])('is %s', (_, lists, answer) => {
    expect(answers(lists)).toEqual(answer)
  })

  const alone = { positions: [position({ time: at(filledAt) })] }
  const withItsEnd = { ...alone, historyOrders: [finished('FILLED')] }
  it.each<[string, Lists, Partial<LookupContext>, object]>([
    [
      'of a hedging account',
      alone,
      { traits: { isHedging: true } },
      ends({ kind: 'filled', fill }),
    ],
    ['on MT4', alone, { platform: 'mt4' }, ends({ kind: 'filled', fill })],
    // Others may have changed its volume and its price.
    ['of a netting account', alone, { now: later }, stillOpen],
    [
      'of one, beside its end',
      withItsEnd,
      {},
      ends({ kind: 'filled', fill: { volume: 0.1, positionId: '501' } }),
    ],
  ])('shown by its position, %s', (_, lists, context, answer) => {
    expect(answers(lists, justAfter, context)).toEqual(answer)
  })

  it.each([
    ['no price at which it would wait then', { type: 'ORDER_TYPE_BUY_STOP_LIMIT' }],
    ['no time at which it expires', { expirationType: 'ORDER_TIME_SPECIFIED' }],
  ])('with %s is held on terms that are not known', (_, more) => {
    expect(answers({ orders: [waiting(more)] })).toEqual(stillOpen)
  })

  it.each([
    ['all', finished('CANCELED', unexecuted)],
    ['the rest', finished('CANCELED', { currentVolume: 0.05 })],
  ])('may be placed again for a second after a broker cancelled %s of it', (_, ended) => {
    const answersAfter = (ms: number, more?: Partial<LookupContext>) =>
      answers({ historyOrders: [ended] }, fill.at + ms, more)
    expect(answersAfter(999)).toEqual(stillOpen)
    expect(answersAfter(1_000)).toMatchObject({ kind: 'found' })
    expect(answersAfter(0, { isCancelledByUs: true })).toMatchObject({ kind: 'found' })
  })

  it('is not placed again after the platform cancelled it at its expiry', () => {
    const historyOrders = [finished('CANCELED', { ...unexecuted, expirationTime: at(filledAt) })]
    expect(answers({ historyOrders }, fill.at)).toEqual(ends({ kind: 'expired', at: endedAt }))
  })

  it('is cancelled without a known rest only once the lists agree', () => {
    const historyOrders = [finished('CANCELED', { currentVolume: 0 })]
    expect(answers({ historyOrders })).toEqual(stillOpen)
    expect(answers({ historyOrders }, later)).toEqual(ends({ ...byBroker, at: endedAt }))
  })

  it('is not cancelled unexecuted where one of its numbers shows a part, and another no volume', () => {
    const historyOrders = [
      finished('CANCELED', { id: '499', currentVolume: 0.05, positionId: undefined }),
      finished('CANCELED', { currentVolume: 0, positionId: undefined }),
    ]
    expect(answers({ historyOrders }, later)).toEqual(stillOpen)
  })

  it('may have another number and no client id where an order like it was placed as its number was cancelled', () => {
    const cancelled = finished('CANCELED', unexecuted)
    const answersWith = (row: Row, more?: Partial<LookupContext>) =>
      answers({ orders: [row], historyOrders: [cancelled] }, later, more)
    const like = waiting({ ...nameless, id: '600', time: at(filledAt + 60) })
    expect(answersWith(like)).toEqual(unreadable)
    expect(answersWith({ ...like, time: at(filledAt - 10) })).toEqual(unreadable)
    expect(answersWith({ ...like, time: undefined })).toEqual(unreadable)
    const untimed = { ...cancelled, doneTime: undefined }
    expect(answers({ orders: [like], historyOrders: [untimed] }, later)).toEqual(unreadable)
    const nextDay = waiting({ ...nameless, id: '700', time: at(filledAt + 86_400) })
    const between = finished('CANCELED', { ...like, doneTime: nextDay['time'], ...unexecuted })
    const twice = answers({ orders: [nextDay], historyOrders: [cancelled, between] }, later)
    expect(twice).toEqual(unreadable)
    for (const answer of [
      answersWith({ ...like, time: at(filledAt + 61) }),
      answersWith({ ...like, time: at(filledAt - 11) }),
      answersWith({ ...like, volume: 0.09 }),
      answersWith(like, { isCancelledByUs: true }),
      answersWith(like, ofAnother),
      answersWith({ ...like, type: 'ORDER_TYPE_BUY' }),
      answers({
        historyOrders: [cancelled, { ...cancelled, ...nameless, id: '600', time: at(filledAt) }],
      }),
    ])
      expect(answer).toEqual(ends({ ...byBroker, at: endedAt }))
  })

  it('may have its rest under another number and no client id where a part of it was executed', () => {
    const historyOrders = [finished('CANCELED', { currentVolume: 0.04 })]
    const deals = [lateDeal({ volume: 0.06 })]
    const answersWith = (volume: number) => {
      const rest = waiting({ ...nameless, id: '600', volume, time: at(filledAt + 1) })
      return answers({ orders: [rest], historyOrders, deals }, later)
    }
    expect(answersWith(0.04)).toEqual(unreadable)
    for (const volume of [0.06, 0.1])
      expect(answersWith(volume)).toMatchObject(ends({ kind: 'partially_filled' }))
  })

  it.each([
    ['its last number was cancelled', { state: 'ORDER_STATE_CANCELED', currentVolume: 0.05 }, []],
    ['its last number was filled', {}, [lateDeal({ volume: 0.05 })]],
  ])('is not known where %s, which was for less, and nothing shows the rest', (_, more, deals) => {
    const historyOrders = [finished('FILLED', { volume: 0.05, ...more })]
    expect(answers({ historyOrders, deals }, later)).toEqual(unreadable)
  })

  it('is not known where its rest was cancelled, and a list that may show more cannot be read', () => {
    const historyOrders = [finished('CANCELED', { currentVolume: 0.05 })]
    const deals = [lateDeal({ volume: 0.05 })]
    expect(answers({ historyOrders, deals, positions: null }, later)).toEqual(unreadable)
  })

  it('is open while its position is larger than what the other lists show', () => {
    const historyOrders = [finished('CANCELED', { currentVolume: 0.05 })]
    const deals = [lateDeal({ volume: 0.05 })]
    expect(answers({ historyOrders, deals, positions: [position()] })).toEqual(stillOpen)
  })

  const replaced = waiting({ ...nameless, id: '600', time: at(filledAt + 1) })
  const cancelledNow = finished('CANCELED', unexecuted)
  const justOpened = position({ ...nameless, id: '600', time: at(filledAt + 12) })
  it.each([
    [
      'cancelled, beside one of another number of ours on a netting account',
      { orders: [replaced], historyOrders: [cancelledNow] },
      { ticketsOfOtherOrders: new Set(['600']) },
      ends(byBroker),
    ],
    [
      'not known where another number may have been executed',
      {
        historyOrders: [
          cancelledNow,
          finished('FILLED', { ...nameless, id: '600', positionId: '600', time: at(filledAt + 1) }),
        ],
      },
      {},
      unreadable,
    ],
    [
      'not known where one was executed whose order the history may lack',
      { historyOrders: [cancelledNow], positions: [justOpened] },
      {},
      unreadable,
    ],
    [
      'cancelled, beside what was executed a minute ago',
      { historyOrders: [cancelledNow], positions: [{ ...justOpened, time: at(filledAt + 11) }] },
      {},
      ends(byBroker),
    ],
  ])('is %s', (_, lists, context, answer) => {
    expect(answers(lists, later, context)).toMatchObject(answer)
  })

  it('is filled in part once the lists agree that no more follows', () => {
    // The history may not show yet how the order of its last number ended.
    const historyOrders = [finished('CANCELED', { id: '500', currentVolume: 0.05 })]
    for (const first of [[], [lateDeal({ orderId: '500', volume: 0.05 })]]) {
      expect(answers({ historyOrders, deals: first })).toEqual(stillOpen)
      const ended = answers({ historyOrders, deals: first }, later)
      expect(ended).toMatchObject(ends({ kind: 'partially_filled' }))
    }
    const deals = [lateDeal({ volume: 0.05, time: at(60) })]
    // The deal of the rest may be missing yet, however long ago the first was.
    expect(answers({ deals }, justAfter)).toEqual(stillOpen)
    expect(answers({ deals }, later)).toEqual(
      ends({ kind: 'partially_filled', fill: { ...fill, volume: 0.05, at: sentAt + 60_000 } }),
    )
  })

  it.each([
    ['an open order', { orders: [waiting({ id: '600', clientId: undefined })] }],
    ['a deal', { deals: [lateDeal({ orderId: '600', positionId: '600', clientId: undefined })] }],
    [
      'a position',
      { positions: [position({ id: '600', clientId: undefined, time: at(filledAt) })] },
    ],
  ])('may be %s that lost its client id and number, however late', (_, lists) => {
    expect(answers(lists)).toEqual(unreadable)
    expect(answers(lists, justAfter, ofAnother)).toEqual(nothing)
    // A market order would have been executed at once.
    expect(answerOf(lists, justAfter)).toEqual(nothing)
  })
})

describe('an order is open', () => {
  const unread = { historyOrders: null, deals: null, positions: null }
  it.each<readonly [string, Lists]>([
    ['while it is listed', { orders: [openRow()] }],
    ['while it is listed, if nothing else can be read', { ...unread, orders: [openRow()] }],
    ['while the rest works', { orders: [openRow(ended)], deals: [deal({ volume: 0.05 })] }],
    [
      'while a part has no finished order',
      { positions: [position({ volume: 0.05 })], deals: [deal({ volume: 0.05 })] },
    ],
    ['while a smaller position has no deals', { positions: [position({ volume: 0.05 })] }],
    [
      'while its order has executed less than its deals',
      { historyOrders: [done({ currentVolume: 0.08 })], deals: [deal({ volume: 0.05 })] },
    ],
    [
      'while a rejected order has a position',
      { historyOrders: [done(rejectedOrder)], positions: [position({ volume: 0.05 })] },
    ],
    ...[
      { orders: [openRow({ state: 'ORDER_STATE_PARTIAL', currentVolume: 0.06 })] },
      { historyOrders: [done({ ...ended, state: 'ORDER_STATE_CANCELED' })], orders: null },
      { historyOrders: [done({ state: 'ORDER_STATE_CANCELED' })] },
    ].map((lists, index): readonly [string, Lists] => [
      `while others may have added to its position (${index})`,
      { positions: [position()], deals: null, ...lists },
    ]),
    [
      'while another of its orders works',
      { historyOrders: [done({ ...rejectedOrder, id: '499' })], orders: [openRow()] },
    ],
    [
      'while the deals of a rejected order cannot be read',
      { historyOrders: [done(rejectedOrder)], deals: null },
    ],
    ['while only its stop is shown, and what others bought', { deals: [manual(-61), stopped] }],
    ['while it seems to have executed more', { deals: [manual(-59), stopped] }],
    [
      'in a state that is not an end',
      { historyOrders: [done({ state: 'ORDER_STATE_REQUEST_CANCEL', currentVolume: 0.1 })] },
    ],
  ])('%s', (_, lists) => {
    expect(answerOf(lists)).toEqual(unfinished)
  })

  it('while only its stop is shown, and the order of ours that opened its position', () => {
    const deals = [deal(nameless), stopped]
    expect(answerOf({ deals }, late, ofOurs)).toEqual(unfinished)
  })

  it.each<Case>([
    [
      'a deal without a volume',
      { deals: [deal({ volume: undefined })] },
      filled({ positionId: '501' }),
    ],
    [
      'a deal without a volume of a cancelled order',
      {
        deals: [deal({ volume: undefined })],
        historyOrders: [done({ state: 'ORDER_STATE_CANCELED' })],
      },
      partly({ positionId: '501' }),
    ],
    [
      'a larger position',
      { positions: [position({ volume: 0.3 })] },
      filled({ positionId: '501' }),
    ],
    ['a deal of a part', { deals: [deal({ volume: 0.05 })] }, partly(half)],
    [
      'a deal of a part without a price',
      { deals: [deal({ volume: 0.05, price: undefined })] },
      partly({ ...byOrder, volume: 0.05 }),
    ],
    ['a smaller position', { positions: [position({ volume: 0.05 })] }, partly(half)],
    [
      'a deal without a volume of a number that is not listed',
      {
        deals: [deal({ volume: undefined, orderId: '600' })],
        historyOrders: [done({ state: 'ORDER_STATE_CANCELED', currentVolume: 0.1 })],
      },
      filled({ positionId: '501' }),
    ],
    ...[0, undefined].map((currentVolume): Case => {
      const order = done({ state: 'ORDER_STATE_CANCELED', currentVolume })
      return [
        `a cancelled order with rest ${currentVolume}`,
        { historyOrders: [order] },
        rejected('CANCELED'),
      ]
    }),
  ])('with %s for a minute, in which the lists may lag', (_, lists, answer) => {
    expect(answerOf(lists, soon, hedging)).toEqual(unfinished)
    expect(answerOf(lists, late, hedging)).toEqual(answer)
    const working = { ...lists, orders: [openRow({ id: '502' })] }
    for (const more of [working, { ...lists, orders: null }])
      expect(answerOf(more, late, hedging)).toEqual(unfinished)
  })

  // Some brokers work the rest of a market order for longer than a minute.
  it.each([
    ['a deal of a part', { deals: [deal({ volume: 0.05, time: at(70) })] }],
    ['a deal without a volume', { deals: [deal({ volume: undefined, time: at(70) })] }],
    ['a smaller position', { positions: [position({ volume: 0.05, time: at(70) })] }],
  ])('with %s that was executed late, for a minute from then', (_, lists) => {
    expect(answerOf(lists, late, hedging)).toEqual(unfinished)
    expect(answerOf(lists, late + 60_000, hedging)).toMatchObject({ kind: 'found' })
  })
})

type OneAnswer = [
  title: string,
  lists: Lists,
  answer: object,
  now?: number,
  context?: Partial<LookupContext>,
  tickets?: { readonly orderId: string },
]

/** An answer for each row that is easily missed, or taken for what it is not. */
it.each<OneAnswer>([
  [
    'a part, with finished orders unread',
    { deals: [deal({ volume: 0.05 })], historyOrders: null },
    unfinished,
    late,
  ],
  [
    'a part, with positions unread',
    { deals: [deal({ volume: 0.05 })], positions: null },
    unfinished,
    late,
  ],
  [
    'a deal without a volume, of an order that ended in part',
    {
      deals: [deal({ volume: undefined })],
      historyOrders: [done({ ...ended, state: 'ORDER_STATE_PARTIAL' })],
    },
    partly({ volume: 0.05, positionId: '501' }),
    late,
  ],
  [
    'a cancelled order without volumes',
    {
      historyOrders: [
        done({
          state: 'ORDER_STATE_CANCELED',
          volume: undefined,
          currentVolume: undefined,
          positionId: undefined,
        }),
      ],
    },
    rejected('CANCELED'),
    late,
  ],
  [
    'a part, with a position of the whole',
    { positions: [position()], deals: [deal({ volume: 0.05 })] },
    unfinished,
  ],
  ...[
    { deals: null },
    { deals: [deal({ volume: 0.05 })] },
    { positions: [position({ volume: 0.05 })] },
  ].map((lists, index): OneAnswer => [
    `a rejection, with deals unread or beside what executed a part (${index})`,
    { historyOrders: [done(rejectedOrder)], ...lists },
    unfinished,
    soon,
    {},
    { orderId: '501' },
  ]),
  [
    'a rejection, beside a part of another number',
    {
      historyOrders: [
        done({ ...rejectedOrder, id: '499' }),
        done({ state: 'ORDER_STATE_PARTIAL', currentVolume: 0 }),
      ],
    },
    unfinished,
    late,
  ],
  [
    'a part a minute ago by a clock that is ahead',
    { deals: [deal({ volume: 0.05, time: at(70) })] },
    partly({ ...half, at: sentAt + 70_000 }),
    late,
    { skewMs: 60_000 },
  ],
  [
    'a part a minute ago by a clock that is behind',
    { deals: [deal({ volume: 0.05, time: at(70) })] },
    unfinished,
    late + 9_000,
    { skewMs: -60_000 },
  ],
  [
    'a cancellation a minute ago',
    {
      historyOrders: [done({ state: 'ORDER_STATE_CANCELED', currentVolume: 0, doneTime: at(70) })],
    },
    unfinished,
    late,
  ],
  [
    'a deal of the position a minute before it was sent',
    { deals: [deal({ ...nameless, time: at(-61) }), stopped] },
    unfinished,
  ],
  [
    'an order of the other side',
    { historyOrders: [done({ type: 'ORDER_TYPE_SELL' })] },
    unfinished,
  ],
  [
    'a second deal without a price',
    { deals: [deal({ volume: 0.03 }), deal({ id: '902', volume: 0.07, price: undefined })] },
    filled(byOrder),
  ],
  [
    'the rest of a partly closed position on MT4',
    { deals: [deal({ ...nameless, positionId: '44' })] },
    unreadable,
    soon,
    { platform: 'mt4' },
  ],
])('%s', (_, lists, answer, now, context, tickets) => {
  expect(answerOf(lists, now, context, tickets)).toEqual(answer)
})

it('a row that cannot be read makes its list incomplete, on whatever page it is', async () => {
  const pages = [[{}, ...times(999, (id) => deal({ id: `${id}` }))], [deal()]]
  const connection = {
    fetchFrom: async () => ({ rows: pages.shift(), isLoading: false }),
    clock: { now: () => soon },
    skew: { ms: () => 0 },
  }
  const query = { target: {}, since: sentAt, readFromTerminal: true }
  const list = await createRecordReader(connection as never)('deals', query as never)
  expect([list.rows.length, list.isWhole]).toEqual([1_000, false])
})

describe('an order is absent', () => {
  it.each([
    ['nothing', {}],
    ['a deal of another order', { deals: [deal({ clientId: 'TP_9999999999_abcdefghij' })] }],
    ['trades of another program', { deals: [deal(foreign)], historyOrders: [done(foreign)] }],
    ['a deal of the other side', { deals: [deal({ ...nameless, type: 'DEAL_TYPE_SELL' })] }],
    ['a deal of another symbol', { deals: [deal({ ...nameless, symbol: 'EURUSD.r' })] }],
    ['a deal of more volume', { deals: [deal({ ...nameless, volume: 0.11 })] }],
    ['a close by another', { deals: [deal({ ...nameless, entryType: 'DEAL_ENTRY_OUT_BY' })] }],
    ['a deal from a phone', { deals: [deal({ ...nameless, reason: 'DEAL_REASON_MOBILE' })] }],
    ['a pending order', { orders: [openRow({ ...nameless, type: 'ORDER_TYPE_BUY_LIMIT' })] }],
    ['a refused order', { historyOrders: [done({ ...rejectedOrder, ...nameless })] }],
    [
      'unreadable rows of another program',
      {
        orders: [{ id: '7', ...foreign }],
        historyOrders: [openRow({ ...foreign, state: 5, type: 'X' })],
        deals: [deal({ ...foreign, type: null })],
      },
    ],
    ['a deposit', { deals: [{ id: '1', type: 'DEAL_TYPE_BALANCE', time: at(1), profit: 5 }] }],
  ])('if four whole lists show %s', (_, lists) => {
    expect(answerOf(lists)).toEqual(nothing)
  })

  it.each(['positions', 'orders', 'historyOrders', 'deals'] as const)(
    'only if %s and all its rows can be read',
    (list) => {
      const rows = [
        { id: '1' },
        position({ id: undefined, ...foreign }),
        { ...position(), ...done(), clientId: 7 },
      ]
      for (const lists of [null, ...rows.map((row) => [row])])
        expect(answerOf({ [list]: lists })).toEqual(unreadable)
    },
  )
})

describe('a row without a client id that looks like the order', () => {
  const bare = { ...nameless, magic: 77 }
  const all = (more: Row = {}): Lists => ({
    positions: [position({ ...bare, ...more })],
    historyOrders: [done({ ...bare, ...more })],
    deals: [deal({ ...bare, ...more })],
  })
  const part = { ...bare, volume: 0.05 }
  const larger: Lists = { positions: [position({ ...bare, volume: 0.3 })] }
  const closed: Lists = {
    historyOrders: [done({ ...bare, positionId: '44' })],
    deals: [deal({ ...bare, positionId: '44', entryType: 'DEAL_ENTRY_OUT' })],
  }
  const reducing: Lists = {
    deals: [deal({ ...bare, positionId: undefined, entryType: 'DEAL_ENTRY_OUT' })],
  }
  const added: Lists = {
    historyOrders: [done({ ...bare, id: '502', positionId: '501' })],
    positions: [position({ ...bare, volume: 0.3 })],
  }
  const netting = { traits: { isHedging: false } }

  it.each<[string, Lists, Partial<LookupContext>, object]>([
    ['could be it', all(), {}, unreadable],
    ['could be a part of it', all({ volume: 0.05 }), {}, unreadable],
    ['could be it as a position', { positions: [position(nameless)] }, {}, unreadable],
    ['could be it as an open order', { orders: [openRow(nameless)] }, {}, unreadable],
    ['could be it as a bare deal', { deals: [{ id: '1', type: 'DEAL_TYPE_BUY' }] }, {}, unreadable],
    [
      'has the magic number of the account',
      all(),
      { traits: { magic: 77, isHedging: true } },
      unreadable,
    ],
    ['has another magic number', all(), { traits: { magic: 78 } }, nothing],
    [
      'has no magic number',
      { deals: [deal({ ...bare, magic: undefined })] },
      { traits: { magic: 77 } },
      unreadable,
    ],
    ['has the number of another order of ours', all(), { ...ofOurs, ...hedging }, nothing],
    ['has it on MT4', all(), { ...ofOurs, platform: 'mt4' }, nothing],
    [
      'opened a position that others of ours added to',
      all(),
      { ...ofOurs, ...netting },
      unreadable,
    ],
    [
      'has the client id of another order of ours in a comment',
      { deals: [deal({ ...bare, comment: 'TP_9999999999_abcde' })] },
      {},
      nothing,
    ],
    ['is of an order with a client id', { ...all(), historyOrders: [done(foreign)] }, {}, nothing],
    [
      'is of an order for more',
      {
        historyOrders: [done({ ...bare, volume: 0.3 })],
        deals: [deal(part)],
        positions: [position(part)],
      },
      {},
      nothing,
    ],
    [
      'is of an order that waited for a price',
      { historyOrders: [done({ ...bare, type: 'ORDER_TYPE_BUY_LIMIT' })], deals: [deal(bare)] },
      {},
      nothing,
    ],
    [
      'is of an order that is not listed',
      { historyOrders: [done({ id: '9', ...foreign })], deals: [deal(bare)] },
      {},
      unreadable,
    ],
    ['closes a position of a hedging account', closed, hedging, nothing],
    ['closes a position on MT4', reducing, { platform: 'mt4' }, nothing],
    ['closes one by a deal alone, without a position', reducing, hedging, nothing],
    ['reduces a position of a netting account', closed, netting, unreadable],
    ['reduces one by a deal alone', reducing, netting, unreadable],
    [
      'adds to a position of ours on a netting account',
      added,
      { ...ofOurs, ...netting },
      unreadable,
    ],
    ['is a larger position', larger, {}, unreadable],
    ['is a larger position of a hedging account', larger, hedging, nothing],
    ['is a larger position on MT4', larger, { platform: 'mt4' }, nothing],
  ])('that %s', (_, lists, known, answer) => {
    expect(answerOf(lists, soon, known)).toEqual(answer)
  })

  it('is not the order if the broker gave the order another number', () => {
    expect(answerOf(all(), soon, {}, { orderId: '502' })).toEqual(nothing)
  })

  it.each([
    [0, 0, -600, 900],
    [90_000, 0, -510, 990],
    [-90_000, 0, -690, 810],
    [0, 600_000, -600, 1_500],
  ])(
    'could be it, with a clock %d ms ahead and sent within %d ms, from %d to %d seconds after the first moment',
    (skewMs, withinMs, first, last) => {
      const answerAt = (seconds: number) =>
        answerFrom(
          { order, sentAt, sentAtLatest: sentAt + withinMs, tickets: {} },
          evidenceOf({ deals: [deal({ ...bare, time: at(seconds) })] }),
          contextAt(soon, { skewMs }),
        )
      expect([first - 1, first, last, last + 1].map(answerAt)).toEqual([
        nothing,
        unreadable,
        unreadable,
        nothing,
      ])
    },
  )
})

const foreignIds = fc.constantFrom(
  'TP_9999999999_abcdefghij',
  'TE_EURUSD_a',
  'TP_0123456788_abcdefghij',
)
const names = fc.oneof(foreignIds, fc.constant(undefined))
const numbers = fc.integer({ min: 1, max: 9 }).map(String)
const arbitraryRow = (name: fc.Arbitrary<string | undefined>): fc.Arbitrary<RecordRow> =>
  fc.record(
    {
      id: numbers,
      clientId: name,
      state: fc.constantFrom('FILLED', 'PLACED', 'REJECTED', 'CANCELED', 'PARTIAL', 'STARTED'),
      side: fc.constantFrom('buy', 'sell'),
      symbol: fc.constantFrom('EURUSD', 'GBPUSD'),
      volume: fc.constantFrom(0.01, 0.05, 0.1, 0.2),
      at: fc.integer({ min: sentAt - 100_000, max: sentAt + 400_000 }),
      reason: fc.constantFrom('EXPERT', 'CLIENT', 'WEB', 'SL'),
      orderId: numbers,
      positionId: numbers,
      price: fc.constantFrom(1.1, 1.2),
      entry: fc.constantFrom('in', 'out', 'inout', 'out_by'),
    },
    { requiredKeys: ['id', 'clientId', 'state'] },
  )
const records = (name: fc.Arbitrary<string | undefined>) =>
  fc.record({ rows: fc.array(arbitraryRow(name), { maxLength: 5 }), isWhole: fc.boolean() })
const evidence = (name: fc.Arbitrary<string | undefined>): fc.Arbitrary<Evidence> =>
  fc.record({
    positions: records(name),
    orders: records(name),
    historyOrders: records(name),
    deals: records(name),
  })
const nows = fc.integer({ min: sentAt, max: sentAt + 600_000 })
const kindOf = (lists: Evidence, at: number) =>
  answerFrom({ order, sentAt, sentAtLatest: sentAt, tickets: {} }, lists, contextAt(at)).kind

describe('a lookup', () => {
  it('never finds the order in what others did, and it is absent only from four whole lists', () => {
    fc.assert(
      fc.property(evidence(names), nows, (lists, now) => {
        const isWhole = Object.values(lists).every((list) => list.isWhole)
        expect(isWhole ? ['nothing', 'unreadable'] : ['unreadable']).toContain(kindOf(lists, now))
      }),
    )
  })

  it('never finds the order absent while any list shows its client id', () => {
    const own = fc.constantFrom(clientId, 'TP_0123456789_77')
    const list = fc.constantFrom('positions', 'deals', 'orders', 'historyOrders')
    fc.assert(
      fc.property(
        evidence(fc.oneof(names, own)),
        arbitraryRow(own),
        list,
        nows,
        (lists, row, name, now) => {
          const shown = { ...lists, [name]: { ...lists[name], rows: [...lists[name].rows, row] } }
          expect(['nothing', 'unreadable']).not.toContain(kindOf(shown, now))
        },
      ),
    )
  })

  it('describes a fill exactly, in parts and closed since, in any order and with repeated rows', () => {
    const part = fc.record({
      cents: fc.integer({ min: 1, max: 5 }),
      points: fc.integer({ min: 109_000, max: 111_000 }),
    })
    const parts = fc.array(part, { minLength: 1, maxLength: 6 })
    const shared = { side: 'buy', entry: 'in', orderId: 'own', positionId: 'own' } as const
    const scene = fc
      .tuple(parts, fc.boolean(), evidence(foreignIds))
      .chain(([filled, isClosed, lists]) => {
        const cents = filled.reduce((sum, one) => sum + one.cents, 0)
        const openings = filled.map((one, index): RecordRow => ({
          ...shared,
          id: `own-${index}`,
          clientId,
          volume: one.cents / 100,
          price: one.points / 100_000,
          at: sentAt + index,
        }))
        const closing: RecordRow = {
          ...shared,
          id: 'close',
          side: 'sell',
          entry: 'out',
          orderId: 'own-2',
          volume: cents / 100,
          price: 2,
          at: sentAt + 99,
        }
        const rows = [
          ...openings,
          ...openings.slice(0, 2),
          ...(isClosed ? [closing] : []),
          ...lists.deals.rows,
        ]
        const price =
          filled.reduce((sum, one) => sum + one.cents * one.points, 0) / (cents * 100_000)
        const fill = {
          volume: cents / 100,
          at: sentAt + filled.length - 1,
          positionId: 'own',
          price: expect.closeTo(price, 12),
        }
        return fc.shuffledSubarray(rows, { minLength: rows.length }).map((shuffled) => ({
          fill,
          lists: { ...lists, deals: { ...lists.deals, rows: shuffled } },
        }))
      })
    fc.assert(
      fc.property(scene, ({ fill, lists }) => {
        const sought = {
          order: { ...order, volume: fill.volume },
          sentAt,
          sentAtLatest: sentAt,
          tickets: {},
        }
        expect(answerFrom(sought, lists, contextAt(sentAt + 1_000))).toEqual({
          kind: 'found',
          outcome: { kind: 'filled', fill },
        })
      }),
    )
  })

  it('reads or leaves out rows of any shape', () => {
    const list = fc.constantFrom('positions', 'orders', 'historyOrders', 'deals')
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), list, (rows, name) => void recordListOf(name, rows)),
    )
  })
})
