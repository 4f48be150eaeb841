// The port of prices and instruments.
import { weekdays, type BrokerInstrument, type InstrumentTradeMode } from '@tradeport/domain/market'
import type { MarketData } from '@tradeport/domain/ports'
import { identity } from 'fp-ts/lib/function.js'
import type { Connection } from './connection.ts'
import { CandleRows, PriceRow, Specification, SymbolNames, TickRows } from './payloads.ts'
import { requests } from './requests.ts'
import { createSymbolRead } from './symbol-reads.ts'

export const createMarketData = (connection: Connection): MarketData => {
  const read = createSymbolRead(connection)
  return {
    symbols: (account) => read(account, requests.symbols, SymbolNames, identity),

    instrument: (account, symbol) =>
      read(account, requests.specification(symbol), Specification, (specification) =>
        instrumentOf(symbol, specification),
      ),

    quote: (account, symbol) =>
      read(
        account,
        requests.price(symbol),
        PriceRow,
        ({ bid, ask, time, profitTickValue = null, lossTickValue = null }) => ({
          bid,
          ask,
          time,
          profitTickValue,
          lossTickValue,
        }),
      ),

    candles: (account, symbol, window) =>
      read(account, requests.candles(symbol, window), CandleRows, (rows) => {
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
      read(account, requests.ticks(symbol, window), TickRows, (rows) =>
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

const instrumentOf = (
  symbol: string,
  { tradeMode = '', tradeSessions = {}, ...terms }: Specification,
): BrokerInstrument => ({
  ...terms,
  symbol,
  description: terms.description || null,
  tradeMode: tradeModes[tradeMode] ?? null,
  baseCurrency: terms.baseCurrency || null,
  profitCurrency: terms.profitCurrency || null,
  swapLong: terms.swapLong ?? null,
  swapShort: terms.swapShort ?? null,
  sessions: weekdays.flatMap((day) =>
    (tradeSessions[day.toUpperCase()] ?? []).map(({ from, to }) => ({ day, from, to })),
  ),
})
