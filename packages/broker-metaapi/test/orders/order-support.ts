// What the tests of orders share: an order, and trading over whatever host the test plays.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerOrder, MaySend, PlacementAnswer, SentOrder, Trading, UnavailableCause } from '@tradeport/domain'
import type { LookupContext } from '../../src/orders/order-evidence.ts'
import { createMetaApi } from '../../src/index.ts'
import type { MetaApiConfig } from '../../src/index.ts'
import { account, accountPath, now, provisioningHost, token } from '../support.ts'

export const clientId = 'TP_0123456789_abcdefghij'
export const order: BrokerOrder = { clientId, symbol: 'EURUSD', side: 'buy', volume: 0.1, stopLoss: 1.05, takeProfit: 1.2 }

export const always: MaySend = () => true

export const tradePath = `${accountPath}/trade`

export const configOf = (config: Partial<MetaApiConfig> = {}): MetaApiConfig => ({
  provisioningUrl: provisioningHost,
  clientUrl: 'https://client.{region}.example',
  providerToken: () => TE.right(O.some(token)),
  clock: { now: () => now },
  ...config,
  deadlines: { fillMs: 100, ...config.deadlines },
})

export const tradingWith = (config: Partial<MetaApiConfig> = {}): Trading => createMetaApi(configOf(config)).trading

export const place = (trading: Trading = tradingWith()): Promise<PlacementAnswer> => trading.placeOrder(account, order, always)()

/** What a lookup is asked with where the broker gave no number. */
export const sentOrder = (more: Partial<SentOrder> = {}): SentOrder => ({
  order,
  sentAt: now,
  orderId: null,
  refresh: false,
  othersTickets: [],
  ...more,
})

export const contextAt = (at: number, more: Partial<LookupContext> = {}): LookupContext => ({
  now: at,
  platform: 'mt5',
  skewMs: 0,
  othersTickets: new Set(),
  traits: {},
  ...more,
})

export const notSent = (retryAfterMs: number | null = null, cause?: UnavailableCause): PlacementAnswer => ({
  kind: 'not_sent',
  retryAfterMs,
  cause,
})
export const unknown: PlacementAnswer = { kind: 'unknown' }
