// What four lists of the broker's say of an order, case by case over rows in the provider's shape,
// and as laws: an order that was executed is never taken for lost, and one that was not is never
// taken for executed.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LookupAnswer } from '@tradeport/domain/orders'
import { findingOf } from '../src/orders/order-evidence.ts'
import type { Evidence, LookupContext } from '../src/orders/order-evidence.ts'
import { recordsOf } from '../src/orders/order-records.ts'
import type { ListName, Trace } from '../src/orders/order-records.ts'
import { clientId, dealRow, order, positionRow } from './support.ts'

const sentAt = Date.parse('2026-05-01T12:00:00.000Z')
const at = (seconds: number): string => new Date(sentAt + seconds * 1_000).toISOString()
const soon = sentAt + 2_000
const late = sentAt + 61_000

type Row = Readonly<Record<string, unknown>>
const { stopLoss: _level, ...bare } = positionRow

const position = (more: Row = {}): Row => ({
  ...bare,
  id: '501',
  symbol: 'EURUSD',
  volume: 0.1,
  openPrice: 1.1,
  time: at(1),
  clientId,
  ...more,
})
const deal = (more: Row = {}): Row => ({
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
const done = (more: Row = {}): Row => ({
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
const working = (more: Row = {}): Row =>
  done({ state: 'ORDER_STATE_PLACED', currentVolume: 0.1, positionId: undefined, ...more })

/** Rows of each list; null where it could not be read. */
type Lists = Partial<Record<ListName, readonly Row[] | null>>

const read = (name: ListName, { [name]: rows = [] }: Lists) => ({
  ...recordsOf(name, rows ?? []),
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
  platform: 'mt5',
  skewMs: 0,
  othersTickets: new Set(),
  traits: {},
  ...more,
})

const answerOf = (
  lists: Lists,
  now = soon,
  more: Partial<LookupContext> = {},
  tickets = {},
): LookupAnswer =>
  findingOf({ order, sentAt, tickets }, evidenceOf(lists), contextAt(now, more)).answer

const filled = (fill: object) => ({ kind: 'found', settlement: { kind: 'filled', fill } })
const partly = (fill: object) => ({ kind: 'found', settlement: { kind: 'partially_filled', fill } })
const rejected = (state: string) => ({
  kind: 'found',
  settlement: {
    kind: 'rejected',
    reason: { code: `ORDER_STATE_${state}`, message: expect.any(String) },
  },
})
const whole = { price: 1.1, volume: 0.1, at: sentAt + 1_000, positionId: '501' }
const half = { ...whole, volume: 0.05 }
const [nothing, unreadable, stillWorking] = [
  { kind: 'nothing' },
  { kind: 'unreadable' },
  { kind: 'working' },
] as const

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

describe('an order is filled', () => {
  it.each<readonly [string, Lists, object]>([
    ['where its deals make up the whole', { deals: [deal()] }, whole],
    [
      'by several deals, weighted by volume, at the time of the last',
      {
        deals: [
          deal({ volume: 0.03, price: 1.1 }),
          deal({ id: '902', volume: 0.07, price: 1.2, time: at(1.25) }),
        ],
      },
      { price: 1.17, volume: 0.1, at: sentAt + 1_250, positionId: '501' },
    ],
    [
      'by deals that no double could add up',
      {
        deals: ['1', '2', '3'].map((id, index) => deal({ id, volume: [0.07, 0.02, 0.01][index] })),
      },
      whole,
    ],
    [
      'by deals with what binary fractions leave of their volumes',
      { deals: [deal({ volume: 0.7 - 0.6 })] },
      whole,
    ],
    [
      'once, whatever pages repeat',
      { deals: [deal({ volume: 0.1 }), deal({ volume: 0.1 })] },
      whole,
    ],
    [
      'by deals, whatever of it was closed since',
      { positions: [position({ volume: 0.04 })], deals: [deal(), closing(0.06)] },
      whole,
    ],
    [
      'by deals, although all of it is closed',
      { deals: [deal(), closing(0.1)], historyOrders: [done()] },
      whole,
    ],
    [
      'by deals, although the list of orders is behind',
      { deals: [deal()], orders: [working()] },
      whole,
    ],
    [
      'by deals, whatever else cannot be read',
      { deals: [deal()], positions: null, orders: null, historyOrders: null },
      whole,
    ],
    [
      'by its position, where the histories cannot be read',
      { positions: [position()], historyOrders: null, deals: null },
      whole,
    ],
    ['by its position, where the deals lag behind', { positions: [position()] }, whole],
    [
      'by its finished order, where no deal is there yet',
      { historyOrders: [done()] },
      { volume: 0.1, positionId: '501' },
    ],
    [
      'by its finished order and its position, which tells the price',
      { historyOrders: [done()], positions: [position()], deals: null },
      whole,
    ],
    [
      'by its finished order, that tells no volume',
      { historyOrders: [done({ volume: undefined, currentVolume: undefined })] },
      { positionId: '501' },
    ],
    [
      'by its finished order, where a deal is missing yet',
      { historyOrders: [done()], deals: [deal({ volume: 0.05 })] },
      { volume: 0.1, positionId: '501' },
    ],
    [
      'by a deal that reduces an opposite position',
      { deals: [deal({ entryType: 'DEAL_ENTRY_OUT', positionId: '77', orderId: '501' })] },
      { ...whole, positionId: '77' },
    ],
    [
      'by a deal that reverses one',
      { deals: [deal({ entryType: 'DEAL_ENTRY_INOUT', positionId: '77' })] },
      { ...whole, positionId: '77' },
    ],
    ['by a deal without an entry', { deals: [deal({ entryType: undefined })] }, whole],
    [
      'by numbers where there should be texts',
      { deals: [deal({ id: 901, orderId: 501, positionId: 501 })] },
      whole,
    ],
    [
      'by a deal that lost its client id, of an order that did not',
      { historyOrders: [done()], deals: [deal({ clientId: undefined })] },
      whole,
    ],
    [
      'by a deal that lost its client id, of a position that did not',
      {
        positions: [position({ volume: 0.02 })],
        deals: [deal({ clientId: undefined }), closing(0.08)],
      },
      whole,
    ],
    [
      'by a deal that lost its client id, of a position that a stop closed under the first two parts',
      {
        deals: [
          deal({ clientId: undefined }),
          closing(0.1, { clientId: 'TP_0123456789_600', reason: 'DEAL_REASON_SL' }),
        ],
      },
      whole,
    ],
    [
      'by a client id that is left in a comment',
      { deals: [deal({ clientId: undefined, comment: `from #3 ${clientId}` })] },
      whole,
    ],
    [
      'by a client id that is left in what the broker shows',
      { positions: [position({ clientId: undefined, brokerComment: clientId })] },
      whole,
    ],
    [
      'by its position under the first two parts',
      { positions: [position({ clientId: 'TP_0123456789_501' })] },
      whole,
    ],
    [
      'on the fourth generation, where opening and closing share their numbers and client id',
      {
        deals: [
          deal({ id: '501' }),
          deal({
            id: '501',
            type: 'DEAL_TYPE_SELL',
            entryType: 'DEAL_ENTRY_OUT',
            time: at(1.5),
            price: 1.3,
          }),
        ],
      },
      whole,
    ],
  ])('%s', (_, lists, fill) => {
    expect(answerOf(lists)).toEqual(filled(fill))
  })

  it('after the lists have had their time, by a deal that does not tell its volume', () => {
    const lists = { deals: [deal({ volume: undefined })] }
    expect(answerOf(lists)).toEqual(stillWorking)
    expect(answerOf(lists, late)).toEqual(filled({ positionId: '501' }))
  })

  it('after the lists have had their time, by a position that others have added to', () => {
    const lists = { positions: [position({ volume: 0.3 })] }
    expect(answerOf(lists)).toEqual(stillWorking)
    expect(answerOf(lists, late)).toEqual(filled({ positionId: '501' }))
  })
})

describe('an order is filled in part', () => {
  const ended = { currentVolume: 0.05 }
  it.each<readonly [string, Lists, object]>([
    [
      'where its order is at its end and its deals agree',
      {
        historyOrders: [done({ ...ended, state: 'ORDER_STATE_CANCELED' })],
        deals: [deal({ volume: 0.05 })],
      },
      half,
    ],
    [
      'where its order says that it asked for no more',
      { historyOrders: [done({ volume: 0.05 })], deals: [deal({ volume: 0.05 })] },
      half,
    ],
    [
      'where its order tells what is left',
      { historyOrders: [done({ ...ended, state: 'ORDER_STATE_PARTIAL' })] },
      { volume: 0.05, positionId: '501' },
    ],
    [
      'where what it has was closed since',
      {
        historyOrders: [done({ ...ended, state: 'ORDER_STATE_EXPIRED' })],
        deals: [deal({ volume: 0.05 }), closing(0.05)],
      },
      half,
    ],
    [
      'where its order is at its end, although the list of orders is behind',
      {
        orders: [working(ended)],
        historyOrders: [done({ ...ended, state: 'ORDER_STATE_CANCELED' })],
        deals: [deal({ volume: 0.05 })],
      },
      half,
    ],
  ])('%s', (_, lists, fill) => {
    expect(answerOf(lists)).toEqual(partly(fill))
  })

  it.each<readonly [string, Lists]>([
    ['while the rest of it works', { orders: [working(ended)], deals: [deal({ volume: 0.05 })] }],
    [
      'while its order is not in the history',
      { positions: [position({ volume: 0.05 })], deals: [deal({ volume: 0.05 })] },
    ],
    [
      'while only a smaller position is there, which may have been closed in part',
      { positions: [position({ volume: 0.05 })] },
    ],
    ['while the deals cannot be read', { positions: [position({ volume: 0.05 })], deals: null }],
    [
      'while its order knows of less than was dealt',
      { historyOrders: [done({ currentVolume: 0.08 })], deals: [deal({ volume: 0.05 })] },
    ],
  ])('is not said %s', (_, lists) => {
    expect(answerOf(lists)).toEqual(stillWorking)
  })

  it.each<readonly [string, Row]>([
    ['a position that it closed', { entryType: 'DEAL_ENTRY_OUT_BY', positionId: '502' }],
    ['an order of another name that took its number over', { clientId: 'TE_OTHER_1' }],
  ])('and not more, for a deal of %s', (_, more) => {
    const other = deal({ id: '903', volume: 0.05, clientId: undefined, ...more })
    const lists = {
      historyOrders: [done({ volume: 0.05 })],
      deals: [deal({ volume: 0.05 }), other],
    }
    expect(answerOf(lists)).toEqual(partly(half))
  })

  it('after the lists have had their time', () => {
    expect(answerOf({ deals: [deal({ volume: 0.05 })] }, late)).toEqual(partly(half))
    expect(answerOf({ positions: [position({ volume: 0.05 })] }, late)).toEqual(partly(half))
    expect(answerOf({ positions: [position({ volume: 0.05 })], deals: null }, late)).toEqual(
      stillWorking,
    )
    expect(answerOf({ orders: [working()], deals: [deal({ volume: 0.05 })] }, late)).toEqual(
      stillWorking,
    )
  })
})

describe('an order is rejected', () => {
  it.each(['REJECTED', 'CANCELED', 'EXPIRED'])(
    'where it ended as %s with nothing executed',
    (state) => {
      expect(
        answerOf({
          historyOrders: [
            done({ state: `ORDER_STATE_${state}`, currentVolume: 0.1, positionId: undefined }),
          ],
        }),
      ).toEqual(rejected(state))
    },
  )

  it.each<readonly [string, Lists]>([
    [
      'while it is held',
      {
        historyOrders: [done({ state: 'ORDER_STATE_REJECTED', currentVolume: 0.1 })],
        positions: [position({ volume: 0.05 })],
      },
    ],
    [
      'while another of its orders works',
      {
        historyOrders: [done({ id: '499', state: 'ORDER_STATE_REJECTED', currentVolume: 0.1 })],
        orders: [working()],
      },
    ],
    [
      'while the deals cannot be read',
      { historyOrders: [done({ state: 'ORDER_STATE_REJECTED', currentVolume: 0.1 })], deals: null },
    ],
    [
      'while it does not tell what is left',
      { historyOrders: [done({ state: 'ORDER_STATE_CANCELED', currentVolume: undefined })] },
    ],
    [
      'in a state that is no end',
      { historyOrders: [done({ state: 'ORDER_STATE_REQUEST_CANCEL', currentVolume: 0.1 })] },
    ],
  ])('is not said %s', (_, lists) => {
    expect(answerOf(lists)).toEqual(stillWorking)
  })

  it('after the lists have had their time, where it does not tell what is left', () => {
    for (const currentVolume of [0, undefined]) {
      const lists = { historyOrders: [done({ state: 'ORDER_STATE_CANCELED', currentVolume })] }
      expect(answerOf(lists)).toEqual(stillWorking)
      expect(answerOf(lists, late)).toEqual(rejected('CANCELED'))
      expect(answerOf({ ...lists, deals: null }, late)).toEqual(stillWorking)
    }
  })

  it('where nothing is left because nothing was taken on', () => {
    expect(
      answerOf({ historyOrders: [done({ state: 'ORDER_STATE_REJECTED', currentVolume: 0 })] }),
    ).toEqual(rejected('REJECTED'))
  })

  it('is not said of one that was tried once more and filled', () => {
    const lists = {
      historyOrders: [
        done({
          id: '499',
          state: 'ORDER_STATE_REJECTED',
          currentVolume: 0.1,
          positionId: undefined,
        }),
        done(),
      ],
    }
    expect(answerOf(lists)).toEqual(filled({ volume: 0.1, positionId: '501' }))
  })
})

describe('an order works', () => {
  it('while the broker lists it', () => {
    expect(answerOf({ orders: [working()] })).toEqual(stillWorking)
    expect(
      answerOf({ orders: [working()], historyOrders: null, deals: null, positions: null }),
    ).toEqual(stillWorking)
  })
})

describe('nothing is said', () => {
  it('where four whole lists show no trace', () => {
    expect(answerOf({})).toEqual(nothing)
  })

  it.each<readonly [string, Lists]>([
    [
      'of another order',
      {
        positions: [position({ clientId: 'TP_9999999999_abcdefghij' })],
        deals: [deal({ clientId: 'TP_9999999999_abcdefghij' })],
      },
    ],
    [
      'of another program',
      {
        deals: [deal({ clientId: 'TE_EURUSD_abc' })],
        historyOrders: [done({ clientId: 'TE_EURUSD_abc' })],
      },
    ],
    ['of the other side', { deals: [deal({ clientId: undefined, type: 'DEAL_TYPE_SELL' })] }],
    ['of another symbol', { deals: [deal({ clientId: undefined, symbol: 'EURUSD.r' })] }],
    ['of more volume', { deals: [deal({ clientId: undefined, volume: 0.11 })] }],
    ['of long before', { positions: [position({ clientId: undefined, time: at(-61) })] }],
    ['of long after', { positions: [position({ clientId: undefined, time: at(301) })] }],
    [
      'that closes something',
      { deals: [deal({ clientId: undefined, entryType: 'DEAL_ENTRY_OUT' })] },
    ],
    [
      'that was made on a phone',
      { deals: [deal({ clientId: undefined, reason: 'DEAL_REASON_MOBILE' })] },
    ],
    [
      'that waits for a price',
      { orders: [working({ clientId: undefined, type: 'ORDER_TYPE_BUY_LIMIT' })] },
    ],
    [
      'that was refused',
      { historyOrders: [done({ clientId: undefined, state: 'ORDER_STATE_REJECTED' })] },
    ],
    [
      'that is a deposit',
      { deals: [{ id: '1', type: 'DEAL_TYPE_BALANCE', time: at(1), profit: 5 }] },
    ],
  ])('where all there is is one %s', (_, lists) => {
    expect(answerOf(lists)).toEqual(nothing)
  })
})

describe('nothing is not said', () => {
  it.each(['positions', 'orders', 'historyOrders', 'deals'] as const)(
    'where %s cannot be read, or one of its rows cannot',
    (list) => {
      expect(answerOf({ [list]: null })).toEqual(unreadable)
      expect(answerOf({ [list]: [{ id: '1' }] })).toEqual(unreadable)
      expect(answerOf({ [list]: [position({ id: undefined, clientId: 'TE_a_b' })] })).toEqual(
        unreadable,
      )
      expect(answerOf({ [list]: [{ ...position(), ...done(), clientId: 7 }] })).toEqual(unreadable)
    },
  )

  it.each<readonly [string, Lists]>([
    ['position', { positions: [position({ clientId: undefined })] }],
    ['position of less volume', { positions: [position({ clientId: undefined, volume: 0.05 })] }],
    ['working order', { orders: [working({ clientId: undefined })] }],
    ['finished order', { historyOrders: [done({ clientId: undefined })] }],
    ['deal', { deals: [deal({ clientId: undefined })] }],
    [
      'deal without entry, volume, symbol and time',
      { deals: [{ id: '1', type: 'DEAL_TYPE_BUY' }] },
    ],
    [
      'deal with words of the broker',
      { deals: [deal({ clientId: undefined, comment: 'sl 1.05', brokerComment: 'bonus' })] },
    ],
  ])('while a %s that bears no name could be the order', (_, lists) => {
    expect(answerOf(lists)).toEqual(unreadable)
    expect(answerOf(lists, late)).toEqual(unreadable)
  })
})

describe('a row without a name that looks like the order', () => {
  const bare = { clientId: undefined, magic: 77 }
  const lookAlike: Lists = {
    positions: [position(bare)],
    historyOrders: [done(bare)],
    deals: [deal(bare)],
  }
  const part = { ...bare, volume: 0.05 }

  it('is a suspicion while nothing else is known, in full or in part', () => {
    expect(answerOf(lookAlike)).toEqual(unreadable)
    expect(
      answerOf({ positions: [position(part)], historyOrders: [done(part)], deals: [deal(part)] }),
    ).toEqual(unreadable)
  })

  it.each<readonly [string, Lists, Partial<LookupContext>]>([
    ['has the number of another order of ours', lookAlike, { othersTickets: new Set(['501']) }],
    ["has another sender's number than the account", lookAlike, { traits: { magic: 78 } }],
    [
      'is by another order of ours, by its name in a comment',
      { deals: [deal({ ...bare, comment: 'TP_9999999999_abcde' })] },
      {},
    ],
    [
      'is a deal of an order with a name',
      {
        historyOrders: [done({ clientId: 'TE_a_b' })],
        deals: [deal(bare)],
        positions: [position(bare)],
      },
      {},
    ],
    [
      'is a deal of an order for more',
      {
        historyOrders: [done({ ...bare, volume: 0.3 })],
        deals: [deal(part)],
        positions: [position(part)],
      },
      {},
    ],
    [
      'is a deal of an order that waited for a price',
      { historyOrders: [done({ ...bare, type: 'ORDER_TYPE_BUY_LIMIT' })], deals: [deal(bare)] },
      {},
    ],
    [
      'closes a position of a hedging account',
      {
        historyOrders: [done({ ...bare, positionId: '44' })],
        deals: [deal({ ...bare, positionId: '44', entryType: 'DEAL_ENTRY_OUT' })],
      },
      { traits: { isHedging: true } },
    ],
    [
      'is a position of more volume, of a hedging account',
      { positions: [position({ ...bare, volume: 0.3 })] },
      { traits: { isHedging: true } },
    ],
    [
      'is a position of more volume, of the fourth generation',
      { positions: [position({ ...bare, volume: 0.3 })] },
      { platform: 'mt4' },
    ],
  ])('is none where it %s', (_, lists, known) => {
    expect(answerOf(lists, soon, known)).toEqual(nothing)
  })

  it('is none where it has another number than the broker gave the order', () => {
    expect(answerOf(lookAlike, soon, {}, { orderId: '502' })).toEqual(nothing)
  })

  it.each<readonly [string, Lists, Partial<LookupContext>]>([
    ["has the account's sender's number", lookAlike, { traits: { magic: 77, isHedging: true } }],
    [
      'tells no number of a sender',
      { deals: [deal({ clientId: undefined, magic: undefined })] },
      { traits: { magic: 77 } },
    ],
    [
      'reduces a position of a netting account',
      {
        historyOrders: [done({ ...bare, positionId: '44' })],
        deals: [deal({ ...bare, positionId: '44', entryType: 'DEAL_ENTRY_OUT' })],
      },
      { traits: { isHedging: false } },
    ],
    [
      'adds to the position of another order of ours, of a netting account',
      {
        historyOrders: [done({ ...bare, id: '502', positionId: '501' })],
        positions: [position({ ...bare, volume: 0.3 })],
      },
      { othersTickets: new Set(['501']), traits: { isHedging: false } },
    ],
    [
      'is a position of more volume, which may have been added to',
      { positions: [position({ ...bare, volume: 0.3 })] },
      {},
    ],
    [
      'is a deal whose order cannot be seen',
      { historyOrders: [done({ id: '9', clientId: 'TE_a_b' })], deals: [deal(bare)] },
      {},
    ],
  ])('is one where it %s', (_, lists, known) => {
    expect(answerOf(lists, soon, known)).toEqual(unreadable)
  })

  it.each([
    [0, -60, 300],
    [90_000, 30, 390],
    [-90_000, -150, 210],
  ])(
    "is judged by the provider's clock, which is %d ms ahead: from %d to %d seconds after the send",
    (skewMs, first, last) => {
      const answerAt = (seconds: number) =>
        answerOf({ deals: [deal({ ...bare, time: at(seconds) })] }, soon, { skewMs })
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
const trace = (name: fc.Arbitrary<string | undefined>): fc.Arbitrary<Trace> =>
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
  fc.record({ rows: fc.array(trace(name), { maxLength: 5 }), isWhole: fc.boolean() })
const evidence = (name: fc.Arbitrary<string | undefined>): fc.Arbitrary<Evidence> =>
  fc.record({
    positions: records(name),
    orders: records(name),
    historyOrders: records(name),
    deals: records(name),
  })
const nows = fc.integer({ min: sentAt, max: sentAt + 600_000 })
const kindOf = (lists: Evidence, at: number) =>
  findingOf({ order, sentAt, tickets: {} }, lists, contextAt(at)).answer.kind

describe('looking for an order', () => {
  it('never finds it in what others did, and says nothing only of four whole lists', () => {
    fc.assert(
      fc.property(evidence(names), nows, (lists, now) => {
        const isWhole = Object.values(lists).every((list) => list.isWhole)
        expect(isWhole ? ['nothing', 'unreadable'] : ['unreadable']).toContain(kindOf(lists, now))
      }),
    )
  })

  it('never says nothing while any list shows its name, whole or not', () => {
    const own = fc.constantFrom(clientId, 'TP_0123456789_77')
    const list = fc.constantFrom('positions', 'deals', 'orders', 'historyOrders')
    fc.assert(
      fc.property(
        evidence(fc.oneof(names, own)),
        trace(own),
        list,
        nows,
        (lists, row, name, now) => {
          const shown = { ...lists, [name]: { ...lists[name], rows: [...lists[name].rows, row] } }
          expect(['nothing', 'unreadable']).not.toContain(kindOf(shown, now))
        },
      ),
    )
  })

  it('tells a fill exactly, in parts and closed since, in any order and however often pages repeat it', () => {
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
        const openings = filled.map((one, index): Trace => ({
          ...shared,
          id: `own-${index}`,
          clientId,
          volume: one.cents / 100,
          price: one.points / 100_000,
          at: sentAt + index,
        }))
        const closing: Trace = {
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
          price: expect.closeTo(price, 12) as number,
        }
        return fc.shuffledSubarray(rows, { minLength: rows.length }).map((shuffled) => ({
          fill,
          lists: { ...lists, deals: { ...lists.deals, rows: shuffled } },
        }))
      })
    fc.assert(
      fc.property(scene, ({ fill, lists }) => {
        const sought = { order: { ...order, volume: fill.volume }, sentAt, tickets: {} }
        expect(findingOf(sought, lists, contextAt(sentAt + 1_000)).answer).toEqual({
          kind: 'found',
          settlement: { kind: 'filled', fill },
        })
      }),
    )
  })

  it('reads or leaves out rows of any shape, and throws at none', () => {
    const list = fc.constantFrom('positions', 'orders', 'historyOrders', 'deals')
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), list, (rows, name) => void recordsOf(name, rows)),
    )
  })
})
