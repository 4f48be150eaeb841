// The events of new deals: what each says, and that they are the same however the deals arrive.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AccountReading } from '../../src/accounts/account.ts'
import { type ServiceEvent, journalEvents } from '../../src/events/index.ts'
import { dealKey, type BrokerDeal } from '../../src/journal/broker-deal.ts'
import { sumExactly, type AccountId } from '../../src/primitives/index.ts'
import { dealHistory, shuffled, sumsOfOthers } from '@tradeport/testkit'
import { dealTable } from '../trades/deal-table.ts'

import { compareDealOrder, foldPosition, groupByPosition } from '../../src/trades/index.ts'

const accountId = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as AccountId
const now = Date.parse('2026-01-05T12:00:00Z')
const figures = {
  balance: 1_000,
  equity: 1_010,
  margin: 20,
  freeMargin: 990,
  marginLevel: 5_050,
  leverage: 100,
}
const reading: AccountReading = {
  tradeMode: 'demo',
  broker: null,
  currency: null,
  figures,
  readAt: now,
}
const positionId = `${accountId}:7`

const brokerDeals = (table: string): readonly BrokerDeal[] =>
  dealTable(table).map((deal) => ({ kind: deal.side ?? 'balance', ...deal }))

interface Feed {
  readonly linkedAt?: number
  readonly held?: readonly BrokerDeal[]
  readonly read?: AccountReading
  /** What the deals moved: as much as was read when left out. */
  readonly moved?: number
  /** By how much the balance differed before; undefined where it was not compared. */
  readonly difference?: number
  readonly disagreements?: number
}

const eventsOf = (
  inserted: readonly BrokerDeal[],
  {
    linkedAt = 0,
    held = [],
    read = reading,
    moved = read.figures.balance,
    difference,
    disagreements = 2,
  }: Feed = {},
): readonly ServiceEvent[] => {
  const latest = [...held, ...inserted]
  const positions = groupByPosition(latest)
  return journalEvents({
    accountId,
    linkedAt,
    firstSeen: inserted,
    nowPlaced: new Set(),
    positions,
    closedBefore: new Set(
      [...groupByPosition(held)].flatMap(([id, deals]) =>
        foldPosition(id, deals).status === 'closed' ? [id] : [],
      ),
    ),
    sumOfOthersAfter: sumsOfOthers(held, inserted),
    sumOfAllDeals: moved,
    before: {
      check: difference === undefined ? null : { at: now, balance: 0, difference },
      disagreements,
    },
    reading: read,
  })
}
const typesOf = (events: readonly ServiceEvent[]) => events.map(({ type }) => type)
const dataOf = (
  events: readonly ServiceEvent[],
  wanted: ServiceEvent['type'],
): readonly ServiceEvent['data'][] =>
  events.flatMap(({ type, data }) => (type === wanted ? [data] : []))

const [opening, part, rest] = brokerDeals(`
  1  7  in   buy   EURUSD  0.3  1.1  0   -3  0   09:00:00
  2  7  out  sell  EURUSD  0.1  1.2  5   -1  0   10:00:00
  3  7  out  sell  EURUSD  0.2  1.3  20  -2  -1  11:00:00
`) as readonly [BrokerDeal, BrokerDeal, BrokerDeal]

describe('the events of new deals', () => {
  it('stand in the order of the deals: the position, then its trade, then the balance', () => {
    expect(typesOf(eventsOf([rest, part, opening]))).toEqual([
      'position.opened',
      'account.balance_changed',
      'position.closed',
      'account.balance_changed',
      'position.closed',
      'trade.closed',
      'account.balance_changed',
    ])
  })

  it('say of an opened position what its order opened, and with which levels', () => {
    const first = { ...opening, orderId: '70', stopLoss: 1.05, takeProfit: 1.3 }
    const more: BrokerDeal = {
      ...opening,
      orderId: '70',
      id: '12',
      volume: 0.1,
      price: 1.14,
      time: (opening.time ?? 0) + 5,
    }
    const [event] = eventsOf([more, first])
    expect(event).toEqual({
      type: 'position.opened',
      key: `position.opened ${positionId}`,
      data: {
        position_id: positionId,
        account_id: accountId,
        symbol: 'EURUSD',
        type: 'buy',
        volume: 0.4,
        entry_price: 1.11,
        margin_used: null,
        opened_at: '2026-01-05T09:00:00.000Z',
        stop_loss: 1.05,
        take_profit: 1.3,
      },
    })
    expect(dataOf(eventsOf([more], { held: [opening] }), 'position.opened')).toEqual([])
    // What another order adds is not what was opened.
    const added = eventsOf([first, { ...more, orderId: '71' }])
    expect(dataOf(added, 'position.opened')).toMatchObject([{ volume: 0.3, entry_price: 1.1 }])
    const [poor] = eventsOf(brokerDeals('1 7 in sell - - 1.1 0 0 0 ?'))
    expect(poor?.data).toMatchObject({
      symbol: null,
      type: 'sell',
      volume: null,
      entry_price: 1.1,
      opened_at: null,
    })
  })

  it('name the symbol of the first deal, in whatever order they were read', () => {
    const [event] = eventsOf([{ ...rest, symbol: 'EURUSD.r' }, opening])
    expect(event?.data['symbol']).toBe('EURUSD')
  })

  it('say of a close what it closed, what stays open, and why it was made', () => {
    const [first, second] = eventsOf([{ ...part, reason: 'stop_loss' }, rest], {
      held: [opening],
    }).filter(({ type }) => type === 'position.closed')
    expect(first).toEqual({
      type: 'position.closed',
      key: `position.closed ${accountId} ${dealKey(part)}`,
      data: {
        position_id: positionId,
        account_id: accountId,
        symbol: 'EURUSD',
        type: 'buy',
        closed_volume: 0.1,
        remaining_volume: 0.2,
        entry_price: 1.1,
        exit_price: 1.2,
        realized_pnl: 5,
        is_partial: true,
        closed_at: '2026-01-05T10:00:00.000Z',
        exit_reason: 'stop_loss',
      },
    })
    expect(second?.data).toMatchObject({
      closed_volume: 0.2,
      remaining_volume: 0,
      is_partial: false,
      realized_pnl: 20,
    })
    expect(second?.data['exit_reason']).toBeUndefined()
  })

  it.each([
    [
      'a part that another position closed',
      `1 7 in     sell A 1   1.1 0 0 0 09:00:00
       2 7 out_by buy  A 0.4 1   4 0 0 09:00:01`,
      'sell 0.4 of 1.1, 0.6 left',
    ],
    [
      'a reversal, which closes what was open, and then what it opened',
      `1 7 in    buy  A 1 1.1 0 0 0 09:00:00
       2 7 inout sell A 3 1.2 9 0 0 09:00:01
       3 7 out   buy  A 2 1   8 0 0 09:00:02`,
      'buy 1 of 1.1, 0 left; sell 2 of 1.2, 0 left',
    ],
    [
      'closes without a volume, which share what is left',
      `1 7 in  buy  A 1 1.1 0 0 0 09:00:00
       2 7 out sell A - 1.2 1 0 0 09:00:01
       3 7 out sell A - 1.2 1 0 0 09:00:02
       4 7 out sell A - 1.2 1 0 0 09:00:03`,
      `buy ${1 / 3} of 1.1, ${2 / 3} left; buy ${1 / 3} of 1.1, ${1 / 3} left; buy ${1 / 3} of 1.1, 0 left`,
    ],
    [
      'a history without the opening deals',
      `2 7 out sell A 0.5 1.2 1 0 0 09:00:01
       3 7 out sell - -   -   1 0 0 -`,
      'buy 0.5 of null, null left; buy null of null, null left',
    ],
    [
      'a history without some of the opening deals',
      `1 7 in  buy  A 1 1.1 0 0 0 09:00:00
       2 7 out sell A 1 1.2 1 0 0 09:00:01
       3 7 out sell A 1 1.2 1 0 0 09:00:02`,
      'buy 1 of null, null left; buy 1 of null, null left',
    ],
    [
      'more than was opened, and a close without a volume before',
      `1 7 in  buy  A 1 1.1 0 0 0 09:00:00
       2 7 out sell A - 1.2 1 0 0 09:00:01
       3 7 out sell A 2 1.2 1 0 0 09:00:02`,
      'buy null of null, null left; buy 2 of null, null left',
    ],
    [
      'an opening deal without a volume',
      `1 7 in  buy  A - 1.1 0 0 0 09:00:00
       2 7 out sell A 1 1.2 1 0 0 09:00:01`,
      'buy 1 of null, null left',
    ],
    [
      'a reversal without a volume',
      `1 7 in    buy  A 1 1.1 0 0 0 09:00:00
       2 7 inout sell A - 1.2 9 0 0 09:00:01`,
      'buy null of null, null left',
    ],
    [
      'an opening deal after a partial close, which weighs against what was left',
      `1 7 in  buy  A 2 1.1 0 0 0 09:00:00
       2 7 out sell A 1 1.2 1 0 0 09:00:01
       3 7 in  buy  A 3 1.3 0 0 0 09:00:02
       4 7 out sell A 4 1.2 1 0 0 09:00:03`,
      'buy 1 of 1.1, 1 left; buy 4 of 1.25, 0 left',
    ],
    [
      'an opening deal after all was closed, and one without a price before',
      `1 7 in  buy  A 2 -   0 0 0 09:00:00
       2 7 out sell A 2 1.2 1 0 0 09:00:01
       3 7 in  buy  A 3 1.3 0 0 0 09:00:02
       4 7 out sell A 3 1.2 1 0 0 09:00:03`,
      'buy 2 of null, 0 left; buy 3 of 1.3, 0 left',
    ],
  ])('say what is closed by %s', (_, table, closes) => {
    const closed = dataOf(eventsOf(brokerDeals(table)), 'position.closed')
    const inWords = closed.map(
      (close) =>
        `${String(close['type'])} ${String(close['closed_volume'])} of ${String(close['entry_price'])}, ${String(close['remaining_volume'])} left`,
    )
    expect(inWords.join('; ')).toBe(closes)
    for (const { is_partial: isPartial, remaining_volume: left } of closed)
      expect(isPartial).toBe(left === null ? null : left !== 0)
  })

  it.each([
    ['3', 2],
    ['-', null],
  ])('say that a reversal of %s lots opens %s on the other side', (lots, volume) => {
    const events = eventsOf(
      brokerDeals(`1 7 in    buy  A 1 1.1 0 0 0 09:00:00
                   2 7 inout sell A ${lots} 1.2 9 0 0 09:00:01`),
    )
    expect(typesOf(events).slice(1, 3)).toEqual(['position.closed', 'position.opened'])
    expect(dataOf(events, 'position.opened')[1]).toMatchObject({
      position_id: positionId,
      type: 'sell',
      volume,
      entry_price: 1.2,
      opened_at: '2026-01-05T09:00:01.000Z',
    })
    expect(new Set(events.map(({ key }) => key)).size).toBe(events.length)
  })

  it.each([[1], [2], [3], [4]])('say what a rollover opens again, read %d by %#', (size) => {
    const deals = brokerDeals(`1 7 in  buy  A 2 1.1 0 0 0 09:00:00
                               2 7 out sell A 2 1.2 9 0 0 09:00:01
                               3 7 in  buy  A 1 1.2 0 0 0 09:00:01
                               4 7 in  buy  A 2 1.3 0 0 0 09:00:02`)
    const events = deals.flatMap((_, index) =>
      index % size === 0
        ? eventsOf(deals.slice(index, index + size), { held: deals.slice(0, index) })
        : [],
    )
    expect(typesOf(events).filter((type) => type.startsWith('position'))).toEqual([
      'position.opened',
      'position.closed',
      'position.opened',
    ])
    expect(dataOf(events, 'position.opened')).toMatchObject([
      { position_id: positionId, type: 'buy', volume: 2, entry_price: 1.1 },
      { position_id: positionId, type: 'buy', volume: 1, entry_price: 1.2 },
    ])
    expect(new Set(events.map(({ key }) => key)).size).toBe(events.length)
  })

  it.each([
    [
      'after a reversal',
      `1 7 in    buy  A 1 1.1 0 0 0 09:00:00
       2 7 inout sell A 3 1.2 9 0 0 09:00:01
       3 7 in    sell A 1 1.3 0 0 0 09:00:02`,
      2,
    ],
    [
      'after a part was closed',
      `1 7 in  buy  A 2 1.1 0 0 0 09:00:00
       2 7 out sell A 1 1.2 9 0 0 09:00:01
       3 7 in  buy  A 1 1.3 0 0 0 09:00:02`,
      1,
    ],
  ])('say of an addition %s that it opens nothing', (_, table, count) => {
    expect(dataOf(eventsOf(brokerDeals(table)), 'position.opened')).toHaveLength(count)
  })

  it('say what opens again after the link what was closed before', () => {
    const deals = [opening, { ...rest, volume: 0.3 }, { ...opening, id: '9', time: now }]
    const events = eventsOf(deals, { linkedAt: now })
    expect(typesOf(events).filter((type) => type.startsWith('position'))).toEqual([
      'position.opened',
    ])
  })

  it('are none of deals from before the link', () => {
    const linkedAt = part.time ?? 0
    const events = eventsOf([opening, part, rest], { linkedAt })
    expect(typesOf(events)).toEqual([
      'position.closed',
      'account.balance_changed',
      'position.closed',
      'trade.closed',
      'account.balance_changed',
    ])
    expect(eventsOf([opening, part, rest], { linkedAt: now })).toEqual([])
    const reversedAndReopened = brokerDeals(`
      1 7 in    buy  A 1 1 0 0 0 09:00:00
      2 7 inout sell A 2 1 0 0 0 09:00:01
      3 7 out   buy  A 1 1 0 0 0 09:00:02
      4 7 in    buy  A 1 1 0 0 0 09:00:03
      5 7 out   sell A 1 1 0 0 0 09:00:04`)
    const last = { linkedAt: reversedAndReopened.at(-1)?.time ?? 0 }
    expect(typesOf(eventsOf(reversedAndReopened, last))).toEqual(['position.closed'])
  })

  it('close a trade once, and again by a further close', () => {
    expect(dataOf(eventsOf([rest], { held: [opening, part] }), 'trade.closed')).toMatchObject([
      { trade_id: positionId, profit: 25 },
    ])
    const before = { ...part, id: '1', volume: 0, profit: -1 }
    expect(dataOf(eventsOf([before], { held: [opening, part, rest] }), 'trade.closed')).toEqual([])
    // The first close was taken for a whole one, because it had no volume.
    const unreported = { ...part, volume: 0 }
    expect(dataOf(eventsOf([rest], { held: [opening, unreported] }), 'trade.closed')).toMatchObject(
      [{ trade_id: positionId, profit: 25 }],
    )
  })
})

const booking = (kind: BrokerDeal['kind'], profit: number): BrokerDeal => ({
  id: '1',
  kind,
  profit,
  commission: 0,
  swap: 0,
  time: now,
})
const changeOf = (deal: BrokerDeal, balance: number): ServiceEvent['data'] | undefined =>
  eventsOf([deal], {
    read: { ...reading, figures: { ...figures, balance, freeMargin: null, marginLevel: null } },
  })[0]?.data

describe('a change of the balance', () => {
  it('says the balances around it and the figures that were read', () => {
    const [, event] = eventsOf([rest], { held: [opening, part] }).filter(
      ({ type }) => type !== 'trade.closed',
    )
    expect(event).toEqual({
      type: 'account.balance_changed',
      key: `account.balance_changed ${accountId} ${dealKey(rest)}`,
      data: {
        account_id: accountId,
        previous_balance: 983,
        new_balance: 1_000,
        change_amount: 17,
        change_percentage: 1700 / 983,
        equity: 1_010,
        margin: 20,
        free_margin: 990,
        margin_level: 5_050,
        change_reason: 'trade',
        changed_at: '2026-01-05T11:00:00.000Z',
      },
    })
  })

  it('has no margin that was not read', () => {
    const change = changeOf(booking('balance', 5), 5)
    expect(change).toMatchObject({ free_margin: null, change_percentage: null })
    expect(change?.['margin_level']).toBeUndefined()
  })

  it.each<[BrokerDeal['kind'], number, number, number, string]>([
    ['balance', 50, 100, 50, 'deposit'],
    ['balance', -50, 200, -25, 'withdrawal'],
    ['balance', 100, -50, 200, 'deposit'],
    ['credit', 50, 100, 0, 'credit'],
    ['charge', -1, 100, -1, 'charge'],
    ['commission', -1, 100, -1, 'charge'],
    ['interest', 1, 100, 1, 'charge'],
    ['tax', -1, 100, -1, 'charge'],
    ['correction', 1, 100, 1, 'correction'],
    ['dividend', 1, 100, 1, 'other'],
    ['bonus', 1, 100, 1, 'other'],
  ])(
    'by %s of %d from %d is %d percent, with the reason %s',
    (kind, amount, before, percent, why) => {
      const moved = kind === 'credit' ? 0 : amount
      expect(changeOf(booking(kind, amount), before + moved)).toMatchObject({
        previous_balance: before,
        new_balance: before + moved,
        change_amount: moved,
        change_percentage: percent,
        change_reason: why,
      })
    },
  )

  it.each([
    ['that the history did not show before', { moved: 1_000, difference: 100 }, 983],
    ['of before what the history has', { moved: 900, difference: 100 }, 983],
    [
      'that the whole history may still show',
      { moved: 900, difference: 100, disagreements: 1 },
      null,
    ],
    ['that the history does not show yet', { moved: 900, difference: 0 }, null],
    ['of unknown deals, of which some are new', { moved: 900, difference: 50 }, null],
    ['of unknown deals', { moved: 900 }, null],
    [
      'of later deals that were read before',
      { held: [{ ...booking('balance', 50), time: now }] },
      933,
    ],
  ])('has the balances around it where they are known, in spite of money %s', (_, feed, before) => {
    expect(dataOf(eventsOf([rest], feed), 'account.balance_changed')).toMatchObject([
      {
        previous_balance: before,
        new_balance: before === null ? null : before + 17,
        change_amount: 17,
        change_percentage: before === null ? null : 1700 / before,
      },
    ])
  })

  it('is none of a deal that moves no money', () => {
    expect(changeOf({ ...booking('buy', 1), commission: -1 }, 100)).toBeUndefined()
  })
})

/** Deals as a journal keeps them: each once. */
const history = dealHistory.map((deals) => [
  ...new Map(
    deals.map((deal) => [dealKey(deal), { kind: deal.side ?? ('balance' as const), ...deal }]),
  ).values(),
])
const moves = (id: string, profit: number, time: number): BrokerDeal => ({
  id,
  kind: 'balance',
  profit,
  commission: 0,
  swap: 0,
  time,
})

const pages = <A>(items: readonly A[], cuts: readonly number[]): readonly (readonly A[])[] => {
  const bounds = [
    0,
    ...cuts.map((cut) => cut % (items.length + 1)).toSorted((a, b) => a - b),
    items.length,
  ]
  return bounds.slice(1).map((end, index) => items.slice(bounds[index], end))
}
const feed = (parts: readonly (readonly BrokerDeal[])[]): readonly ServiceEvent[] =>
  parts.flatMap((inserted, index) => eventsOf(inserted, { held: parts.slice(0, index).flat() }))
const keysOf = (events: readonly ServiceEvent[], isTrade: boolean) =>
  events.flatMap(({ type, key }) => ((type === 'trade.closed') === isTrade ? [key] : [])).toSorted()
/** Without what is opened again: whether all was closed before depends on the deals until then. */
const withoutReopened = (keys: readonly string[]): ReadonlySet<string> =>
  new Set(keys.filter((key) => !/^position\.opened .* in /.test(key)))
/** Without the deal that closed it, which may be another where deals arrive in another order. */
const closedPositions = (events: readonly ServiceEvent[]) =>
  keysOf(events, true).map((key) => key.split(' ').slice(0, 2).join(' '))

/** Without the reversals: what one opens depends on all deals of the position. */
const openedVolumes = (events: readonly ServiceEvent[]) =>
  events.flatMap(({ key, data }) =>
    key === ['position.opened', data['position_id']].join(' ')
      ? [[data['position_id'], data['volume'], data['entry_price']]]
      : [],
  )

describe('however the deals arrive', () => {
  it('the events have the same keys: at once, in pages, or one by one', () => {
    const cuts = fc.array(fc.nat(), { maxLength: 4 })
    const inAnyOrder = history.chain((deals) => fc.tuple(fc.constant(deals), shuffled(deals)))
    fc.assert(
      fc.property(inAnyOrder, cuts, ([deals, order], at) => {
        const atOnce = eventsOf(deals)
        for (const parts of [pages(deals, at), pages(order, at), order.map((deal) => [deal])]) {
          const events = feed(parts)
          // A position may be a trade after a part of its deals and not after all of them.
          expect(closedPositions(events)).toEqual(
            expect.arrayContaining([...closedPositions(atOnce)]),
          )
          expect(withoutReopened(keysOf(events, false))).toEqual(
            withoutReopened(keysOf(atOnce, false)),
          )
          expect(dataOf(events, 'position.closed')).toHaveLength(
            dataOf(atOnce, 'position.closed').length,
          )
        }
      }),
    )
  })

  it('a position opens with the same volume, however many of its deals are read at once', () => {
    const inTurn = history.map((deals) => deals.toSorted(compareDealOrder))
    fc.assert(
      fc.property(inTurn, (deals) => {
        expect(openedVolumes(feed(deals.map((deal) => [deal])))).toEqual(
          openedVolumes(eventsOf(deals)),
        )
      }),
    )
  })

  it('a trade is closed once more where a late deal left its position open', () => {
    const late = { ...opening, id: '0', volume: 0.1 }
    const last = { ...rest, id: '4', volume: 0.1 }
    const events = feed([[opening, part, rest], [late], [last]])
    const volumes = dataOf(events, 'trade.closed').map(({ volume }) => volume)
    expect([volumes, new Set(keysOf(events, true)).size]).toEqual([[0.3, 0.4], 2])
  })

  it('balances of late deals are those before what came after them', () => {
    const [first, between, last, latest] = [1, 2, 3, 4].map((at) => moves(String(at), 10 ** at, at))
    const events = eventsOf([first!, last!], { held: [between!, latest!], moved: 1_000 })
    expect(
      dataOf(events, 'account.balance_changed').map((data) => [
        data['previous_balance'],
        data['new_balance'],
      ]),
    ).toEqual([
      [-10_110, -10_100],
      [-10_000, -9_000],
    ])
  })

  it('balances follow one another and end at the one that was read', () => {
    fc.assert(
      fc.property(history, (deals) => {
        const changes = dataOf(eventsOf(deals), 'account.balance_changed')
        changes.forEach((change, index) => {
          const next = changes[index + 1]?.['previous_balance'] ?? figures.balance
          expect(change['new_balance']).toBe(next)
        })
        const moved = deals.flatMap(({ profit, commission, swap }) => [-profit, -commission, -swap])
        expect(changes[0]?.['previous_balance'] ?? figures.balance).toBe(
          sumExactly([figures.balance, ...moved]),
        )
      }),
    )
  })
})
