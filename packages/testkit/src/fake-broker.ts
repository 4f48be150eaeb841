// A broker in memory that tests put figures, positions, deals and failures into; it keeps the same
// contract as the real adapter.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { AccountReading, BrokerAccount } from '@tradeport/domain/accounts'
import type { BrokerDeal, DealsPage, DealsWindow } from '@tradeport/domain/journal'
import type { Broker, MarginQuery, Clock } from '@tradeport/domain/ports'
import { byAge, type BrokerPosition } from '@tradeport/domain/positions'
import type { AccountId } from '@tradeport/domain/primitives'
import { isReadableTime, type Deal } from '@tradeport/domain/trades'
import { createFakeReads, type ReadControls } from './fake-reads.ts'

export type BrokerRead = 'accountInformation' | 'positions' | 'dealsPage' | 'requiredMargin'

/** What the fake holds for one account. */
export interface FakeBook {
  readonly information: Omit<AccountReading, 'readAt'>
  /** In any order. */
  readonly positions: readonly BrokerPosition[]
  /**
   * In the order in which the provider gives them. One without a kind has that of its side, or is a
   * balance operation.
   */
  readonly deals: readonly (Deal & Partial<BrokerDeal>)[]
  /** What a position needs; none where it cannot be computed. */
  readonly margin: (query: MarginQuery) => O.Option<number>
}

export interface FakeBroker extends Broker, ReadControls<BrokerRead> {
  /**
   * Puts an account in, or changes the named parts of its book. An account that was never put in is
   * not provisioned.
   */
  readonly put: (accountId: AccountId, book?: Partial<FakeBook>) => void
}

const emptyBook: FakeBook = {
  information: {
    tradeMode: 'demo',
    broker: 'Fake Broker',
    currency: 'USD',
    figures: {
      balance: 10_000,
      equity: 10_000,
      margin: 0,
      freeMargin: 10_000,
      marginLevel: null,
      leverage: 100,
    },
  },
  positions: [],
  deals: [],
  margin: ({ volume, openPrice }) => O.some(volume * 1_000 * openPrice),
}

/**
 * @param clock stamps what is read
 * @param pageSize the most deals of a page
 */
export const createFakeBroker = (clock: Clock, pageSize = 1_000): FakeBroker => {
  const { books, open, controls } = createFakeReads<BrokerRead, FakeBook>()
  const openAt = (read: BrokerRead, account: BrokerAccount) =>
    pipe(
      TE.fromIO(clock.now),
      TE.flatMap((readAt) =>
        pipe(
          open(read, account),
          TE.map((book) => ({ ...book, readAt })),
        ),
      ),
    )
  return {
    ...controls,
    source: 'fake',
    accountInformation: (account) =>
      pipe(
        openAt('accountInformation', account),
        TE.map(({ information, readAt }) => ({ ...information, readAt })),
      ),
    positions: (account) =>
      pipe(
        openAt('positions', account),
        TE.map(({ positions, readAt }) => ({ positions: positions.toSorted(byAge), readAt })),
      ),
    dealsPage: (account, window) =>
      pipe(
        openAt('dealsPage', account),
        TE.map(({ deals }) => pageOf(deals, window, pageSize)),
      ),
    requiredMargin: (account, query) =>
      pipe(
        open('requiredMargin', account),
        TE.map(({ margin }) => margin(query)),
      ),
    put: (accountId, book = {}) =>
      void books.set(accountId, { ...(books.get(accountId) ?? emptyBook), ...book }),
  }
}

// Deals without a readable time belong to every window.
const pageOf = (
  deals: FakeBook['deals'],
  { from, to, offset }: DealsWindow,
  size: number,
): DealsPage => {
  const inWindow = deals.filter(
    ({ time }) => time === undefined || !isReadableTime(time) || (time >= from && time < to),
  )
  const page = inWindow
    .slice(offset, offset + size)
    .map((deal): BrokerDeal => ({ kind: deal.side ?? 'balance', ...deal }))
  return { deals: page, nextOffset: page.length < size ? null : offset + size }
}
