// What every adapter of the broker port does, as numbered cases, reads only (specification 4.3 rule 3, 4.5; decisions 26, 29, 33). The
// fake runs it, and the real adapter does over recorded shapes and over a simulated provider.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { afterEach, describe, expect, it } from 'vitest'
import type { BrokerAccount } from '../accounts/account.ts'
import { brokerUnavailable, notProvisioned } from '../errors.ts'
import type { BrokerReadError } from '../errors.ts'
import { dealKey, dealKinds, dealReasons } from '../journal/broker-deal.ts'
import type { BrokerDeal, DealsPage, DealsWindow } from '../journal/broker-deal.ts'
import type { Broker } from '../ports/broker.ts'
import { byAge } from '../positions/position.ts'
import type { Side } from '../positions/position.ts'

/** A position that the venue is to hold; it chooses ticket, prices and times. */
export interface VenuePosition {
  readonly symbol: string
  readonly side: Side
  /** Lots. */
  readonly volume: number
  readonly stopLoss?: number
  readonly takeProfit?: number
}

/** What the venue is to hold for one account. */
export interface VenueBook {
  readonly tradeMode: 'demo' | 'contest' | 'real'
  readonly broker: string
  readonly currency: string
  readonly leverage: number
  readonly positions: readonly VenuePosition[]
  /** The whole history where there are no positions; a venue may add the deals that opened its positions. */
  readonly deals: readonly BrokerDeal[]
}

export type VenueTrouble = 'unavailable' | 'rate_limited' | 'not_provisioned'

/** A broker with the world behind it as the case asked for. */
export interface Venue {
  readonly broker: Broker
  /** One for each book, in the order of the books. */
  readonly accounts: readonly BrokerAccount[]
  /** From now on every read of that account meets the trouble. */
  readonly trouble: (account: BrokerAccount, trouble: VenueTrouble) => Promise<void>
  /** The broker's history of that account grows by deals, which stand in it by their times. */
  readonly addDeals: (account: BrokerAccount, deals: readonly BrokerDeal[]) => Promise<void>
  /** From now on no margin of that account can be computed; everything else can be read. */
  readonly withholdMargins: (account: BrokerAccount) => Promise<void>
  readonly close: () => Promise<void>
}

const plainBook: VenueBook = {
  tradeMode: 'demo',
  broker: 'Contract Markets',
  currency: 'EUR',
  leverage: 50,
  positions: [],
  deals: [],
}

const start = Date.parse('2024-03-04T09:00:00.250Z')

const deal = (id: string, parts: Partial<BrokerDeal>): BrokerDeal => ({
  id,
  kind: parts.side ?? 'buy',
  positionId: '7',
  side: 'buy',
  symbol: 'EURUSD',
  volume: 0.1,
  price: 1.10123,
  profit: 0,
  commission: 0,
  swap: 0,
  ...parts,
})

const bare = (id: string, kind: BrokerDeal['kind'], parts: Partial<BrokerDeal>): BrokerDeal => ({
  id,
  kind,
  profit: 0,
  commission: 0,
  swap: 0,
  ...parts,
})

// One of every kind that a history holds: a deposit, an opening and a closing deal, a reversal, a close-by, an unknown entry, an opening and
// a closing deal of one id and time, deals that lack volume, price, symbol or time, one whose time cannot be read, bookings of every kind, and
// closing deals of every reason.
const mixedDeals: readonly BrokerDeal[] = [
  bare('100', 'balance', { profit: 10_000.1, time: start }),
  deal('101', { entry: 'in', commission: -0.35, time: start + 1, reason: 'expert', orderId: '7', stopLoss: 1.05, takeProfit: 1.2 }),
  deal('102', { side: 'sell', entry: 'out', profit: 12.34, swap: -0.07, time: start + 2, reason: 'take_profit', takeProfit: 1.12 }),
  deal('103', { entry: 'inout', positionId: '8', time: start + 3 }),
  deal('104', { entry: 'out_by', positionId: '9', time: start + 4 }),
  deal('105', { positionId: '9', time: start + 5 }),
  deal('106', { entry: 'in', positionId: '10', time: start + 6 }),
  deal('106', { side: 'sell', entry: 'out', positionId: '10', time: start + 6 }),
  bare('107', 'sell', { positionId: '11', side: 'sell', entry: 'out', profit: 1, time: start + 7 }),
  deal('108', { positionId: '12', side: 'sell', entry: 'out', symbol: 'XAUUSD.r', volume: 1, price: 1_950, profit: 1 }),
  deal('109', { entry: 'in', positionId: '13', time: Number.NaN }),
  bare('110', 'balance', { positionId: '14', symbol: 'EURUSD', profit: -3, time: start + 8 }),
  ...dealKinds
    .filter((kind) => kind !== 'buy' && kind !== 'sell')
    .map((kind, index) => bare(String(200 + index), kind, { profit: 0.1 + index, time: start + 9 })),
  ...dealReasons.map((reason, index) =>
    deal(String(300 + index), { side: 'sell', entry: 'out', reason, orderId: String(900 + index), time: start + 10 }),
  ),
]

/**
 * Registers the suite.
 * @param open makes a world with the books; it is closed after each case
 */
export const describeBrokerContract = (name: string, open: (books: readonly VenueBook[]) => Promise<Venue>): void => {
  describe(`the broker contract, by ${name}`, () => {
    let venue: Venue | undefined
    afterEach(async () => {
      await venue?.close()
      venue = undefined
    })
    const openWith = async (...books: readonly Partial<VenueBook>[]) => {
      venue = await open(books.map((book) => ({ ...plainBook, ...book })))
      const { accounts } = venue
      return { ...venue, account: accountAt(accounts, 0), accounts }
    }

    it('B-01 reads who the broker is, the currency, the leverage and whole figures', async () => {
      const { broker, account } = await openWith({})
      const reading = expectRight(await broker.accountInformation(account)())
      expect(reading).toMatchObject({ tradeMode: 'demo', broker: 'Contract Markets', currency: 'EUR', figures: { leverage: 50 } })
      const { balance, equity, margin } = reading.figures
      expect([balance, equity, margin].every(Number.isFinite)).toBe(true)
    })

    it('B-02 tells a real and a contest account from a demo one', async () => {
      const { broker, accounts } = await openWith({ tradeMode: 'real' }, { tradeMode: 'contest' })
      const readings = await Promise.all(accounts.map(async (account) => expectRight(await broker.accountInformation(account)())))
      expect(readings.map(({ tradeMode }) => tradeMode)).toEqual(['real', 'contest'])
    })

    it('B-03 has no margin level where nothing is open', async () => {
      const { broker, account } = await openWith({})
      expect(expectRight(await broker.accountInformation(account)()).figures).toMatchObject({ margin: 0, marginLevel: null })
    })

    it('B-04 reads positions oldest first, with the levels that they have and no others', async () => {
      const { broker, account } = await openWith({
        positions: [
          { symbol: 'EURUSD', side: 'buy', volume: 0.3, stopLoss: 0.5, takeProfit: 2.5 },
          { symbol: 'XAUUSD', side: 'sell', volume: 0.02 },
          { symbol: 'EURUSD', side: 'sell', volume: 0.1, stopLoss: 2.5 },
        ],
      })
      const { positions } = expectRight(await broker.positions(account)())
      expect(positions).toEqual(positions.toSorted(byAge))
      const read = positions.map(({ symbol, side, volume, stopLoss, takeProfit }) => ({ symbol, side, volume, stopLoss, takeProfit }))
      expect(read.toSorted((a, b) => b.volume - a.volume)).toEqual([
        { symbol: 'EURUSD', side: 'buy', volume: 0.3, stopLoss: 0.5, takeProfit: 2.5 },
        { symbol: 'EURUSD', side: 'sell', volume: 0.1, stopLoss: 2.5, takeProfit: undefined },
        { symbol: 'XAUUSD', side: 'sell', volume: 0.02, stopLoss: undefined, takeProfit: undefined },
      ])
      expect(positions.flatMap((position) => Object.values(position)).filter((value) => value === undefined || value === null)).toEqual([])
      expect(new Set(positions.map(({ ticket }) => ticket)).size).toBe(3)
      expect(positions.map(({ realizedPnl }) => realizedPnl)).toEqual([0, 0, 0])
    })

    it('B-05 reads an account without positions as an empty list', async () => {
      const { broker, account } = await openWith({})
      expect(expectRight(await broker.positions(account)()).positions).toEqual([])
    })

    it('B-06 reads deals of every kind, each once and unchanged', async () => {
      const { broker, account } = await openWith({ deals: mixedDeals })
      expect(sorted(await allDeals(broker, account))).toEqual(sorted(mixedDeals))
    })

    it('B-07 reads an empty history as an empty last page', async () => {
      const { broker, account } = await openWith({})
      expect(expectRight(await broker.dealsPage(account, ever)())).toMatchObject({ deals: [], nextOffset: null })
    })

    it.each([999, 1_000, 1_001, 2_000, 2_345])('B-08 reads a history of %i deals whole, page by page', async (count) => {
      const { broker, account } = await openWith({ deals: manyDeals(count) })
      const deals = await allDeals(broker, account)
      expect(new Set(deals.map(({ id }) => id)).size).toBe(count)
      expect(deals.length).toBe(count)
    })

    it('B-09 computes the margin of a position, more for more lots', async () => {
      const { broker, account } = await openWith({})
      const query = { symbol: 'EURUSD', side: 'buy', openPrice: 1.1 } as const
      const small = expectRight(await broker.requiredMargin(account, { ...query, volume: 0.1 })())
      const large = expectRight(await broker.requiredMargin(account, { ...query, volume: 1 })())
      expect(O.isSome(small) && O.isSome(large) && small.value > 0 && large.value > small.value).toBe(true)
    })

    it('B-10 says none where the margin cannot be computed', async () => {
      const { broker, account, withholdMargins } = await openWith({})
      await withholdMargins(account)
      const margin = await broker.requiredMargin(account, { symbol: 'EURUSD', side: 'sell', volume: 1, openPrice: 1.1 })()
      expect(margin).toEqual(E.right(O.none))
    })

    it('B-11 fails every read of a broker that cannot be read, and names the account', async () => {
      const { broker, account, trouble } = await openWith({ positions: [{ symbol: 'EURUSD', side: 'buy', volume: 1 }], deals: mixedDeals })
      await trouble(account, 'unavailable')
      for (const failure of await failuresOf(broker, account)) {
        expect(failure).toEqual(brokerUnavailable(account.accountId, expect.any(String)))
      }
    })

    it('B-12 fails every read that the broker limits, with whole seconds to wait', async () => {
      const { broker, account, trouble } = await openWith({ deals: mixedDeals })
      await trouble(account, 'rate_limited')
      for (const failure of await failuresOf(broker, account)) {
        expect(failure).toEqual({ _tag: 'BrokerRateLimited', accountId: account.accountId, retryAfterSeconds: expect.any(Number) })
        const wait = failure._tag === 'BrokerRateLimited' ? failure.retryAfterSeconds : 0
        expect(wait >= 1 && Number.isInteger(wait)).toBe(true)
      }
    })

    it('B-13 says of an account that the provider does not know that it is not provisioned', async () => {
      const { broker, account, trouble } = await openWith({})
      await trouble(account, 'not_provisioned')
      expect(await broker.accountInformation(account)()).toEqual(E.left(notProvisioned(account.accountId)))
      expect(await broker.positions(account)()).toEqual(E.left(notProvisioned(account.accountId)))
      expect(await broker.dealsPage(account, ever)()).toEqual(E.left(notProvisioned(account.accountId)))
    })

    it('B-14 keeps accounts apart, also when one of them fails', async () => {
      const { broker, accounts, trouble } = await openWith({ deals: manyDeals(3) }, { deals: manyDeals(5) })
      const [first, second] = [accountAt(accounts, 0), accountAt(accounts, 1)]
      await trouble(first, 'unavailable')
      expect(E.isLeft(await broker.dealsPage(first, ever)())).toBe(true)
      expect(await allDeals(broker, second)).toHaveLength(5)
      expect(E.isRight(await broker.accountInformation(second)())).toBe(true)
    })

    it('B-15 names its source', async () => {
      const { broker } = await openWith({})
      expect(broker.source).toMatch(/^[a-z][a-z0-9-]*$/)
    })

    it('B-16 reads the deals of a window, its start included and its end excluded', async () => {
      const { broker, account } = await openWith({ deals: [0, 1, 2, 3].map((ms) => deal(String(ms), { entry: 'in', time: start + ms })) })
      const idsIn = async (window: DealsWindow) => new Set(expectRight(await broker.dealsPage(account, window)()).deals.map(({ id }) => id))
      expect(await idsIn({ from: start + 1, to: start + 3, offset: 0 })).toEqual(new Set(['1', '2']))
      expect(await idsIn({ from: start + 4, to: start + 9, offset: 0 })).toEqual(new Set())
      expect((await idsIn({ from: start, to: start + 9, offset: 3 })).size).toBe(1)
      expect(await idsIn({ from: start, to: start + 9, offset: 4 })).toEqual(new Set())
    })

    it('B-17 repeats rows of the page before, and loses none, where the history has grown between two pages', async () => {
      const known = manyDeals(1_500)
      const late = [1, 2, 3].map((id) => deal(String(id), { entry: 'in', time: start - id }))
      const { broker, account, addDeals } = await openWith({ deals: known })
      const first = expectRight(await broker.dealsPage(account, ever)())
      await addDeals(account, late)
      const rest = await allDeals(broker, account, first.nextOffset ?? Number.NaN)
      const firstIds = new Set(first.deals.map(({ id }) => id))
      expect(rest.filter(({ id }) => firstIds.has(id))).toHaveLength(3)
      expect(new Set([...first.deals, ...rest].map(dealKey))).toEqual(new Set(known.map(dealKey)))
      expect(await allDeals(broker, account)).toHaveLength(1_503)
    })
  })
}

const manyDeals = (count: number): readonly BrokerDeal[] =>
  Array.from({ length: count }, (_, index) => deal(String(1_000_000 + index), { entry: 'in', time: start + Math.floor(index / 3) }))

const ever: DealsWindow = { from: 0, to: Date.parse('2100-01-01T00:00:00.000Z'), offset: 0 }

const allDeals = async (broker: Broker, account: BrokerAccount, from = 0): Promise<readonly BrokerDeal[]> => {
  const deals: BrokerDeal[] = []
  for (let offset: number | null = from; offset !== null;) {
    const page: DealsPage = expectRight(await broker.dealsPage(account, { ...ever, offset })())
    deals.push(...page.deals)
    offset = page.nextOffset
  }
  return deals
}

const sorted = (deals: readonly BrokerDeal[]): readonly BrokerDeal[] =>
  deals.toSorted((a, b) => Number(a.id) - Number(b.id) || ((a.entry ?? '') < (b.entry ?? '') ? -1 : 1))

const failuresOf = async (broker: Broker, account: BrokerAccount): Promise<readonly BrokerReadError[]> => [
  expectLeft(await broker.accountInformation(account)()),
  expectLeft(await broker.positions(account)()),
  expectLeft(await broker.dealsPage(account, ever)()),
  expectLeft(await broker.requiredMargin(account, { symbol: 'EURUSD', side: 'buy', volume: 1, openPrice: 1.1 })()),
]

const accountAt = (accounts: readonly BrokerAccount[], index: number): BrokerAccount => {
  const account = accounts[index]
  if (!account) throw new Error(`The venue opened no account ${index}`)
  return account
}

const expectRight = <L, A>(either: E.Either<L, A>): A => {
  if (E.isLeft(either)) throw new Error(`Expected a reading, got ${JSON.stringify(either.left)}`)
  return either.right
}

const expectLeft = <L, A>(either: E.Either<L, A>): L => {
  if (E.isRight(either)) throw new Error(`Expected a failure, got ${JSON.stringify(either.right)}`)
  return either.left
}
