// What the simulated broker trades, with contract terms as retail brokers have them. The prices are
// only where the random walk hangs.

export type Instrument = {
  readonly symbol: string
  readonly description: string
  /** Group in the broker's tree of symbols. */
  readonly path: string
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
  /** Least distance of stop loss and take profit from the price, in points. */
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
  path: 'Forex',
  digits: 5,
  contractSize: 100_000,
  dailyMove: 0.005,
  spreadPoints: 12,
  stopsLevel: 10,
  commissionPerLot: 7,
}
const metal = { ...volumes, path: 'Metals', stopsLevel: 20, commissionPerLot: 7 }
const oil = {
  ...volumes,
  path: 'Commodities',
  digits: 2,
  contractSize: 1_000,
  dailyMove: 0.018,
  spreadPoints: 3,
  stopsLevel: 5,
  commissionPerLot: 0,
}
const index = {
  ...volumes,
  path: 'Indices',
  contractSize: 1,
  dailyMove: 0.009,
  stopsLevel: 50,
  commissionPerLot: 0,
}

/** The fifteen that the service lists. */
export const INSTRUMENTS: readonly Instrument[] = [
  {
    ...forex,
    symbol: 'EURUSD',
    description: 'Euro / US Dollar',
    baseCurrency: 'EUR',
    profitCurrency: 'USD',
    basePrice: 1.16,
    swapLong: -7.1,
    swapShort: 3.2,
  },
  {
    ...forex,
    symbol: 'GBPUSD',
    description: 'Pound Sterling / US Dollar',
    baseCurrency: 'GBP',
    profitCurrency: 'USD',
    basePrice: 1.32,
    swapLong: -3.4,
    swapShort: -0.9,
  },
  {
    ...forex,
    symbol: 'USDJPY',
    description: 'US Dollar / Japanese Yen',
    digits: 3,
    baseCurrency: 'USD',
    profitCurrency: 'JPY',
    basePrice: 154,
    swapLong: 9.8,
    swapShort: -19.5,
  },
  {
    ...forex,
    symbol: 'USDCHF',
    description: 'US Dollar / Swiss Franc',
    baseCurrency: 'USD',
    profitCurrency: 'CHF',
    basePrice: 0.8,
    swapLong: 5.6,
    swapShort: -9.9,
  },
  {
    ...forex,
    symbol: 'AUDUSD',
    description: 'Australian Dollar / US Dollar',
    baseCurrency: 'AUD',
    profitCurrency: 'USD',
    basePrice: 0.65,
    swapLong: -2.2,
    swapShort: 0.1,
  },
  {
    ...forex,
    symbol: 'USDCAD',
    description: 'US Dollar / Canadian Dollar',
    baseCurrency: 'USD',
    profitCurrency: 'CAD',
    basePrice: 1.4,
    swapLong: 3.1,
    swapShort: -7.4,
  },
  {
    ...forex,
    symbol: 'EURGBP',
    description: 'Euro / Pound Sterling',
    spreadPoints: 15,
    baseCurrency: 'EUR',
    profitCurrency: 'GBP',
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
    baseCurrency: 'XAU',
    profitCurrency: 'USD',
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
    baseCurrency: 'XAG',
    profitCurrency: 'USD',
    basePrice: 50,
    swapLong: -6.1,
    swapShort: 1.3,
  },
  {
    ...oil,
    symbol: 'USOIL',
    description: 'West Texas Intermediate Crude Oil',
    baseCurrency: 'USD',
    profitCurrency: 'USD',
    basePrice: 60,
    swapLong: -0.4,
    swapShort: -0.6,
  },
  {
    ...oil,
    symbol: 'UKOIL',
    description: 'Brent Crude Oil',
    baseCurrency: 'USD',
    profitCurrency: 'USD',
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
    baseCurrency: 'USD',
    profitCurrency: 'USD',
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
    baseCurrency: 'USD',
    profitCurrency: 'USD',
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
    baseCurrency: 'USD',
    profitCurrency: 'USD',
    basePrice: 24_800,
    swapLong: -440,
    swapShort: 105,
  },
  {
    ...volumes,
    symbol: 'AAPL',
    description: 'Apple Inc.',
    path: 'Stocks',
    digits: 2,
    contractSize: 1,
    dailyMove: 0.015,
    spreadPoints: 4,
    stopsLevel: 5,
    commissionPerLot: 0.02,
    baseCurrency: 'USD',
    profitCurrency: 'USD',
    basePrice: 270,
    swapLong: -4.6,
    swapShort: -1.2,
  },
]

export const pointOf = (instrument: Instrument): number => Number(`1e-${instrument.digits}`)
