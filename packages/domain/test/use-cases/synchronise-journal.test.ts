// An account's journal is brought up to date with the broker's history: what is read, what is
// written, and what happens when the two disagree.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { brokerRateLimited } from '../../src/errors.ts'
import type { AccountId } from '../../src/primitives/ids.ts'
import { dayMs, minuteMs } from '../../src/primitives/instant.ts'
import type { Deal } from '../../src/trades/deal.ts'
import {
  brokerAccountOf,
  createJournalDesk,
  down,
  owner,
  rightOf,
  tagOf,
  type JournalDeskOptions,
} from './desk.ts'

const deposit = (id: string, amount: number, time: number): Deal => ({
  id,
  profit: amount,
  commission: 0,
  swap: 0,
  time,
})
const closed = (positionId: string, openedAt: number, profit = 1): readonly Deal[] => {
  const deal = { positionId, symbol: 'EURUSD', volume: 1, price: 1, commission: 0, swap: 0 }
  return [
    { ...deal, id: `${positionId}1`, side: 'buy', entry: 'in', profit: 0, time: openedAt },
    { ...deal, id: `${positionId}2`, side: 'sell', entry: 'out', profit, time: openedAt + 1 },
  ]
}

/** A desk with one account, and how often its broker was read. */
const withHistory = (deals: readonly Deal[], options: JournalDeskOptions = {}) => {
  const desk = createJournalDesk(options)
  // Days after the deals.
  desk.pass(10 * dayMs)
  const account = desk.link()
  desk.put(account, deals)
  const brokerAccount = brokerAccountOf(account)
  return {
    ...desk,
    account,
    put: (next: readonly Deal[], balance?: number) => desk.put(account, next, balance),
    sync: (since = desk.clock.now() - 1) => desk.synchroniseJournal(brokerAccount, since),
    pages: () => desk.broker.calls('dealsPage'),
    infos: () => desk.broker.calls('accountInformation'),
    state: async () => O.toUndefined(await rightOf(desk.journal.find(brokerAccount))),
    kept: async () =>
      (await rightOf(desk.journal.dealsFrom(brokerAccount, 0))).map(({ id }) => id).toSorted(),
    tradeIds: async () => {
      const selection = { accountIds: [account.id], filter: { profit: 'all' } } as const
      return (await rightOf(desk.trades.page(owner, selection, undefined, 100))).trades.map(
        ({ trade }) => trade.positionId,
      )
    },
    brokerAccount,
  }
}

describe('the first read', () => {
  it('reads every page once, and compares the balance once', async () => {
    const deals = [deposit('1', 100, 1), ...closed('2', 2), ...closed('3', 5)]
    const desk = withHistory(deals, { pageSize: 2, recordsEvents: false })
    await rightOf(desk.sync())
    expect(desk.pages()).toBe(3)
    expect(desk.infos()).toBe(1)
    expect(await desk.kept()).toEqual(deals.map(({ id }) => id).toSorted())
    expect(await desk.tradeIds()).toEqual(['3', '2'])
    expect(await desk.state()).toMatchObject({
      deals: 5,
      latestDealAt: 6,
      check: { difference: 0 },
      rereadAt: null,
    })
  })

  it('continues where it stopped, in another process too', async () => {
    const desk = withHistory([deposit('1', 100, 1), ...closed('2', 2), ...closed('3', 5)], {
      pageSize: 2,
      recordsEvents: false,
    })
    const third = down(desk.account.id)
    const { dealsPage } = desk.broker
    desk.broker.dealsPage = (account, window) =>
      window.offset === 4 ? TE.left(third) : dealsPage(account, window)
    expect(await desk.sync()()).toEqual(E.left(third))
    expect(await desk.state()).toMatchObject({ deals: 4, syncedAt: null })
    desk.broker.dealsPage = dealsPage
    const before = desk.pages()
    await rightOf(desk.otherProcess()(desk.brokerAccount, desk.clock.now() - 1))
    expect(desk.pages() - before).toBe(1)
    expect(await desk.tradeIds()).toEqual(['3', '2'])
  })

  it('stops at the most deals, and does not ask again', async () => {
    const desk = withHistory([...closed('1', 1), ...closed('2', 3), ...closed('3', 5)], {
      pageSize: 2,
      stopsAboveDeals: 3,
    })
    expect((await rightOf(desk.sync())).deals).toBe(4)
    const pages = desk.pages()
    expect((await rightOf(desk.sync())).deals).toBe(4)
    expect(desk.pages()).toBe(pages)
  })

  it('fails where the provider keeps returning the same page', async () => {
    const desk = withHistory(closed('1', 1))
    const page = { deals: [], nextOffset: 1_000, readAt: 0 }
    desk.broker.dealsPage = () => TE.right(page)
    expect(await tagOf(desk.sync())).toBe('BrokerUnavailable')
  })

  it('chains the balances of its events over its pages', async () => {
    const desk = withHistory(
      [deposit('1', 100, 1), ...closed('2', 2), ...closed('3', 5), deposit('4', -20, 8)],
      { pageSize: 2 },
    )
    await rightOf(desk.sync())
    const changes = desk.events.flatMap(({ type, data }) =>
      type === 'account.balance_changed' ? [[data['previous_balance'], data['new_balance']]] : [],
    )
    expect(changes).toEqual([
      [0, 100],
      [100, 101],
      [101, 102],
      [102, 82],
    ])
  })

  it('emits nothing for deals that are older than the link', async () => {
    const desk = createJournalDesk()
    desk.pass(10 * dayMs)
    const account = desk.link({ createdAt: 5 })
    desk.put(account, [...closed('1', 1), ...closed('2', 5)])
    await rightOf(desk.synchroniseJournal(brokerAccountOf(account), desk.clock.now() - 1))
    expect(
      desk.events.map(({ key }) => key).filter((key) => key.includes(':1') || key.includes(' 1 ')),
    ).toEqual([])
  })
})

describe('a later read', () => {
  it('is one page and nothing else where nothing is new', async () => {
    const desk = withHistory(closed('1', 1))
    await rightOf(desk.sync())
    const [pages, infos] = [desk.pages(), desk.infos()]
    desk.pass(6_000)
    await rightOf(desk.sync())
    expect([desk.pages() - pages, desk.infos() - infos]).toEqual([1, 0])
  })

  it('is skipped while the last is fresh enough', async () => {
    const desk = withHistory(closed('1', 1))
    await rightOf(desk.sync())
    const pages = desk.pages()
    desk.pass(4_000)
    await rightOf(desk.sync(desk.clock.now() - 5_000))
    expect(desk.pages()).toBe(pages)
    await rightOf(desk.journal.want(desk.brokerAccount, desk.clock.now()))
    await rightOf(desk.sync(desk.clock.now() - 5_000))
    expect(desk.pages()).toBe(pages + 1)
  })

  it('adds what is new, also what arrives late and out of order', async () => {
    const [first, second, third] = [
      closed('1', dayMs),
      closed('2', dayMs + 100),
      closed('3', dayMs + 50),
    ]
    const desk = withHistory([...first, ...second])
    await rightOf(desk.sync())
    desk.put([...second, ...third.toReversed(), ...first])
    desk.pass(6_000)
    await rightOf(desk.sync())
    expect(await desk.tradeIds()).toEqual(['2', '3', '1'])
    expect(desk.disagreements).toEqual([])
  })

  it('is shared by its callers', async () => {
    const desk = withHistory(closed('1', 1))
    const all = await Promise.all(Array.from({ length: 10 }, () => desk.sync()()))
    expect(all.every(E.isRight)).toBe(true)
    expect(desk.pages()).toBe(1)
  })

  it('is not made by two processes at once', async () => {
    const desk = withHistory(closed('1', 1))
    const release = desk.broker.hold()
    const first = desk.sync()()
    const second = desk.otherProcess()(desk.brokerAccount, desk.clock.now() - 1)()
    release()
    expect((await Promise.all([first, second])).every(E.isRight)).toBe(true)
    expect(desk.pages()).toBe(1)
  })

  it.each([down, (id: AccountId) => brokerRateLimited(id, 1, 0)])(
    'fails as the broker does, and the stored deals stay',
    async (failure) => {
      const desk = withHistory(closed('1', 1))
      await rightOf(desk.sync())
      const error = failure(desk.account.id)
      desk.broker.fail(desk.account.id, error)
      desk.pass(6_000)
      expect(await desk.sync()()).toEqual(E.left(error))
      desk.broker.heal(desk.account.id)
      await rightOf(desk.sync())
      expect(await desk.tradeIds()).toEqual(['1'])
    },
  )

  it('starts over where the account was linked to another one at the provider', async () => {
    const desk = withHistory(closed('1', 1))
    await rightOf(desk.sync())
    const linked = desk.relink(desk.account, {
      provider: { providerAccountId: 'another', region: null },
    })
    desk.put([...closed('2', 3), ...closed('3', 5)])
    await rightOf(desk.synchroniseJournal(brokerAccountOf(linked), desk.clock.now() - 1))
    expect(await desk.tradeIds()).toEqual(['3', '2'])
  })
})

describe('a journal that disagrees with the broker', () => {
  const history = [deposit('1', 100, 1), ...closed('2', 2)]

  it('is not reported where a deal came between the history and the balance', async () => {
    const desk = withHistory(history)
    desk.put(history, 102)
    const { accountInformation } = desk.broker
    desk.broker.accountInformation = (account) => {
      // The deal shows in the history only after the balance was read.
      desk.put([...history, ...closed('3', 5)], 102)
      desk.broker.accountInformation = accountInformation
      return accountInformation(account)
    }
    await rightOf(desk.sync())
    expect(desk.disagreements).toEqual([])
    expect(await desk.tradeIds()).toEqual(['3', '2'])
  })

  it('writes a deal that changed, and reads everything again although the sum agrees', async () => {
    const desk = withHistory(history)
    await rightOf(desk.sync())
    desk.put([deposit('1', 100, 1), ...closed('2', 2, 5)])
    desk.pass(6_000)
    await rightOf(desk.sync())
    expect((await desk.state())?.rereadAt).toBe(desk.clock.now() + minuteMs)
    desk.pass(minuteMs)
    await rightOf(desk.sync())
    expect(await desk.state()).toMatchObject({ rereadAt: null, check: { difference: 0 } })
  })

  it('removes a deal that the broker withdrew, once a full read shows neither it nor its money', async () => {
    const desk = withHistory([...history, ...closed('3', 5)])
    await rightOf(desk.sync())
    desk.put(history)
    desk.pass(6_000)
    await rightOf(desk.sync())
    expect(await desk.tradeIds()).toEqual(['3', '2'])
    desk.pass(minuteMs)
    await rightOf(desk.sync())
    expect(await desk.tradeIds()).toEqual(['2'])
    expect(await desk.state()).toMatchObject({ rereadAt: null, check: { difference: 0 } })
  })

  it('keeps deals that a read does not show while the balance still counts them', async () => {
    const desk = withHistory([...history, ...closed('3', 5)])
    await rightOf(desk.sync())
    desk.put(history, 102)
    desk.pass(6_000)
    await rightOf(desk.sync())
    desk.pass(minuteMs)
    await rightOf(desk.sync())
    expect(await desk.tradeIds()).toEqual(['3', '2'])
    expect(await desk.state()).toMatchObject({
      rereadAt: desk.clock.now() + 2 * minuteMs,
      check: { difference: 0 },
    })
  })

  it('keeps deals that full reads do not show where only the first comparison disagreed', async () => {
    const desk = withHistory([...history, ...closed('3', 5)])
    await rightOf(desk.sync())
    desk.put(history, 50)
    desk.pass(6_000)
    await rightOf(desk.sync())
    desk.pass(minuteMs)
    const { accountInformation } = desk.broker
    desk.broker.accountInformation = (account) => {
      desk.broker.accountInformation = (again) => {
        desk.put(history, 102)
        return accountInformation(again)
      }
      return accountInformation(account)
    }
    await rightOf(desk.sync())
    expect(await desk.tradeIds()).toEqual(['3', '2'])
  })

  it('keeps deals that a full read shows again', async () => {
    const desk = withHistory([...history, ...closed('3', 5)])
    await rightOf(desk.sync())
    desk.put(history, 50)
    desk.pass(6_000)
    await rightOf(desk.sync())
    desk.pass(minuteMs)
    const { accountInformation } = desk.broker
    desk.broker.accountInformation = (account) => {
      desk.put([...history, ...closed('3', 5)], 50)
      return accountInformation(account)
    }
    await rightOf(desk.sync())
    expect(await desk.tradeIds()).toEqual(['3', '2'])
    expect(await desk.state()).toMatchObject({ disagreements: 2, check: { difference: -52 } })
  })

  it('is compared at the next read where the balance could not be read', async () => {
    const desk = withHistory(history, { recordsEvents: false })
    desk.broker.fail(desk.account.id, down(desk.account.id), ['accountInformation'])
    await rightOf(desk.sync())
    expect((await desk.state())?.check).toBeNull()
    desk.broker.heal(desk.account.id)
    desk.pass(6_000)
    await rightOf(desk.sync())
    expect((await desk.state())?.check).toMatchObject({ difference: 0 })
  })
})
