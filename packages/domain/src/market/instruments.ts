// The fixed list of instruments (docs/behaviour.md#market-data). marginRate is a placeholder, not
// any broker's rate.

export const instrumentTypes = ['forex', 'metal', 'commodity', 'index', 'stock'] as const
type InstrumentType = (typeof instrumentTypes)[number]

export interface Instrument {
  readonly symbol: string
  readonly description: string
  readonly type: InstrumentType
  /** Smallest price step. */
  readonly tickSize: number
  /** Units in one lot. */
  readonly contractSize: number
  /** Fraction of the position's value; 0.01 is 1:100. */
  readonly marginRate: number
  readonly tradingHours: string
  /** Quote currency of prices. */
  readonly currency: string
  /** Forex pairs only. */
  readonly baseCurrency?: string
  /** Forex pairs only. */
  readonly quoteCurrency?: string
}

export interface InstrumentFilter {
  readonly type?: InstrumentType | undefined
  /** Text in symbol or description, in any case. */
  readonly search?: string | undefined
}

const weekdays = 'Sunday 22:00 to Friday 22:00 UTC'
const weekdaysWithBreak = 'Sunday 23:00 to Friday 22:00 UTC, daily break 22:00 to 23:00 UTC'
const usStockSession = 'Monday to Friday 14:30 to 21:00 UTC'

const pair = (symbol: string, description: string): Instrument => {
  const [baseCurrency, quoteCurrency] = [symbol.slice(0, 3), symbol.slice(3)]
  return {
    symbol,
    description,
    type: 'forex',
    tickSize: quoteCurrency === 'JPY' ? 0.001 : 0.00001,
    contractSize: 100_000,
    marginRate: 0.01,
    tradingHours: weekdays,
    currency: quoteCurrency,
    baseCurrency,
    quoteCurrency,
  }
}

const inDollars = (
  type: InstrumentType,
  symbol: string,
  description: string,
  tickSize: number,
  contractSize: number,
  marginRate: number,
  tradingHours = weekdaysWithBreak,
): Instrument => ({
  symbol,
  description,
  type,
  tickSize,
  contractSize,
  marginRate,
  tradingHours,
  currency: 'USD',
})

export const instruments: readonly Instrument[] = [
  pair('EURUSD', 'Euro / US Dollar'),
  pair('GBPUSD', 'British Pound / US Dollar'),
  pair('USDJPY', 'US Dollar / Japanese Yen'),
  pair('USDCHF', 'US Dollar / Swiss Franc'),
  pair('AUDUSD', 'Australian Dollar / US Dollar'),
  pair('USDCAD', 'US Dollar / Canadian Dollar'),
  pair('EURGBP', 'Euro / British Pound'),
  inDollars('metal', 'XAUUSD', 'Gold / US Dollar', 0.01, 100, 0.01),
  inDollars('metal', 'XAGUSD', 'Silver / US Dollar', 0.001, 5_000, 0.02),
  inDollars('commodity', 'USOIL', 'West Texas Intermediate Crude Oil', 0.01, 1_000, 0.02),
  inDollars('commodity', 'UKOIL', 'Brent Crude Oil', 0.01, 1_000, 0.02),
  inDollars('index', 'US30', 'Dow Jones Industrial Average', 0.1, 1, 0.01),
  inDollars('index', 'US500', 'S&P 500', 0.1, 1, 0.01),
  inDollars('index', 'NAS100', 'Nasdaq 100', 0.1, 1, 0.01),
  inDollars('stock', 'AAPL', 'Apple Inc.', 0.01, 1, 0.2, usStockSession),
]

const bySymbol = new Map(instruments.map((instrument) => [instrument.symbol, instrument]))

export const findInstrument = (symbol: string): Instrument | undefined => bySymbol.get(symbol)

/** The instruments that match the filter, in the order of the list. */
export const filterInstruments = ({ type, search }: InstrumentFilter): readonly Instrument[] => {
  const text = search?.toLowerCase()
  return instruments.filter(
    (instrument) =>
      (type === undefined || instrument.type === type) &&
      (text === undefined ||
        instrument.symbol.toLowerCase().includes(text) ||
        instrument.description.toLowerCase().includes(text)),
  )
}
