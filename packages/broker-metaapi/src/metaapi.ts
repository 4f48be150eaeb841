// The provider as a whole: the broker that is read, the trading that places orders, and the desk that changes positions, over one connection.
import type { Broker, PositionDesk, Trading } from '@tradeport/domain'
import { brokerOver } from './broker.ts'
import { createConnection } from './connection.ts'
import type { MetaApiConfig } from './connection.ts'
import { tradingOver } from './orders/trading.ts'
import { positionDeskOver } from './positions/position-desk.ts'
import { tradeOnceOver } from './trade/trade-once.ts'
import { createTradeSender } from './trade/trade-sender.ts'

export interface MetaApi {
  readonly broker: Broker
  readonly trading: Trading
  readonly positionDesk: PositionDesk
  /** How far the provider's clock is ahead of ours; null before its first answer with a Date header. */
  readonly clockSkewMs: () => number | null
}

/**
 * All three ports over MetaApi. Nothing is kept but regions, for ten minutes, and which accounts and tokens are to be left alone for now.
 * Throws where a base URL is none of http or https.
 */
export const createMetaApi = (config: MetaApiConfig): MetaApi => {
  const connection = createConnection(config)
  const tradeOnce = tradeOnceOver(connection, createTradeSender(config))
  return {
    broker: brokerOver(connection),
    trading: tradingOver(connection, tradeOnce),
    positionDesk: positionDeskOver(connection, tradeOnce),
    clockSkewMs: connection.skew.ms,
  }
}

/** For programs that only read. */
export const createMetaApiBroker = (config: MetaApiConfig): Broker => createMetaApi(config).broker
