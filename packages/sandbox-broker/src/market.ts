// The market that all accounts share: instruments, prices and exchange rates. Contract terms are as
// retail brokers have them; prices vary around plausible ones.
import { createRandom, dayMs, decimal, type Decimal } from './numbers.ts'

export type Instrument = {
  readonly symbol: string
  /** The instrument whose prices it has, where a broker spells it in its own way. */
  readonly pricedAs?: string
  readonly description: string
  readonly digits: number
  readonly contractSize: number
  readonly minVolume: number
  readonly maxVolume: number
  readonly volumeStep: number
  readonly baseCurrency: string
  readonly profitCurrency: string
  /** Price that the simulated market wanders around. */
  readonly basePrice: number
  /** The two symbols whose ratio the price is, for a cross rate. */
  readonly cross?: { readonly over: string; readonly under: string }
  /** Fraction of the price that it moves by on an ordinary day. */
  readonly dailyMove: number
  readonly spreadPoints: number
  /** The minimum distance of stop loss and take profit from the price, in points. */
  readonly stopsLevel: number
  /** Interest per lot and night, in points, for a long and for a short position. */
  readonly swapLong: number
  readonly swapShort: number
  /** Commission for a round turn of one lot, in the account's currency. */
  readonly commissionPerLot: number
}

const volumes = { minVolume: 0.01, maxVolume: 100, volumeStep: 0.01 }
const forex = {
  ...volumes,
  digits: 5,
  contractSize: 100_000,
  dailyMove: 0.005,
  spreadPoints: 12,
  stopsLevel: 10,
  commissionPerLot: 7,
}
const metal = { ...volumes, stopsLevel: 20, commissionPerLot: 7 }
const oil = {
  ...volumes,
  digits: 2,
  contractSize: 1_000,
  dailyMove: 0.018,
  spreadPoints: 3,
  stopsLevel: 5,
  commissionPerLot: 0,
}
const index = {
  ...volumes,
  contractSize: 1,
  dailyMove: 0.009,
  stopsLevel: 50,
  commissionPerLot: 0,
}

/** Six letters are two currencies; anything else costs dollars. */
const currenciesOf = (symbol: string) =>
  /^[A-Z]{6}$/.test(symbol)
    ? { baseCurrency: symbol.slice(0, 3), profitCurrency: symbol.slice(3) }
    : { baseCurrency: 'USD', profitCurrency: 'USD' }

/** The fifteen that the service lists. */
export const allInstruments: readonly Instrument[] = [
  {
    ...forex,
    symbol: 'EURUSD',
    description: 'Euro / US Dollar',
    basePrice: 1.16,
    swapLong: -7.1,
    swapShort: 3.2,
  },
  {
    ...forex,
    symbol: 'GBPUSD',
    description: 'Pound Sterling / US Dollar',
    basePrice: 1.32,
    swapLong: -3.4,
    swapShort: -0.9,
  },
  {
    ...forex,
    symbol: 'USDJPY',
    description: 'US Dollar / Japanese Yen',
    digits: 3,
    basePrice: 154,
    swapLong: 9.8,
    swapShort: -19.5,
  },
  {
    ...forex,
    symbol: 'USDCHF',
    description: 'US Dollar / Swiss Franc',
    basePrice: 0.8,
    swapLong: 5.6,
    swapShort: -9.9,
  },
  {
    ...forex,
    symbol: 'AUDUSD',
    description: 'Australian Dollar / US Dollar',
    basePrice: 0.65,
    swapLong: -2.2,
    swapShort: 0.1,
  },
  {
    ...forex,
    symbol: 'USDCAD',
    description: 'US Dollar / Canadian Dollar',
    basePrice: 1.4,
    swapLong: 3.1,
    swapShort: -7.4,
  },
  {
    ...forex,
    symbol: 'EURGBP',
    description: 'Euro / Pound Sterling',
    spreadPoints: 15,
    basePrice: 0.88,
    cross: { over: 'EURUSD', under: 'GBPUSD' },
    swapLong: -6.3,
    swapShort: 1.8,
  },
  {
    ...metal,
    symbol: 'XAUUSD',
    description: 'Gold / US Dollar',
    digits: 2,
    contractSize: 100,
    dailyMove: 0.011,
    spreadPoints: 20,
    basePrice: 4_100,
    swapLong: -52,
    swapShort: 24,
  },
  {
    ...metal,
    symbol: 'XAGUSD',
    description: 'Silver / US Dollar',
    digits: 3,
    contractSize: 5_000,
    dailyMove: 0.02,
    spreadPoints: 25,
    basePrice: 50,
    swapLong: -6.1,
    swapShort: 1.3,
  },
  {
    ...oil,
    symbol: 'USOIL',
    description: 'West Texas Intermediate Crude Oil',
    basePrice: 60,
    swapLong: -0.4,
    swapShort: -0.6,
  },
  {
    ...oil,
    symbol: 'UKOIL',
    description: 'Brent Crude Oil',
    basePrice: 64,
    swapLong: -0.3,
    swapShort: -0.7,
  },
  {
    ...index,
    symbol: 'US30',
    description: 'Dow Jones Industrial Average',
    digits: 1,
    spreadPoints: 20,
    basePrice: 47_000,
    swapLong: -82,
    swapShort: 21,
  },
  {
    ...index,
    symbol: 'US500',
    description: 'S&P 500',
    digits: 2,
    spreadPoints: 40,
    basePrice: 6_700,
    swapLong: -118,
    swapShort: 29,
  },
  {
    ...index,
    symbol: 'NAS100',
    description: 'Nasdaq 100',
    digits: 2,
    dailyMove: 0.012,
    spreadPoints: 120,
    basePrice: 24_800,
    swapLong: -440,
    swapShort: 105,
  },
  {
    ...volumes,
    symbol: 'AAPL',
    description: 'Apple Inc.',

    digits: 2,
    contractSize: 1,
    dailyMove: 0.015,
    spreadPoints: 4,
    stopsLevel: 5,
    commissionPerLot: 0.02,
    basePrice: 270,
    swapLong: -4.6,
    swapShort: -1.2,
  },
].map((instrument) => ({ ...currenciesOf(instrument.symbol), ...instrument }))

export const pointOf = (instrument: Instrument): number => Number(`1e-${instrument.digits}`)

// Prices as a pure function of seed, symbol and time: smooth, bounded, and the same after a
// restart. A test can pin a symbol's price.

export type Quote = { readonly bid: number; readonly ask: number }

type Wave = { readonly amplitude: number; readonly radiansPerMs: number; readonly phase: number }

// From half a year down to five seconds. The amplitude grows with the root of the period, as a
// random walk's range does.
const wavePeriodsMs = [
  180, 70, 28, 11, 4.5, 1.8, 0.7, 0.28, 0.11, 0.04, 0.015, 0.005, 0.0014, 0.0003, 0.00006,
].map((days) => days * dayMs)
const amplitudeOfDailyMove = 0.4

const createPrices = (seed: number, instruments: ReadonlyMap<string, Instrument>) => {
  const waves = new Map<string, readonly Wave[]>()
  const pins = new Map<string, Quote>()

  const wavesOf = (instrument: Instrument): readonly Wave[] => {
    const known = waves.get(priceNameOf(instrument))
    if (known !== undefined) return known
    const made = makeWaves(seed, instrument)
    waves.set(priceNameOf(instrument), made)
    return made
  }

  // The same time is used several times in a row: for the fill, the profit, the exchange rate.
  const latest = new Map<string, { readonly at: number; readonly mid: number }>()

  /** The price between bid and ask, unrounded and never pinned. */
  const mid = (instrument: Instrument, at: number): number => {
    const known = latest.get(priceNameOf(instrument))
    if (known !== undefined && known.at === at) return known.mid
    const made = midAt(instrument, at)
    latest.set(priceNameOf(instrument), { at, mid: made })
    return made
  }

  const midAt = (instrument: Instrument, at: number): number => {
    const { cross } = instrument
    const [over, under] =
      cross === undefined ? [] : [instruments.get(cross.over), instruments.get(cross.under)]
    // A cross rate follows its two legs, or there would be free money in the triangle.
    if (over !== undefined && under !== undefined) return mid(over, at) / mid(under, at)
    let drift = 0
    for (const wave of wavesOf(instrument))
      drift += wave.amplitude * Math.sin(at * wave.radiansPerMs + wave.phase)
    return instrument.basePrice * (1 + drift)
  }

  return {
    mid,
    quote: (instrument: Instrument, at: number): Quote =>
      pins.get(priceNameOf(instrument)) ?? spreadAround(instrument, mid(instrument, at)),
    /** Holds a symbol at a price. */
    pin: (symbol: string, quote: Quote) => void pins.set(symbol, quote),
    pinned: (): Readonly<Record<string, Quote>> => Object.fromEntries(pins),
  }
}

const priceNameOf = ({ symbol, pricedAs }: Instrument): string => pricedAs ?? symbol

const makeWaves = (seed: number, instrument: Instrument): readonly Wave[] => {
  const random = createRandom(seed, `prices/${priceNameOf(instrument)}`)
  return wavePeriodsMs.map((period) => ({
    amplitude: amplitudeOfDailyMove * instrument.dailyMove * Math.sqrt(period / dayMs),
    radiansPerMs: (2 * Math.PI) / (period * (0.85 + 0.3 * random.fraction())),
    phase: 2 * Math.PI * random.fraction(),
  }))
}

export const spreadAround = (instrument: Instrument, mid: number): Quote => {
  const point = pointOf(instrument)
  const bidPoints = Math.round(mid / point - instrument.spreadPoints / 2)
  const inPrice = (points: number): number => Number((points * point).toFixed(instrument.digits))
  return { bid: inPrice(bidPoints), ask: inPrice(bidPoints + instrument.spreadPoints) }
}

// The market that all accounts of a sandbox share: instruments, prices, exchange rates, and which
// symbols are shut.

export type Market = ReturnType<typeof createMarket>

// The pair that gives a currency's value in dollars, and whether the dollar comes second in it.
const dollarPairs: Readonly<
  Record<string, { readonly symbol: string; readonly dollarLast: boolean }>
> = {
  EUR: { symbol: 'EURUSD', dollarLast: true },
  GBP: { symbol: 'GBPUSD', dollarLast: true },
  AUD: { symbol: 'AUDUSD', dollarLast: true },
  JPY: { symbol: 'USDJPY', dollarLast: false },
  CHF: { symbol: 'USDCHF', dollarLast: false },
  CAD: { symbol: 'USDCAD', dollarLast: false },
}

export const createMarket = (seed: number) => {
  const instruments: ReadonlyMap<string, Instrument> = new Map<string, Instrument>(
    allInstruments.map((instrument) => [instrument.symbol, instrument]),
  )
  const prices = createPrices(seed, instruments)
  const closed = new Set<string>()

  const inDollars = (currency: string, at: number): number => {
    if (currency === 'USD') return 1
    const pair = dollarPairs[currency]
    const instrument = pair === undefined ? undefined : instruments.get(pair.symbol)
    if (pair === undefined || instrument === undefined)
      throw new Error(`The sandbox knows no exchange rate for ${currency}`)
    const { bid, ask } = prices.quote(instrument, at)
    return pair.dollarLast ? (bid + ask) / 2 : 2 / (bid + ask)
  }

  return {
    instruments,
    prices,
    /** What one unit of a currency is worth in another at a time. */
    rate: (from: string, to: string, at: number): Decimal =>
      from === to ? decimal(1) : decimal((inDollars(from, at) / inDollars(to, at)).toPrecision(12)),
    knowsCurrency: (currency: string): boolean =>
      currency === 'USD' || Object.hasOwn(dollarPairs, currency),
    isOpen: (symbol: string): boolean => !closed.has('*') && !closed.has(symbol),
    /** Shuts or opens one symbol, or `*` for all. */
    setOpen: (symbol: string, open: boolean): void => {
      if (!open) closed.add(symbol)
      else if (symbol === '*') closed.clear()
      else closed.delete(symbol)
    },
    closedSymbols: (): readonly string[] => [...closed],
  }
}

/**
 * The market with the symbols of one broker.
 * @param symbols by the broker's spelling the instrument
 */
export const marketWith = (market: Market, symbols: ReadonlyMap<string, string>): Market => {
  const instruments = new Map<string, Instrument>()
  for (const [symbol, name] of symbols) {
    const instrument = instrumentOf(market, name)
    instruments.set(
      symbol,
      symbol === name ? instrument : { ...instrument, symbol, pricedAs: name },
    )
  }
  return {
    ...market,
    instruments,
    isOpen: (symbol) => market.isOpen(symbols.get(symbol) ?? symbol),
  }
}

/** A symbol that the broker does not list: 404. */
export class UnknownSymbol extends Error {}

export const instrumentOf = (market: Pick<Market, 'instruments'>, symbol: string): Instrument => {
  const instrument = market.instruments.get(symbol)
  if (instrument === undefined) throw new UnknownSymbol(`The sandbox does not trade ${symbol}`)
  return instrument
}

/** The digits after the point in which a currency counts. */
export const currencyDigitsOf = (currency: string): number => (currency === 'JPY' ? 0 : 2)
