// What the tests of orders share: an order, and trading over whatever host the test plays.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerOrder, PlacementAnswer, Trading } from '@tradeport/domain'
import { createMetaApi } from '../../src/index.ts'
import type { MetaApiConfig } from '../../src/index.ts'
import { account, accountPath, now, provisioningHost, token } from '../support.ts'

export const clientId = 'TP_0123456789_abcdefghij'
export const order: BrokerOrder = { clientId, symbol: 'EURUSD', side: 'buy', volume: 0.1, stopLoss: 1.05, takeProfit: 1.2 }

export const tradePath = `${accountPath}/trade`

export const tradingWith = (config: Partial<MetaApiConfig> = {}): Trading =>
  createMetaApi({
    provisioningUrl: provisioningHost,
    clientUrl: 'https://client.{region}.example',
    providerToken: () => TE.right(O.some(token)),
    clock: { now: () => now },
    ...config,
    deadlines: { fillMs: 100, ...config.deadlines },
  }).trading

export const place = (trading: Trading = tradingWith()): Promise<PlacementAnswer> => trading.placeOrder(account, order)()

export const notSent = (retryAfterMs: number | null = null): PlacementAnswer => ({ kind: 'not_sent', retryAfterMs })
export const unknown: PlacementAnswer = { kind: 'unknown' }
