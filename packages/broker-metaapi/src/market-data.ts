// The port of prices and instruments.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { BrokerReadError } from '@tradeport/domain/errors'
import { weekdays, type BrokerInstrument, type InstrumentTradeMode } from '@tradeport/domain/market'
import type { MarketData } from '@tradeport/domain/ports'
import { identity } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Decoder } from 'io-ts'
import type { Connection } from './connection.ts'
import { CallFailure } from './failures.ts'
import { CandleRows, decode, PriceRow, Specification, SymbolNames, TickRows } from './payloads.ts'
import { requests, type ReadRequest } from './requests.ts'

export const createMarketData = ({
  fetchFrom,
  readInformation,
  asPortRead,
  symbolPauses,
}: Connection): MarketData => {
  /**
   * A 404 may mean the account or the symbol. If the account can be read, it is the symbol, which is
   * paused: after many such requests the provider limits the token.
   */
  const read = <Row, A>(
    account: BrokerAccount,
    symbol: string,
    request: ReadRequest,
    codec: Decoder<unknown, Row>,
    translate: (row: Row) => A,
  ): TE.TaskEither<BrokerReadError, A> => {
    const reading = asPortRead(account, async () => {
      const { owner, providerAccountId } = account
      const key = JSON.stringify([owner.tenantId, providerAccountId, request.route, symbol])
      const attempt = symbolPauses.begin(key)
      if (attempt.kind === 'paused') throw attempt.failure
      try {
        const row = await fetchFrom(account, request, decode(codec))
        symbolPauses.end(key)
        return translate(row)
      } catch (failure) {
        if (failure instanceof CallFailure && failure.fault.kind === 'not_found') {
          await readInformation(account)
          attempt.failed(failure)
        }
        throw failure
      } finally {
        attempt.release()
      }
    })
    return TE.mapLeft((error: BrokerReadError) =>
      error._tag === 'BrokerUnavailable' && error.cause === undefined && symbol !== ''
        ? { ...error, symbol }
        : error,
    )(reading)
  }

  return {
    symbols: (account) => read(account, '', requests.symbols, SymbolNames, identity),

    instrument: (account, symbol) =>
      read(account, symbol, requests.specification(symbol), Specification, (terms) =>
        instrumentOf(symbol, terms),
      ),

    quote: (account, symbol) =>
      read(
        account,
        symbol,
        requests.price(symbol),
        PriceRow,
        ({ profitTickValue = null, lossTickValue = null, ...price }) => ({
          ...price,
          profitTickValue,
          lossTickValue,
        }),
      ),

    candles: (account, symbol, window) =>
      read(account, symbol, requests.candles(symbol, window), CandleRows, (rows) => {
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
      read(account, symbol, requests.ticks(symbol, window), TickRows, (rows) =>
        rows.map(({ time, bid = null, ask = null }) => ({ time, bid, ask })),
      ),
  }
}

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
