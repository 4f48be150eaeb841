// A plain open position and plain terms of an instrument, which tests change as they need them.
import type { BrokerInstrument } from '@tradeport/domain/market'
import type { BrokerPosition } from '@tradeport/domain/positions'
import type { Ticket } from '@tradeport/domain/primitives'

/** A buy of 0.3 lots without levels, opened at 1.1 and worth 1.2 by now. */
export const openPosition = (fields: Partial<BrokerPosition> = {}): BrokerPosition => ({
  ticket: '42' as Ticket,
  symbol: 'EURUSD',
  side: 'buy',
  volume: 0.3,
  entryPrice: 1.1,
  currentPrice: 1.2,
  swap: -0.3,
  commission: -0.7,
  unrealizedPnl: 30,
  realizedPnl: 0,
  openedAt: 1_000,
  ...fields,
})

export const instrumentTerms = (symbol: string): BrokerInstrument => ({
  symbol,
  description: symbol,
  tickSize: 0.00001,
  contractSize: 100_000,
  minVolume: 0.01,
  maxVolume: 100,
  volumeStep: 0.01,
  digits: 5,
  stopsLevel: 10,
  tradeMode: 'full',
  baseCurrency: 'EUR',
  profitCurrency: 'USD',
  swapLong: -7.1,
  swapShort: 3.2,
  sessions: [{ day: 'monday', from: '00:00:00.000', to: '24:00:00.000' }],
})
