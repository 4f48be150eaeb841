// The fixed list of instruments, and the market data of brokers.
export { gapsIn, type CandleRange } from './candle-ranges.ts'
export { filterInstruments, instrumentTypes, instruments, type Instrument } from './instruments.ts'
export {
  instrumentTradeModes,
  timeframes,
  weekdays,
  type BrokerInstrument,
  type Candle,
  type InstrumentTradeMode,
  type Quote,
  type Tick,
  type Timeframe,
} from './market-data.ts'
