// Shared by the tests: an account, an order, the adapter, position changes, and rows in the
// provider's shape.
import { someOwner, times } from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import nock from 'nock'
import { afterAll, afterEach, beforeAll } from 'vitest'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { UnavailableCause } from '@tradeport/domain/errors'
import type { BrokerDeal, DealKind, DealReason, DealsWindow } from '@tradeport/domain/journal'
import type { PlacementAnswer } from '@tradeport/domain/orders'
import type {
  OrderToSend,
  MaySend,
  PositionTrading,
  SentOrder,
  Trading,
} from '@tradeport/domain/ports'
import { sumExactly, type AccountId, type Ticket } from '@tradeport/domain/primitives'
import type { Sandbox } from '@tradeport/sandbox-broker'
import { createMetaApi, type MetaApiConfig } from '../src/index.ts'

export const now = Date.parse('2026-05-01T12:00:00.000Z')
export const token = 'eyJhbGciOiJSUzI1NiJ9.secret-part.signature'

export const clientHost = 'https://client.london.example'
export const provisioningHost = 'https://provisioning.example'
export const accountPath = '/users/current/accounts/provider-1'
export const tradePath = `${accountPath}/trade`

export const account: BrokerAccount = {
  accountId: '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as AccountId,
  owner: someOwner,
  platform: 'mt5',
  providerAccountId: 'provider-1',
  region: 'london',
}

export const apiWith = (config: Partial<MetaApiConfig> = {}) =>
  createMetaApi({
    provisioningUrl: provisioningHost,
    clientUrl: 'https://client.{region}.example',
    marketDataUrl: 'https://market-data.{region}.example',
    providerToken: () => TE.right(O.some(token)),
    clock: { now: () => now },
    ...config,
    deadlines: { fillMs: 100, ...config.deadlines },
  })

/** What the broker's own records show as executed of an order. */
export const executedLots = (
  { deals }: Pick<ReturnType<Sandbox['account']>, 'deals'>,
  clientId: string,
) =>
  sumExactly(
    deals().flatMap((deal) => (deal['clientId'] === clientId ? [Number(deal['volume'])] : [])),
  )

/** For tests that use nock: no request leaves, and no reply of one test remains for the next. */
export const closeNetwork = () => {
  beforeAll(() => nock.disableNetConnect())
  afterEach(() => {
    nock.abortPendingRequests()
    nock.cleanAll()
  })
  afterAll(() => nock.restore())
}

/** The provider's host; every request to it needs the token. */
export const provider = (host = clientHost): nock.Scope =>
  nock(host, { reqheaders: { 'auth-token': token } })

export const always: MaySend = () => true

export const clientId = 'TP_0123456789_abcdefghij'
export const order: OrderToSend = {
  clientId,
  symbol: 'EURUSD',
  side: 'buy',
  volume: 0.1,
  stopLoss: 1.05,
  takeProfit: 1.2,
}

export const place = (
  api = apiWith(),
  of = account,
  maySend = always,
  sent = order,
): Promise<PlacementAnswer> => api.trading.placeOrder(of, sent, maySend)()

/** A lookup of an order without a number. */
export const sentOrder = (more: Partial<SentOrder> = {}): SentOrder => ({
  order,
  sentAt: now,
  brokerOrderId: null,
  cancellation: { isConfirmed: true },
  readFromTerminal: false,
  ticketsOfOtherOrders: [],
  ...more,
})

export const notSent = (
  retryAfterMs: number | null = null,
  cause?: UnavailableCause,
): PlacementAnswer => ({
  kind: 'not_sent',
  retryAfterMs,
  cause,
})
export const unknown: PlacementAnswer = { kind: 'unknown' }

export const ticket = '46648037' as Ticket

export const pendingOrder: OrderToSend = {
  ...order,
  limitOrStop: { type: 'limit', price: 1.09, timeInForce: 'gtc' },
}

export const modifyOrder = ({ modifyOrder: modify }: Trading, of = account) =>
  modify(of, ticket, { price: 1.08, stopLoss: 1.05, timeInForce: 'gtc' }, always)()

export const cancelOrder = ({ cancelOrder: cancel }: Trading, of = account) =>
  cancel(of, ticket, always)()

export const setLevels = (desk: PositionTrading, of = account) =>
  desk.setLevels(of, ticket, { stopLoss: 1.05, takeProfit: 1.2 }, always)()

export const close = (desk: PositionTrading, of = account) =>
  desk.closePosition(of, ticket, null, always)()

export const rightOf = <L, A>(either: E.Either<L, A>): A => {
  if (E.isLeft(either)) throw new Error(`Expected a reading, got ${JSON.stringify(either.left)}`)
  return either.right
}

/** The reason of a BrokerUnavailable. */
export const reasonOf = (either: E.Either<{ readonly _tag: string }, unknown>): unknown =>
  E.isLeft(either) && 'reason' in either.left ? either.left.reason : either

export const everWindow: DealsWindow = { from: 0, to: now, offset: 0 }

export const informationRow = {
  platform: 'mt5',
  broker: 'Example Markets',
  currency: 'USD',
  server: 'Example-Demo',
  balance: 7_319.9,
  equity: 7_306.6499,
  margin: 184.1,
  freeMargin: 7_120.22,
  leverage: 100,
  marginLevel: 3_967.58,
  marginMode: 'ACCOUNT_MARGIN_MODE_RETAIL_HEDGING',
  type: 'ACCOUNT_TRADE_MODE_DEMO',
}

export const positionRow = {
  id: '46648037',
  type: 'POSITION_TYPE_BUY',
  symbol: 'AUDNZD.r',
  magic: 1,
  time: '2026-04-15T02:45:06.521Z',
  brokerTime: '2026-04-15 05:45:06.521',
  openPrice: 1.26101,
  currentPrice: 1.24883,
  volume: 0.07,
  swap: -0.3,
  realizedSwap: -0.1,
  unrealizedSwap: -0.2,
  commission: -0.25,
  realizedCommission: -0.05,
  unrealizedCommission: -0.2,
  profit: -83.3,
  unrealizedProfit: -85.25,
  realizedProfit: 1.95,
  stopLoss: 1.17721,
  reason: 'POSITION_REASON_EXPERT',
}

export const dealRow = {
  id: '33582357',
  type: 'DEAL_TYPE_BUY',
  entryType: 'DEAL_ENTRY_IN',
  symbol: 'EURUSD',
  magic: 1_000,
  time: '2026-04-17T04:30:03.223Z',
  brokerTime: '2026-04-17 07:30:03.223',
  volume: 0.12,
  price: 1.05782,
  commission: -0.42,
  swap: 0,
  profit: 0,
  positionId: '46648037',
  orderId: '46648037',
  reason: 'DEAL_REASON_EXPERT',
}

/** Rows with ids from 1 up. */
export const manyRows = (count: number): readonly (typeof dealRow)[] =>
  times(count, (index) => ({ ...dealRow, id: String(index + 1) }))

const dealTypes: Partial<Record<DealKind, string>> = {
  cancelled: 'DEAL_TYPE_BUY_CANCELED',
  dividend: 'DEAL_DIVIDEND',
  tax: 'DEAL_TAX',
  other: 'DEAL_TYPE_OF_TOMORROW',
}
const reasons: Partial<Record<DealReason, string>> = {
  stop_loss: 'SL',
  take_profit: 'TP',
  stop_out: 'SO',
  other: 'ROLLOVER',
}

/** A deal as the provider would write it. */
export const rowOf = ({ kind, side: _side, entry, time, reason, ...same }: BrokerDeal) => ({
  ...same,
  type: dealTypes[kind] ?? `DEAL_TYPE_${kind.toUpperCase()}`,
  ...(reason !== undefined && { reason: `DEAL_REASON_${reasons[reason] ?? reason.toUpperCase()}` }),
  ...(entry !== undefined && { entryType: `DEAL_ENTRY_${entry.toUpperCase()}` }),
  ...(time !== undefined && {
    time: Number.isNaN(time) ? 'yesterday' : new Date(time).toISOString(),
  }),
})
