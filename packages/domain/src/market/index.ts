// The fixed list of instruments, and the market data of brokers.
export { instrumentTypes, instruments } from './instruments.ts'
export { instrumentTradeModes, pointOf, timeframes, weekdays } from './market-data.ts'
export type {
  BrokerInstrument,
  Candle,
  InstrumentTradeMode,
  Quote,
  Tick,
  Timeframe,
  TradingSession,
} from './market-data.ts'
