// The provider as a whole: the broker that is read and the trading that places orders, over one connection.
import type { Broker, Trading } from '@tradeport/domain'
import { brokerOver } from './broker.ts'
import { createConnection } from './connection.ts'
import type { MetaApiConfig } from './connection.ts'
import { tradingOver } from './orders/trading.ts'
import { createTradeSender } from './trade/trade-sender.ts'

export interface MetaApi {
  readonly broker: Broker
  readonly trading: Trading
}

/**
 * Both ports over MetaApi. Nothing is cached but regions, for ten minutes; nothing is sent before it is asked for.
 * Throws where a base URL is none of http or https.
 */
export const createMetaApi = (config: MetaApiConfig): MetaApi => {
  const connection = createConnection(config)
  return { broker: brokerOver(connection), trading: tradingOver(connection, createTradeSender(config)) }
}

/** For programs that only read. */
export const createMetaApiBroker = (config: MetaApiConfig): Broker => createMetaApi(config).broker
