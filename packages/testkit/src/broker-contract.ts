// What every adapter of the broker port does: the fake, and the real one over a simulated provider.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { afterEach, describe, expect, it } from 'vitest'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import { refuse } from '@tradeport/domain/errors'
import { dealKey, type BrokerDeal, type DealsWindow } from '@tradeport/domain/journal'
import type { Broker } from '@tradeport/domain/ports'
import { byAge, type Side } from '@tradeport/domain/positions'
import { rightOf } from './stored-records.ts'

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
interface VenueBook {
  readonly tradeMode: 'demo' | 'contest' | 'real'
  readonly broker: string
  readonly currency: string
  readonly leverage: number
  readonly positions: readonly VenuePosition[]
  /**
   * The whole history where there are no positions; a venue may add the deals that opened its
   * positions.
   */
  readonly deals: readonly BrokerDeal[]
}

export const venuePositionOf = ({
  symbol,
  side,
  volume,
  stopLoss,
  takeProfit,
}: VenuePosition): VenuePosition => ({
  symbol,
  side,
  volume,
  ...(stopLoss !== undefined && { stopLoss }),
  ...(takeProfit !== undefined && { takeProfit }),
})
export const bySymbol = (a: VenuePosition, b: VenuePosition): number =>
  a.symbol < b.symbol ? -1 : 1

export type VenueTrouble = 'unavailable' | 'rate_limited' | 'not_provisioned'

/** A broker with the world behind it as the case asked for. */
interface Venue {
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
const booking = { profit: 0, commission: 0, swap: 0 }
const opened = {
  kind: 'buy',
  entry: 'in',
  positionId: '7',
  side: 'buy',
  symbol: 'EURUSD',
  volume: 0.1,
  price: 1.10123,
  ...booking,
} as const
const closed = { ...opened, kind: 'sell', side: 'sell', entry: 'out' } as const

// With every field, two of one id and time, one without a side, and two without a time that can be read.
const mixedDeals: readonly BrokerDeal[] = [
  {
    ...opened,
    id: '101',
    commission: -0.35,
    time: start + 1,
    reason: 'expert',
    orderId: '7',
    stopLoss: 1.05,
    takeProfit: 1.2,
  },
  { ...opened, id: '106', time: start + 6 },
  { ...closed, id: '106', time: start + 6 },
  { ...booking, id: '107', kind: 'balance', profit: 0.1, time: start + 7 },
  { ...closed, id: '108', positionId: '12' },
  { ...opened, id: '109', positionId: '13', time: Number.NaN },
]
const manyDeals = (count: number): readonly BrokerDeal[] =>
  Array.from({ length: count }, (_, index) => ({
    ...opened,
    id: String(1_000_000 + index),
    time: start + Math.floor(index / 3),
  }))

const position = { symbol: 'EURUSD', side: 'buy', volume: 1, openPrice: 1.1 } as const
const ever: DealsWindow = { from: 0, to: Date.parse('2100-01-01T00:00:00.000Z'), offset: 0 }
const inOrder = (deals: readonly BrokerDeal[]) =>
  deals.toSorted((a, b) => (dealKey(a) < dealKey(b) ? -1 : 1))
const allDeals = async (
  broker: Broker,
  account: BrokerAccount,
  from = 0,
): Promise<readonly BrokerDeal[]> => {
  const { deals, nextOffset } = await rightOf(broker.dealsPage(account, { ...ever, offset: from }))
  return nextOffset === null ? deals : [...deals, ...(await allDeals(broker, account, nextOffset))]
}

/** @param open makes a world with the books; it is closed after each case */
export const describeBrokerContract = (
  name: string,
  open: (books: readonly VenueBook[]) => Promise<Venue>,
): void => {
  describe(`the broker contract, by ${name}`, () => {
    let venue: Venue | undefined
    afterEach(() => venue?.close())
    const openWith = async (...books: readonly Partial<VenueBook>[]) => {
      venue = await open(books.map((book) => ({ ...plainBook, ...book })))
      const [account, other] = venue.accounts as [BrokerAccount, BrokerAccount]
      return { ...venue, account, other }
    }

    it.each(['demo', 'real', 'contest'] as const)(
      'reads the figures of a %s account, without a margin level where nothing is open',
      async (tradeMode) => {
        const { broker, account } = await openWith({ tradeMode })
        const reading = await rightOf(broker.accountInformation(account))
        expect(reading).toMatchObject({ tradeMode, broker: 'Contract Markets', currency: 'EUR' })
        const money = expect.any(Number)
        expect(reading.figures).toMatchObject({
          leverage: 50,
          balance: money,
          equity: money,
          margin: 0,
          marginLevel: null,
        })
        expect(await rightOf(broker.positions(account))).toMatchObject({ positions: [] })
        expect(await rightOf(broker.dealsPage(account, ever))).toMatchObject({
          deals: [],
          nextOffset: null,
        })
      },
    )

    it('reads positions oldest first, with the levels that they have and no others', async () => {
      const held: readonly VenuePosition[] = [
        { symbol: 'EURUSD', side: 'buy', volume: 0.3, stopLoss: 0.5, takeProfit: 2.5 },
        { symbol: 'GBPUSD', side: 'sell', volume: 0.1, stopLoss: 2.5 },
        { symbol: 'XAUUSD', side: 'sell', volume: 0.02 },
      ]
      const { broker, account } = await openWith({ positions: held })
      const { positions } = await rightOf(broker.positions(account))
      expect(positions).toEqual(positions.toSorted(byAge))
      expect(new Set(positions.map(({ ticket }) => ticket)).size).toBe(3)
      expect(positions.map(venuePositionOf).toSorted(bySymbol)).toEqual(held)
    })

    it('reads every deal once and unchanged', async () => {
      const { broker, account } = await openWith({ deals: mixedDeals })
      expect(inOrder(await allDeals(broker, account))).toEqual(inOrder(mixedDeals))
    })

    it.each([999, 1_000, 2_345])(
      'reads a history of %i deals page by page, and repeats rows where it grows meanwhile',
      async (count) => {
        const known = manyDeals(count)
        const { broker, account, addDeals } = await openWith({ deals: known })
        expect((await allDeals(broker, account)).map(dealKey)).toHaveLength(count)
        const first = await rightOf(broker.dealsPage(account, ever))
        await addDeals(
          account,
          [1, 2, 3].map((id) => ({ ...opened, id: String(id), time: start - id })),
        )
        const rest =
          first.nextOffset === null ? [] : await allDeals(broker, account, first.nextOffset)
        const all = [...first.deals, ...rest].map(dealKey)
        expect(new Set(all)).toEqual(new Set(known.map(dealKey)))
        if (rest.length > 0) expect(all).toHaveLength(count + 3)
      },
    )

    it('reads the deals of a window, its start included and its end excluded', async () => {
      const { broker, account } = await openWith({
        deals: [0, 1, 2, 3].map((ms) => ({ ...opened, id: String(ms), time: start + ms })),
      })
      const idsIn = async (from: number, to: number, offset = 0) => {
        const window = { from: start + from, to: start + to, offset }
        const { deals } = await rightOf(broker.dealsPage(account, window))
        return deals.map(({ id }) => id).toSorted()
      }
      expect([
        await idsIn(1, 3),
        await idsIn(4, 9),
        (await idsIn(0, 9, 3)).length,
        await idsIn(0, 9, 4),
      ]).toEqual([['1', '2'], [], 1, []])
    })

    it('computes the margin of a position, more for more lots, and none where it cannot be computed', async () => {
      const { broker, account, withholdMargins } = await openWith({})
      const margin = (volume: number) =>
        rightOf(broker.requiredMargin(account, { ...position, volume }))
      const small = O.getOrElse(() => 0)(await margin(0.1))
      expect(small).toBeGreaterThan(0)
      expect(O.getOrElse(() => 0)(await margin(1))).toBeGreaterThan(small)
      await withholdMargins(account)
      expect(await margin(1)).toEqual(O.none)
    })

    it.each<[VenueTrouble, (account: BrokerAccount) => object]>([
      [
        'unavailable',
        ({ accountId }) => refuse('BrokerUnavailable', { accountId, reason: expect.any(String) }),
      ],
      [
        'rate_limited',
        ({ accountId }) => ({
          _tag: 'BrokerRateLimited',
          accountId,
          retryAfterSeconds: expect.toSatisfy((s) => Number.isInteger(s) && s >= 1),
        }),
      ],
      ['not_provisioned', ({ accountId }) => refuse('NotProvisioned', { accountId })],
    ])('fails every read of an account that is %s, and no other', async (trouble, expected) => {
      const { broker, account, other, ...venue } = await openWith(
        { deals: mixedDeals },
        { deals: manyDeals(5) },
      )
      await venue.trouble(account, trouble)
      for (const read of [
        broker.accountInformation(account),
        broker.positions(account),
        broker.dealsPage(account, ever),
      ])
        expect(await read()).toEqual(E.left(expected(account)))
      // Its failure may be that of the symbol.
      expect(await broker.requiredMargin(account, position)()).toMatchObject({ _tag: 'Left' })
      // The provider's limit is one for all accounts.
      if (trouble === 'rate_limited') return
      expect(await allDeals(broker, other)).toHaveLength(5)
      expect(E.isRight(await broker.accountInformation(other)())).toBe(true)
    })
  })
}
