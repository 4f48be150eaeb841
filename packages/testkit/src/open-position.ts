// A plain open position that tests change as they need it.
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
