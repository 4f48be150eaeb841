// An account's journal is brought up to date with the broker's history: what is read, what is
// written, and what happens when the two disagree.
import { times } from '@tradeport/testkit'
import { setImmediate } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { dealTable } from '../trades/deal-table.ts'
import { describe, expect, it } from 'vitest'
import type { Account } from '../../src/accounts/account.ts'
import { brokerRateLimited } from '../../src/errors.ts'
import type { DealsPage } from '../../src/journal/broker-deal.ts'
import { type AccountId, dayMs, hourMs, minuteMs } from '../../src/primitives/index.ts'
import { createJournalReads } from '../../src/use-cases/synchronise-journal.ts'
import type { Deal } from '../../src/trades/deal.ts'
import {
  brokerAccountOf,
  createJournalDesk,
  down,
  owner,
  rightOf,
  tagOf,
  unavailable,
  type JournalDeskOptions,
} from './desk.ts'

/** A deposit of 100, and three positions that each gain 1. */
const [deposit, ...trades] = dealTable(`
  1   -  -    -     -       -  -  100  0  0  09:00:00
  21  2  in   buy   EURUSD  1  1  0    0  0  09:00:02
  22  2  out  sell  EURUSD  1  1  1    0  0  09:00:03
  31  3  in   buy   EURUSD  1  1  0    0  0  09:00:05
  32  3  out  sell  EURUSD  1  1  1    0  0  09:00:06
  41  4  in   buy   EURUSD  1  1  0    0  0  09:00:04
  42  4  out  sell  EURUSD  1  1  1    0  0  09:00:05
`) as readonly [Deal, ...Deal[]]
const of = (...ids: readonly string[]) =>
  trades.filter(({ positionId = '' }) => ids.includes(positionId))
const two = [deposit, ...of('2')]
const three = [deposit, ...of('2', '3')]

/** A desk with one account, days after the deals. */
const withHistory = (
  deals: readonly Deal[],
  options: JournalDeskOptions = {},
  fields: Partial<Account> = {},
) => {
  const desk = createJournalDesk(options)
  desk.pass((deposit.time ?? 0) + 10 * dayMs)
  const account = desk.link(fields)
  desk.put(account, deals)
  const brokerAccount = brokerAccountOf(account)
  const state = async () => O.toUndefined(await rightOf(desk.journal.find(brokerAccount)))
  const tradeIds = async () => {
    const selection = { accountIds: [account.id], filter: {} }
    const page = await rightOf(desk.trades.page(owner, selection, undefined, 100))
    return page.trades.map(({ trade }) => trade.positionId)
  }
  return {
    ...desk,
    account,
    brokerAccount,
    put: (next: readonly Deal[], balance?: number) => desk.put(account, next, balance),
    /** Another process reads where `by` is its. */
    sync: (since = desk.clock.now() - 1, by = desk.synchroniseJournal) => by(brokerAccount, since),
    later: async (ms = 6_000) => {
      desk.pass(ms)
      return rightOf(desk.synchroniseJournal(brokerAccount, desk.clock.now() - 1))
    },
    /** How often pages and the balance were read. */
    reads: () => [desk.broker.calls('dealsPage'), desk.broker.calls('accountInformation')],
    /** Reads over a journal of which these methods do something else. */
    readsWith: (methods: Partial<typeof desk.journal>) =>
      createJournalReads({ ...desk, journal: { ...desk.journal, ...methods } }),
    eventTypes: () => desk.events.map(({ type }) => type),
    eventsOf: (wanted: string) => desk.events.filter(({ type }) => type === wanted),
    want: () => rightOf(desk.journal.wantRead(brokerAccount, 0)),
    state,
    expectState: async (expected: object) => expect(await state()).toMatchObject(expected),
    claim: async () => {
      const claim = await rightOf(desk.journal.claim(brokerAccount))
      return O.isSome(claim) ? claim.value : expect.fail('is not claimed')
    },
    tradeIds,
    expectTrades: async (...ids: readonly string[]) => expect(await tradeIds()).toEqual(ids),
    /** From the nth read of the balance on, the broker shows other deals and another balance. */
    fromBalanceRead: (nth: number, deals: readonly Deal[], balance: number) => {
      let left = nth
      const { accountInformation } = desk.broker
      desk.broker.accountInformation = (by) => {
        if ((left -= 1) === 0) desk.put(account, deals, balance)
        return accountInformation(by)
      }
    },
  }
}

/** The same after its first read. */
const synced = async (...of: Parameters<typeof withHistory>) => {
  const desk = withHistory(...of)
  await rightOf(desk.sync())
  return desk
}
const edited = (deals: readonly Deal[], id: string, correction: Partial<Deal>) =>
  deals.map((deal) => (deal.id === id ? { ...deal, ...correction } : deal))
const daysLater = (deal: Deal): Deal => ({ ...deal, time: (deal.time ?? 0) + 3 * dayMs })
const deposits = times(40, (index) => ({ ...deposit, id: `${index + 1}` }))
const [opening, closing] = of('2') as [Deal, Deal]
/** The round of a service that stops. */
const stopping = { mayContinue: () => false, hasReadFigures: async () => false }
/** The other deals later than an overlap reads again. */
const laterTwo = of('3', '4').map(daysLater)
/** What a partial close on MT4 makes of an opening deal, with the close. */
const parts = [
  { ...opening, volume: 0.4 },
  { ...closing, volume: 0.4, time: (closing.time ?? 0) + 4 * dayMs },
]

describe('the first read', () => {
  it('reads every page once, and compares the balance once', async () => {
    const desk = await synced(three, { pageSize: 2, recordsEvents: false })
    expect(desk.reads()).toEqual([3, 1])
    expect(await rightOf(desk.journal.dealsFrom(desk.brokerAccount, 0, 9))).toHaveLength(5)
    await desk.expectTrades('3', '2')
    await desk.expectState({
      deals: 5,
      latestDealAt: three.at(-1)?.time,
      check: { difference: 0 },
      rereadAt: null,
    })
  })

  it('records what the broker says of the account', async () => {
    const desk = await synced(two, {}, { lastReadAt: null })
    expect(await rightOf(desk.accounts.find(owner, desk.account.id))).toMatchObject(
      O.some({ figures: { balance: 101 }, lastReadAt: desk.clock.now() }),
    )
  })

  it('continues where it stopped, in another process too', async () => {
    const shown = [...two, ...of('3').map(daysLater)]
    const desk = withHistory(shown, { pageSize: 2, recordsEvents: false })
    const third = down(desk.account.id)
    const { dealsPage } = desk.broker
    desk.broker.dealsPage = (account, window) =>
      window.offset === 4 ? TE.left(third) : dealsPage(account, window)
    expect(await desk.sync()()).toEqual(E.left(third))
    await desk.expectState({ deals: 4, syncedAt: null })
    desk.broker.dealsPage = dealsPage
    const [before = 0] = desk.reads()
    await rightOf(desk.sync(undefined, desk.otherProcess()))
    expect(desk.reads()[0]).toBe(before + 1)
    await desk.expectTrades('3', '2')
    // What its first pages showed may have changed meanwhile.
    desk.put(edited(shown, '21', { volume: 2 }))
    await desk.later(minuteMs)
    await desk.expectTrades('3')
    await desk.later(minuteMs)
    await desk.expectState({ rereadAt: null, disagreements: 0 })
  })

  it('stops at the most deals, and does not ask again, for a caller or because a read is wanted', async () => {
    const desk = withHistory(deposits, { pageSize: 2, maxFirstReadDeals: 3 })
    const { deals } = await rightOf(desk.sync())
    expect(deals).toBeGreaterThan(3)
    expect(deals).toBeLessThan(40)
    // Until the pages that were asked for ahead have come.
    await setImmediate()
    const reads = desk.reads()
    expect((await rightOf(desk.sync())).deals).toBe(deals)
    await desk.want()
    const due = await desk.claim()
    await rightOf(desk.readDueJournal(due))
    expect(desk.reads()).toEqual(reads)
    await desk.expectState({ deals, wantedAt: null })
  })

  it('goes on after its callers gave up, of whatever process', async () => {
    const desk = withHistory(deposits, { pageSize: 2, recordsEvents: false })
    const { dealsPage } = desk.broker
    desk.broker.dealsPage = (account, window) => async () => {
      await desk.pause(10_000)()
      return dealsPage(account, window)()
    }
    const since = desk.clock.now() - 1
    const answers = [desk.synchroniseJournal, desk.synchroniseJournal, desk.otherProcess()].map(
      (by) => tagOf(desk.sync(since, by)),
    )
    expect(await Promise.all(answers)).toEqual(Array(3).fill('BrokerUnavailable'))
    expect(desk.clock.now() - since).toBeLessThan(2 * minuteMs + 5_000)
    expect((await rightOf(desk.sync(since))).deals).toBe(deposits.length)
    expect(desk.reads()[0]).toBeLessThan(deposits.length)
  })

  it.each([withHistory, synced])(
    'fails where the provider keeps returning the same page (%o)',
    async (start) => {
      const desk = await start(two)
      desk.pass(minuteMs)
      const { dealsPage } = desk.broker
      desk.broker.dealsPage = (...of) =>
        TE.map((page: DealsPage) => ({ ...page, nextOffset: 1_000 }))(dealsPage(...of))
      expect(await tagOf(desk.sync())).toBe('BrokerUnavailable')
    },
  )

  it('knows the balances of its events once the deals add up to the one that was read', async () => {
    const withdrawal = { ...deposit, id: '5', profit: -20, time: (deposit.time ?? 0) + dayMs }
    const desk = await synced([...three, withdrawal], { pageSize: 2 })
    const changes = desk.eventsOf('account.balance_changed')
    expect(changes.map(({ data }) => data['previous_balance'])).toEqual([null, null, 101, 102])
    expect(changes.map(({ data }) => data['new_balance'])).toEqual([null, null, 102, 82])
  })

  it('emits a deal without a time, which counts as new', async () => {
    const { time: _, ...undated } = deposit
    const desk = await synced([undated], {}, { createdAt: (deposit.time ?? 0) + dayMs })
    expect(desk.eventTypes()).toEqual(['account.balance_changed'])
  })

  it('emits nothing for deals that are older than the link', async () => {
    const linked = { createdAt: of('3')[0]?.time ?? 0 }
    const desk = await synced(three, {}, linked)
    const about = desk.events.map(({ data }) => data['position_id'] ?? data['changed_at'])
    expect(about.filter((what) => String(what).endsWith(':2'))).toEqual([])
    expect(about).toContain(`${desk.account.id}:3`)
  })
})

describe('a later read', () => {
  it('is one page and nothing else where nothing is new', async () => {
    const desk = await synced(two, { recordsEvents: false })
    await desk.later()
    expect(desk.reads()).toEqual([2, 1])
  })

  it('emits the trade that a corrected deal closes, once', async () => {
    const half = edited(two, '22', { volume: 0.5 })
    const desk = await synced(half)
    expect(desk.eventsOf('trade.closed')).toEqual([])
    desk.put(two)
    await desk.later()
    expect(desk.eventsOf('trade.closed')).toMatchObject([{ data: { volume: 1, profit: 1 } }])
    const { length } = desk.events
    desk.put(edited(two, '22', { price: 2 }))
    await desk.later()
    expect(desk.events).toHaveLength(length)
  })

  it('emits the trade that an opening deal from before the link closes, shown late', async () => {
    const linked = { createdAt: (opening.time ?? 0) + 1 }
    const desk = await synced([deposit, closing], {}, linked)
    expect(desk.eventsOf('trade.closed')).toEqual([])
    desk.put([deposit, opening, closing])
    await desk.later()
    expect(desk.eventsOf('trade.closed')).toHaveLength(1)
  })

  it.each([
    ['an opening deal that gets another id', '21', { id: '99' }],
    ['a closing deal that gets another id', '22', { id: '99' }],
    ['an opening deal whose time is corrected', '21', { time: (deposit.time ?? 0) + 1_500 }],
    ['a closing deal whose time is corrected', '22', { time: (deposit.time ?? 0) + 3_500 }],
  ])('takes %s for the one that it was', async (_, id, correction) => {
    const desk = await synced(two)
    const { length } = desk.events
    desk.put(edited(two, id, correction))
    await desk.later()
    await desk.expectTrades('2')
    expect(desk.events).toHaveLength(length)
    await desk.expectState({ deals: 3, check: { difference: 0 } })
  })

  it('takes a deal whose entry is corrected for the one that it was, on MT5', async () => {
    const desk = await synced(edited(two, '22', { entry: 'inout' }))
    desk.put(two)
    await desk.later()
    expect(desk.eventTypes()).toEqual([
      'account.balance_changed',
      'position.opened',
      'position.closed',
      'position.opened',
      'account.balance_changed',
      'trade.closed',
    ])
    await desk.expectState({ deals: 3, check: { difference: 0 } })
  })

  it('takes a deal whose time is corrected from before the day that a read covers for the one that it was', async () => {
    const other = { ...deposit, id: '5', time: (opening.time ?? 0) + dayMs + 10 * minuteMs }
    const desk = await synced([deposit, opening, other])
    const { length } = desk.events
    desk.put([deposit, { ...opening, time: (opening.time ?? 0) + 40 * minuteMs }, other])
    await desk.later()
    expect(desk.events).toHaveLength(length)
    await desk.expectState({ deals: 3 })
  })

  it.each(
    (['positionId', 'entry'] as const).flatMap((field) =>
      (['mt4', 'mt5'] as const).map((brokerType) => ({ field, brokerType })),
    ),
  )(
    'emits the close of a deal that first came without its $field on $brokerType',
    async ({ field, brokerType }) => {
      const desk = await synced(edited(two, closing.id, { [field]: undefined }), {}, { brokerType })
      desk.put(two)
      await desk.later()
      expect(desk.events.slice(-2)).toMatchObject([
        { type: 'position.closed', data: { realized_pnl: 1 } },
        { type: 'trade.closed' },
      ])
      expect(desk.eventsOf('account.balance_changed')).toHaveLength(2)
    },
  )

  it.each([
    ['one by one', true],
    ['together', false],
  ])(
    'emits the trade once more that deals leave open and close %s, shown late',
    async (_, isOneByOne) => {
      const half = { volume: 0.5 }
      const [a, b] = [
        { ...opening, ...half },
        { ...opening, ...half, id: '23' },
      ]
      const [c, d] = [
        { ...closing, ...half },
        { ...closing, ...half, id: '24', time: (closing.time ?? 0) + 9 },
      ]
      const desk = await synced([deposit, a, d])
      if (isOneByOne) {
        desk.put([deposit, a, b, d])
        await desk.later()
      }
      desk.put([deposit, a, b, c, d])
      await desk.later()
      expect(desk.eventsOf('trade.closed').map(({ data }) => data['volume'])).toEqual([0.5, 1])
    },
  )

  it('records what is new before the whole history is read, and reads on for a minute where that fails', async () => {
    const desk = await synced(two)
    desk.put(edited(two, '21', { price: 2 }))
    await desk.later()
    const { dealsPage } = desk.broker
    desk.broker.dealsPage = (account, window) =>
      window.from === 0 ? TE.left(down(desk.account.id)) : dealsPage(account, window)
    desk.put([...edited(two, '21', { price: 2 }), ...of('3').map(daysLater)])
    desk.pass(minuteMs)
    expect(await tagOf(desk.sync())).toBe('BrokerUnavailable')
    await desk.expectTrades('3', '2')
    await desk.later()
    desk.broker.dealsPage = dealsPage
    await desk.later(minuteMs)
    await desk.expectState({ rereadAt: null, disagreements: 0 })
  })

  it.each<[when: string, end?: (desk: Awaited<ReturnType<typeof synced>>) => Promise<unknown>]>([
    ['once its position is closed'],
    [
      'where the process ends once it is written',
      async (desk) => {
        const write: typeof desk.journal.write = (claim, change) => async () => {
          await rightOf(desk.journal.write(claim, change))
          throw new Error('ended')
        }
        const { readDueJournal } = desk.readsWith({ write })
        await expect(readDueJournal(await desk.claim())()).rejects.toThrow('ended')
      },
    ],
    [
      'where the service stops after the last page',
      async (desk) => rightOf(desk.readDueJournal(await desk.claim(), stopping)),
    ],
  ])('finds an opening deal that is shown more than a day late, %s', async (_, end) => {
    const desk = await synced([deposit, ...laterTwo])
    desk.put([deposit, { ...opening, commission: 0 }, ...laterTwo, daysLater(closing)])
    await end?.(desk)
    await desk.later()
    await desk.later(minuteMs)
    await desk.expectTrades('3', '4', '2')
    await desk.expectState({ rereadAt: null })
  })

  it('goes on to read the whole history where a deal that comes late explains the balance, but not a missing opening', async () => {
    const desk = await synced([deposit, ...laterTwo])
    const shown = [deposit, { ...opening, commission: 0 }, ...laterTwo, daysLater(closing)]
    const late = { ...deposit, id: '7', profit: 5, time: (closing.time ?? 0) + 3 * dayMs }
    desk.put(shown, 108)
    await desk.later()
    desk.put([...shown, late])
    await desk.later()
    await desk.expectState({ check: { difference: 0 }, disagreements: 1 })
    await desk.later(minuteMs)
    await desk.expectTrades('3', '4', '2')
  })

  it.each(['positionId', 'entry', 'symbol', 'volume', 'price', 'time'] as const)(
    'is made once more, and disagrees until then, after a first read of a deal without its %s',
    async (field) => {
      const desk = await synced(
        edited(three, '22', { [field]: field === 'time' ? Number.NaN : undefined }),
      )
      await desk.expectState({ disagreements: 1 })
      desk.put(three)
      await desk.later(minuteMs)
      await desk.expectTrades('3', '2')
      await desk.expectState({ disagreements: 0, rereadAt: null })
    },
  )

  it('is made once more after a first read that lacks an opening deal, on one page too', async () => {
    const desk = await synced([deposit, closing, ...laterTwo])
    desk.put([deposit, { ...opening, commission: 0 }, closing, ...laterTwo])
    await desk.later(minuteMs)
    await desk.expectTrades('3', '4', '2')
    await desk.expectState({ rereadAt: null, disagreements: 0 })
  })

  it('is not made a third time where the deal still lacks it', async () => {
    const { positionId: _lacking, ...incomplete } = closing
    const desk = await synced([deposit, ...of('3')])
    desk.put([deposit, opening, incomplete, ...of('3')])
    await desk.later()
    await desk.expectState({ disagreements: 1 })
    await desk.later(minuteMs)
    await desk.expectTrades('3')
    await desk.expectState({ disagreements: 0, rereadAt: null })
  })

  it('is made once more after a first read during which a position was closed in part on MT4', async () => {
    const desk = withHistory(
      [deposit, opening, ...laterTwo],
      { pageSize: 2 },
      { brokerType: 'mt4' },
    )
    const { dealsPage } = desk.broker
    desk.broker.dealsPage = (account, window) => async () => {
      const page = await dealsPage(account, window)()
      desk.put([deposit, ...parts, ...laterTwo])
      return page
    }
    await rightOf(desk.sync())
    await desk.expectTrades('3', '4')
    await desk.later(minuteMs)
    await desk.expectTrades('2', '3', '4')
  })

  it('needs no further read where a position that was reversed is closed', async () => {
    const reversal = { ...closing, id: '23', entry: 'inout', volume: 2 } as const
    const desk = await synced([deposit, opening, reversal])
    desk.put([deposit, opening, reversal, daysLater(closing)])
    await desk.later()
    const latestDealAt = daysLater(closing).time
    await desk.expectState({ deals: 4, rereadAt: null, latestDealAt })
  })

  it.each([
    ['is made once more where more is closed than was opened', 0.5, expect.any(Number)],
    ['is made once more where what was opened has no lots', 0, expect.any(Number)],
    ['is not made where a part is closed on MT5', 2, null],
  ])('%s', async (_, volume, rereadAt) => {
    const deals = [deposit, { ...opening, volume }]
    const desk = await synced(deals)
    desk.put([...deals, daysLater(closing)])
    await desk.later()
    await desk.expectState({ deals: 3, rereadAt })
  })

  it('finds what a partial close on MT4 made of an opening deal, however old that is', async () => {
    const desk = await synced([deposit, opening, ...laterTwo], {}, { brokerType: 'mt4' })
    const left = { ...opening, id: '51', positionId: '5', volume: 0.6 }
    desk.put([deposit, left, ...parts, ...laterTwo])
    await desk.later()
    // Nothing disagrees, so that nobody is warned.
    const rereadAt = (await desk.state())?.rereadAt
    expect(rereadAt).toEqual(expect.any(Number))
    await desk.later()
    await desk.expectState({ rereadAt, disagreements: 0 })
    await desk.later(minuteMs)
    await desk.expectTrades('2', '3', '4')
    const last = { ...closing, id: '52', positionId: '5', volume: 0.6, time: desk.clock.now() }
    desk.put([deposit, left, ...parts, ...laterTwo, last])
    await desk.later()
    await desk.expectTrades('5', '2', '3', '4')
    // A close of all that is left needs no further read.
    await desk.expectState({ rereadAt: null })
  })

  it('finds it where only the read that follows a difference shows the close', async () => {
    const desk = await synced([deposit, opening, ...laterTwo], {}, { brokerType: 'mt4' })
    desk.fromBalanceRead(1, [deposit, ...parts, ...laterTwo], 103)
    await desk.later(hourMs)
    await desk.expectState({
      check: { difference: 0 },
      rereadAt: expect.any(Number),
      disagreements: 0,
    })
  })

  it('is skipped while the last is fresh enough, unless one is wanted', async () => {
    const desk = await synced(two)
    desk.pass(4_000)
    const sync = () => rightOf(desk.sync(desk.clock.now() - 5_000))
    await sync()
    expect(desk.reads()[0]).toBe(1)
    await desk.want()
    await sync()
    expect(desk.reads()[0]).toBe(2)
  })

  it('adds what is new, also what arrives late and out of order', async () => {
    const desk = await synced(three)
    desk.put([...of('3'), ...of('4').toReversed(), ...two])
    await desk.later()
    await desk.expectTrades('3', '4', '2')
    expect(desk.disagreements).toEqual([])
  })

  it.each([false, true])(
    'is shared by its callers, of other processes too: %s',
    async (isOther) => {
      const desk = withHistory(two)
      const release = desk.broker.hold()
      const by = isOther ? desk.otherProcess() : desk.synchroniseJournal
      const reads = [desk.sync()(), desk.sync(undefined, by)(), desk.sync(undefined, by)()]
      release()
      expect((await Promise.all(reads)).every(E.isRight)).toBe(true)
      expect(desk.reads()[0]).toBe(1)
    },
  )

  it.each([down, (id: AccountId) => brokerRateLimited(id, 1, 0)])(
    'fails as the broker does, and the stored deals stay',
    async (failure) => {
      const desk = await synced(two)
      const error = failure(desk.account.id)
      desk.broker.fail(desk.account.id, error)
      desk.pass(6_000)
      expect(await desk.sync()()).toEqual(E.left(error))
      desk.broker.heal(desk.account.id)
      await desk.later()
      await desk.expectTrades('2')
    },
  )

  it('fails at once where the account is not linked any more', async () => {
    const desk = withHistory(two)
    desk.relink(desk.account, { provider: null })
    const since = desk.clock.now()
    expect(await tagOf(desk.sync())).toBe('BrokerUnavailable')
    expect(desk.clock.now()).toBe(since)
  })

  it('starts over where the account was linked to another one at the provider', async () => {
    const desk = await synced(two)
    const provider = { providerAccountId: 'another', region: null }
    const linked = desk.relink(desk.account, { provider })
    desk.put(of('3', '4'))
    await rightOf(desk.synchroniseJournal(brokerAccountOf(linked), desk.clock.now() - 1))
    await desk.expectTrades('3', '4')
  })
})

it.each([
  [undefined, 'read'],
  [down, 'failed'],
  [down, 'history_failed', true],
  [(id: AccountId) => brokerRateLimited(id, 9_001, 0), { retryAfterSeconds: 10 }, true],
])(
  'a due read is made once, whatever callers wait for it, and releases its claim with the result, again while the database fails',
  async (failure, expected, hasReadFigures = false) => {
    const desk = withHistory(two)
    const results: unknown[] = []
    const { release } = desk.journal
    let lostConnections = 2
    const reads = desk.readsWith({
      release: (claim, result) => {
        lostConnections -= 1
        if (lostConnections >= 0) return unavailable()
        results.push(result)
        return release(claim, result)
      },
    })
    if (failure !== undefined) desk.broker.fail(desk.account.id, failure(desk.account.id))
    const claim = await desk.claim()
    const caller = desk.sync(undefined, reads.synchroniseJournal)
    const [due, ...callers] = await Promise.all([
      reads.readDueJournal(claim, {
        mayContinue: () => true,
        hasReadFigures: async () => hasReadFigures,
      })(),
      caller(),
      caller(),
    ])
    expect([due, ...callers].map(({ _tag }) => _tag === 'Right')).toEqual(
      times(3, () => failure === undefined),
    )
    expect([desk.reads()[0], results]).toEqual([1, [expected]])
    expect(O.isSome(await rightOf(desk.journal.claim(desk.brokerAccount)))).toBe(true)
  },
)

it('a read is answered although its claim cannot be released', async () => {
  const desk = withHistory(two)
  const { synchroniseJournal } = desk.readsWith({ release: unavailable })
  expect(await rightOf(desk.sync(undefined, synchroniseJournal))).toMatchObject({ deals: 3 })
})

it('a caller who comes once the deals are written waits until they were compared with the balance', async () => {
  const desk = withHistory(two, { recordsEvents: false })
  const { accountInformation } = desk.broker
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  desk.broker.accountInformation = (account) => async () => {
    asked.resolve()
    await held.promise
    return accountInformation(account)()
  }
  const callers = [desk.sync()()]
  await asked.promise
  callers.push(desk.sync()())
  await setImmediate()
  held.resolve()
  const compared = E.right(expect.objectContaining({ check: expect.anything() }))
  expect(await Promise.all(callers)).toEqual([compared, compared])
  expect(desk.reads()).toEqual([1, 1])
})

it('a caller whose deals are fresh has them although a read that another needs fails', async () => {
  const desk = await synced(two)
  const known = await desk.state()
  // The balance could not be read since the deals changed.
  const { synchroniseJournal } = desk.readsWith({
    find: () => TE.right(O.some({ ...known, check: null } as never)),
  })
  desk.broker.fail(desk.account.id, down(desk.account.id))
  const readAt = desk.clock.now()
  const callers = [readAt, readAt - 1].map((since) => desk.sync(since, synchroniseJournal)())
  expect(await Promise.all(callers)).toMatchObject([
    E.left({ _tag: 'BrokerUnavailable' }),
    E.right({ deals: 3 }),
  ])
})

it('a due read ends after its page where it may not continue', async () => {
  const desk = withHistory(three, { pageSize: 2 })
  const claim = await desk.claim()
  expect(await tagOf(desk.readDueJournal(claim, stopping))).toBe('ServiceUnavailable')
  await desk.expectState({ deals: 2, syncedAt: null })
  await rightOf(desk.sync())
  await desk.expectTrades('3', '2')
})

it('a read that is wanted while another is under way is made, also where the clock of its process is fast', async () => {
  const desk = withHistory(two)
  const fast = createJournalReads({ ...desk, clock: { now: () => desk.clock.now() + hourMs } })
  const claim = await desk.claim()
  desk.pass(1)
  await desk.want()
  await rightOf(fast.readDueJournal(claim))
  await desk.expectState({ wantedAt: desk.clock.now() })
})

it('a due read is made once, and as it is due, where the clock of its process lags', async () => {
  const desk = await synced(two)
  const lagging = createJournalReads({ ...desk, clock: { now: () => desk.clock.now() - hourMs } })
  const readDue = async () => {
    const claim = await desk.claim()
    await rightOf(lagging.readDueJournal(claim))
  }
  await desk.want()
  await readDue()
  await desk.expectState({ wantedAt: null })
  const claim = await desk.claim()
  const reread = { rereadAt: desk.clock.now(), disagreements: 1, isDueToBalanceAlone: false }
  await rightOf(desk.journal.setReread(claim, reread))
  await rightOf(desk.journal.release(claim, 'read'))
  await readDue()
  await desk.expectState({ rereadAt: null })
})

it('a due read is shared by a caller of its process whose own claim came too late', async () => {
  const desk = withHistory(two)
  const release = desk.broker.hold()
  const due = await desk.claim()
  let claims = 0
  const begun = Promise.withResolvers<void>()
  const reads = desk.readsWith({
    claim: (account) => async () => {
      claims += 1
      await begun.promise
      return desk.journal.claim(account)()
    },
  })
  const caller = desk.sync(undefined, reads.synchroniseJournal)()
  await desk.pause(1)()
  const read = reads.readDueJournal(due)()
  begun.resolve()
  await desk.pause(1_000)()
  release()
  expect((await Promise.all([caller, read])).map(({ _tag }) => _tag)).toEqual(['Right', 'Right'])
  expect([claims, desk.reads()[0]]).toEqual([1, 1])
})

describe('a journal that disagrees with the broker', () => {
  it('is not reported where a deal came between the history and the balance', async () => {
    const desk = withHistory(two)
    desk.put(two, 102)
    // The deal shows in the history only after the balance was read.
    desk.fromBalanceRead(1, three, 102)
    await rightOf(desk.sync())
    expect(desk.disagreements).toEqual([])
    await desk.expectTrades('3', '2')
  })

  it('is compared at the next read where deals keep coming between the two', async () => {
    const desk = withHistory(two)
    desk.put(two, 102)
    desk.fromBalanceRead(1, three, 105)
    await rightOf(desk.sync())
    await desk.expectState({ rereadAt: null, check: { difference: 3 } })
    desk.put(three, 102)
    await desk.later()
    await desk.expectState(agrees)
    expect(desk.disagreements).toEqual([])
  })

  it('agrees again once the deals that it lacked are shown late', async () => {
    const desk = await synced(two)
    const opening = three.filter(({ id }) => id !== '32')
    desk.put(opening, 102)
    await desk.later()
    const rereadAt = desk.clock.now() + minuteMs
    await desk.expectState({ rereadAt, check: { difference: 1 } })
    desk.put(three)
    await desk.later()
    await desk.expectState({ ...agrees, disagreements: 0 })
    // Nothing was reported, because no read of the whole history disagreed.
    expect(desk.disagreements).toEqual([])
  })

  it.each([
    ['after an hour', hourMs, false],
    ['once another balance was read', 6_000, true],
  ])('is compared %s: a deal may be shown more than a day late', async (_, ms, isRead) => {
    const later = of('3').map(daysLater)
    const desk = await synced([deposit, ...later], { recordsEvents: false })
    desk.put([...two, ...later])
    await desk.later()
    expect(desk.reads()).toEqual([2, 1])
    desk.pass(1)
    const reading = await rightOf(desk.broker.accountInformation(desk.brokerAccount))
    if (isRead) await rightOf(desk.accounts.recordReading(owner, desk.account, reading))
    await desk.later(ms)
    await desk.expectState({ check: { difference: 1 }, disagreements: 1 })
    await desk.later(minuteMs)
    await desk.expectTrades('3', '2')
    await desk.expectState({ ...agrees, disagreements: 0 })
  })

  it('is reported once a read of the whole history disagrees too', async () => {
    const desk = await synced(two)
    desk.put(three, 105)
    await desk.later()
    expect(desk.disagreements).toEqual([])
    // A new deal that moved no money is no reason to wait.
    desk.fromBalanceRead(1, [...three, ...of('4').slice(0, 1)], 105)
    await desk.later(minuteMs)
    expect(desk.disagreements).toEqual([3])
    desk.fromBalanceRead(2, three, 106)
    await desk.later(2 * minuteMs)
    expect(desk.disagreements).toEqual([3, 4])
  })

  const agrees = { rereadAt: null, check: { difference: 0 } }
  const changed = edited(three, '22', { profit: 5 })
  const lacking21 = three.filter(({ id }) => id !== '21')
  type Shown = readonly [deals: readonly Deal[], balance?: number]
  it.each<[string, Shown, [nth: number, ...Shown] | null, string, object]>([
    ['writes a deal that changed', [changed], null, '3,2', agrees],
    ['removes a deal that neither reads nor the balance show', [two], null, '2', agrees],
    [
      'keeps all deals where none is shown and the balance is 0',
      [[]],
      null,
      '3,2',
      { disagreements: 2 },
    ],
    ['keeps a deal that the balance counts', [two, 102], null, '3,2', { disagreements: 2 }],
    [
      'keeps a deal whose removal would not bring the sum to the balance',
      [two, 103],
      null,
      '3,2',
      { disagreements: 2, check: { difference: 1 } },
    ],
    [
      'keeps a deal where only the first comparison disagreed',
      [two, 50],
      [2, two, 102],
      '3,2',
      { disagreements: 2 },
    ],
    [
      'keeps a deal that a full read shows again',
      [two, 101],
      [1, three, 101],
      '3,2',
      { disagreements: 2, check: { difference: -1 } },
    ],
    [
      'keeps a deal without money where only the first comparison disagreed',
      [lacking21, 50],
      [2, lacking21, 102],
      '3,2',
      { disagreements: 2 },
    ],
  ])('%s, once a minute later the whole history was read', async (_, shown, later, kept, after) => {
    const desk = await synced(three)
    desk.put(...shown)
    await desk.later()
    await desk.expectTrades('3', '2')
    const rereadAt = desk.clock.now() + minuteMs
    await desk.expectState({ rereadAt, disagreements: 1 })
    if (later !== null) {
      const [nth, deals, balance = 0] = later
      desk.fromBalanceRead(nth, deals, balance)
    }
    await desk.later(minuteMs)
    expect((await desk.tradeIds()).join()).toBe(kept)
    await desk.expectState({
      ...(after !== agrees && { rereadAt: desk.clock.now() + 2 * minuteMs }),
      ...after,
    })
  })

  it('emits the trade that is closed once a deal is removed', async () => {
    const another = { ...opening, id: '23', commission: -1 }
    const desk = await synced([deposit, opening, another, closing])
    desk.put(two)
    await desk.later()
    await desk.later(minuteMs)
    expect(desk.events.at(-1)).toMatchObject({ type: 'trade.closed', data: { profit: 1 } })
  })

  it('keeps deals where the balance cannot be read a second time', async () => {
    const desk = await synced(three)
    desk.put(two)
    await desk.later()
    const { accountInformation } = desk.broker
    let comparisons = 0
    desk.broker.accountInformation = (account) =>
      (comparisons += 1) === 1 ? accountInformation(account) : TE.left(down(desk.account.id))
    await desk.later(minuteMs)
    await desk.expectTrades('3', '2')
    expect(desk.disagreements).toEqual([])
    const rereadAt = desk.clock.now() + 2 * minuteMs
    await desk.expectState({ rereadAt, disagreements: 2 })
    desk.broker.accountInformation = accountInformation
    await desk.later(2 * minuteMs)
    await desk.expectTrades('2')
  })

  it('agrees where it keeps old deals that the broker cut off and the balance counts', async () => {
    const later = of('4').map(daysLater)
    const desk = await synced([...three, ...later])
    const corrected = edited(later, '42', { profit: 5 })
    desk.put(corrected, 107)
    await desk.later()
    await desk.expectState({ disagreements: 1 })
    await desk.later(minuteMs)
    await desk.expectTrades('4', '3', '2')
    await desk.expectState({ ...agrees, disagreements: 0 })
    expect(desk.disagreements).toEqual([])
  })

  it('reads the whole history less and less often while the balance counts the latest deals and the broker does not show them', async () => {
    const desk = await synced(three)
    desk.put(two, 102)
    await desk.later()
    for (const minutes of [1, 2, 4, 8]) {
      const rereadAt = desk.clock.now() + minutes * minuteMs
      await desk.expectState({ rereadAt, check: { difference: 0 } })
      await desk.later(minutes * minuteMs)
    }
    await desk.expectTrades('3', '2')
    expect(desk.disagreements).toEqual([])
  })

  it('reads a long history in ranges, whatever the order of the pages, and whatever is missing', async () => {
    const many = times(12_000, (index) => ({
      ...deposit,
      id: `${index}`,
      // Several in one millisecond.
      time: (deposit.time ?? 0) + Math.floor(index / 3),
    }))
    const [gone, kept] = [many.slice(4_998, 5_002), [...many.slice(0, 4_998), ...many.slice(5_002)]]
    const desk = await synced(kept, { pageSize: 1_000, recordsEvents: false })
    // Four deals come late, four vanish, and one changes.
    const shown = [...kept.slice(8), ...gone, { ...many[4], profit: 7 } as Deal].toReversed()
    desk.put(shown)
    await desk.later()
    const { dealsFrom, write } = desk.journal
    let most = 0
    const { synchroniseJournal } = desk.readsWith({
      dealsFrom: (...of) =>
        pipe(
          dealsFrom(...of),
          TE.tapIO((held) => () => void (most = Math.max(most, held.length))),
        ),
      write: (claim, change) => {
        most = Math.max(most, change.inserted.length)
        return write(claim, change)
      },
    })
    desk.pass(minuteMs)
    await rightOf(desk.sync(undefined, synchroniseJournal))
    expect(most).toBeLessThanOrEqual(5_000)
    await desk.expectState({ deals: 11_993, ...agrees })
    const stored = await rightOf(dealsFrom(desk.brokerAccount, 0, 20_000))
    expect(stored.map(({ id, profit }) => `${id} ${profit}`).toSorted()).toEqual(
      shown.map(({ id, profit }) => `${id} ${profit}`).toSorted(),
    )
  })

  it('is compared at the next read where the balance could not be read', async () => {
    const desk = withHistory(two, { recordsEvents: false })
    desk.broker.fail(desk.account.id, down(desk.account.id), ['accountInformation'])
    await rightOf(desk.sync())
    expect((await desk.state())?.check).toBeNull()
    desk.broker.heal(desk.account.id)
    await desk.later()
    expect((await desk.state())?.check).toMatchObject({ difference: 0 })
  })
})
