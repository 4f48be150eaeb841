// Market data in memory: instruments with a price each, their candles and their ticks.
import type { BrokerAccount } from '../../src/accounts/index.ts'
import { refuse, type BrokerReadError } from '../../src/errors.ts'
import type { BrokerInstrument, Candle, Quote, Tick, Timeframe } from '../../src/market/index.ts'
import type { CandlesWindow, Clock, MarketData, TicksWindow } from '../../src/ports/index.ts'
import type { AccountId } from '../../src/primitives/index.ts'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { createFakeReads, instrumentTerms, type ReadControls } from '@tradeport/testkit'

/** What the fake holds of one symbol. */
interface FakeInstrument {
  readonly terms: BrokerInstrument
  readonly quote: Omit<Quote, 'time'>
  /** Oldest first. */
  readonly candles: Partial<Readonly<Record<Timeframe, readonly Candle[]>>>
  readonly ticks: readonly Tick[]
}

interface FakeMarketData extends MarketData, ReadControls<keyof MarketData> {
  /** Puts an instrument in, or changes the named parts of it. */
  readonly put: (accountId: AccountId, symbol: string, parts?: Partial<FakeInstrument>) => void
}

/** @param clock stamps quotes */
export const createFakeMarketData = (clock: Clock): FakeMarketData => {
  const { books, open, controls } = createFakeReads<keyof MarketData, Map<string, FakeInstrument>>()

  const find = (
    read: keyof MarketData,
    account: BrokerAccount,
    symbol: string,
  ): TE.TaskEither<BrokerReadError, FakeInstrument> =>
    pipe(
      open(read, account),
      TE.flatMap((book) =>
        TE.fromNullable(
          refuse('BrokerUnavailable', { accountId: account.accountId, reason: 'no such symbol' }),
        )(book.get(symbol)),
      ),
    )

  /** A read of what the broker shows of a symbol. */
  const shows =
    <Window extends readonly unknown[], A>(
      read: keyof MarketData,
      shown: (instrument: FakeInstrument, ...window: Window) => A,
    ) =>
    (account: BrokerAccount, symbol: string, ...window: Window) =>
      TE.map((instrument: FakeInstrument) => shown(instrument, ...window))(
        find(read, account, symbol),
      )

  return {
    ...controls,
    symbols: (account) =>
      pipe(
        open('symbols', account),
        TE.map((book) => [...book.keys()]),
      ),
    instrument: shows('instrument', ({ terms }) => terms),
    quote: shows('quote', ({ quote }) => ({ ...quote, time: clock.now() })),
    candles: shows('candles', ({ candles }, { timeframe, to, limit }: CandlesWindow) =>
      (candles[timeframe] ?? []).filter(({ time }) => time <= to).slice(-limit),
    ),
    ticks: shows('ticks', ({ ticks }, { from, offset, limit }: TicksWindow) =>
      ticks.filter(({ time }) => time >= from).slice(offset, offset + limit),
    ),
    put: (accountId, symbol, parts = {}) => {
      const book = books.get(accountId) ?? new Map<string, FakeInstrument>()
      const known = book.get(symbol) ?? {
        terms: instrumentTerms(symbol),
        quote: { bid: 1.1, ask: 1.1002, profitTickValue: 1, lossTickValue: 1 },
        candles: {},
        ticks: [],
      }
      books.set(accountId, book.set(symbol, { ...known, ...parts }))
    },
  }
}
