// The market that all accounts of a sandbox share: instruments, prices, exchange rates, and which
// symbols are shut.
import { decimal, type Decimal } from '../numbers/decimal.ts'
import { INSTRUMENTS, type Instrument } from './instruments.ts'
import { createPrices, type Prices } from './prices.ts'

export type Market = {
  readonly instruments: ReadonlyMap<string, Instrument>
  readonly prices: Prices
  /** What one unit of a currency is worth in another at a time. */
  readonly rate: (from: string, to: string, at: number) => Decimal
  readonly knowsCurrency: (currency: string) => boolean
  readonly isOpen: (symbol: string) => boolean
  /** Shuts or opens one symbol, or `*` for all. */
  readonly setOpen: (symbol: string, open: boolean) => void
  readonly closedSymbols: () => readonly string[]
}

// Which pair tells a currency's worth in dollars, and whether the dollar comes second in it.
const DOLLAR_PAIRS: Readonly<
  Record<string, { readonly symbol: string; readonly dollarLast: boolean }>
> = {
  EUR: { symbol: 'EURUSD', dollarLast: true },
  GBP: { symbol: 'GBPUSD', dollarLast: true },
  AUD: { symbol: 'AUDUSD', dollarLast: true },
  JPY: { symbol: 'USDJPY', dollarLast: false },
  CHF: { symbol: 'USDCHF', dollarLast: false },
  CAD: { symbol: 'USDCAD', dollarLast: false },
}

export const createMarket = (seed: number): Market => {
  const instruments = new Map<string, Instrument>(
    INSTRUMENTS.map((instrument) => [instrument.symbol, instrument]),
  )
  const prices = createPrices(seed, instruments)
  const closed = new Set<string>()

  const inDollars = (currency: string, at: number): number => {
    if (currency === 'USD') return 1
    const pair = DOLLAR_PAIRS[currency]
    const instrument = pair === undefined ? undefined : instruments.get(pair.symbol)
    if (pair === undefined || instrument === undefined)
      throw new Error(`The sandbox knows no exchange rate for ${currency}`)
    const { bid, ask } = prices.quote(instrument, at)
    return pair.dollarLast ? (bid + ask) / 2 : 2 / (bid + ask)
  }

  return {
    instruments,
    prices,
    rate: (from, to, at) =>
      from === to ? decimal(1) : decimal((inDollars(from, at) / inDollars(to, at)).toPrecision(12)),
    knowsCurrency: (currency) => currency === 'USD' || Object.hasOwn(DOLLAR_PAIRS, currency),
    isOpen: (symbol) => !closed.has('*') && !closed.has(symbol),
    setOpen: (symbol, open) => {
      if (!open) closed.add(symbol)
      else if (symbol === '*') closed.clear()
      else closed.delete(symbol)
    },
    closedSymbols: () => [...closed],
  }
}

/** The digits after the point in which a currency counts. */
export const currencyDigitsOf = (currency: string): number => (currency === 'JPY' ? 0 : 2)
