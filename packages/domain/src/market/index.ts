// The fixed list of instruments, and the market data of brokers.
export { gapsIn } from './candle-ranges.ts'
export type { CandleRange } from './candle-ranges.ts'
export { filterInstruments, instrumentTypes, instruments } from './instruments.ts'
export type { Instrument } from './instruments.ts'
export { instrumentTradeModes, pointOf, timeframes, weekdays } from './market-data.ts'
export type {
  BrokerInstrument,
  Candle,
  InstrumentTradeMode,
  Quote,
  Tick,
  Timeframe,
} from './market-data.ts'
