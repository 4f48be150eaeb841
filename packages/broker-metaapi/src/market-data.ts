// The port of prices and instruments.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import { refuse } from '@tradeport/domain/errors'
import { weekdays, type BrokerInstrument, type InstrumentTradeMode } from '@tradeport/domain/market'
import type { MarketData, MarketDataError } from '@tradeport/domain/ports'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Connection } from './connection.ts'
import { CallFailure } from './failures.ts'
import {
  AccountInformation,
  CandleRows,
  decode,
  PriceRow,
  Specification,
  SymbolNames,
  TickRows,
} from './payloads.ts'
import { requests, type ReadRequest } from './requests.ts'

export const createMarketData = ({ fetchFrom, asPortRead }: Connection): MarketData => {
  /** A 404 may mean the account or the symbol: if the account can be read, it is the symbol. */
  const readSymbol = <Row, A>(
    account: BrokerAccount,
    request: ReadRequest,
    decodeBytes: (bytes: Uint8Array) => Either<string, Row>,
    translate: (row: Row) => A,
  ): TE.TaskEither<MarketDataError, A> =>
    pipe(
      asPortRead(account, async () => {
        try {
          return { found: translate(await fetchFrom(account, request, decodeBytes)) }
        } catch (failure) {
          if (!(failure instanceof CallFailure && failure.fault.kind === 'unknown_symbol'))
            throw failure
          await fetchFrom(account, requests.accountInformation, decode(AccountInformation))
          return undefined
        }
      }),
      TE.flatMap(TE.fromNullable(unknownSymbol)),
      TE.map(({ found }) => found),
    )

  return {
    symbols: (account) =>
      asPortRead(account, () => fetchFrom(account, requests.symbols, decode(SymbolNames))),

    instrument: (account, symbol) =>
      readSymbol(account, requests.specification(symbol), decode(Specification), (terms) =>
        instrumentOf(symbol, terms),
      ),

    quote: (account, symbol) =>
      readSymbol(
        account,
        requests.price(symbol),
        decode(PriceRow),
        ({ bid, ask, time, profitTickValue = null, lossTickValue = null }) => ({
          bid,
          ask,
          time,
          profitTickValue,
          lossTickValue,
        }),
      ),

    candles: (account, symbol, window) =>
      readSymbol(account, requests.candles(symbol, window), decode(CandleRows), (rows) => {
        // Rows may come in any order, and one that changes meanwhile twice.
        const byTime = new Map(
          rows.map(({ time, open, high, low, close, tickVolume: volume }) => [
            time,
            { time, open, high, low, close, volume },
          ]),
        )
        return [...byTime.values()]
          .filter(({ time }) => time <= window.to)
          .toSorted((a, b) => a.time - b.time)
      }),

    ticks: (account, symbol, window) =>
      readSymbol(account, requests.ticks(symbol, window), decode(TickRows), (rows) =>
        rows.map(({ time, bid = null, ask = null }) => ({ time, bid, ask })),
      ),
  }
}

const unknownSymbol = refuse('NotFound', { what: 'symbol' })

const tradeModes: Readonly<Record<string, InstrumentTradeMode>> = {
  SYMBOL_TRADE_MODE_DISABLED: 'disabled',
  SYMBOL_TRADE_MODE_LONGONLY: 'long_only',
  SYMBOL_TRADE_MODE_SHORTONLY: 'short_only',
  SYMBOL_TRADE_MODE_CLOSEONLY: 'close_only',
  SYMBOL_TRADE_MODE_FULL: 'full',
}

const instrumentOf = (symbol: string, terms: Specification): BrokerInstrument => ({
  symbol,
  description: terms.description || null,
  tickSize: terms.tickSize,
  contractSize: terms.contractSize,
  minVolume: terms.minVolume,
  maxVolume: terms.maxVolume,
  volumeStep: terms.volumeStep,
  digits: terms.digits,
  stopsLevel: terms.stopsLevel,
  tradeMode: tradeModes[terms.tradeMode ?? ''] ?? null,
  baseCurrency: terms.baseCurrency || null,
  profitCurrency: terms.profitCurrency || null,
  swapLong: terms.swapLong ?? null,
  swapShort: terms.swapShort ?? null,
  sessions: weekdays.flatMap((day) =>
    (terms.tradeSessions?.[day.toUpperCase()] ?? []).map(({ from, to }) => ({ day, from, to })),
  ),
})
