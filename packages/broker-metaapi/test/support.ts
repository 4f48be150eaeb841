// What the tests share: an account, a broker that asks made-up hosts, and rows in the provider's shape.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import nock from 'nock'
import type { AccountId, Broker, BrokerAccount, BrokerDeal, DealKind, DealReason, DealsWindow } from '@tradeport/domain'
import { createMetaApiBroker } from '../src/index.ts'
import type { MetaApiConfig } from '../src/index.ts'

export const now = Date.parse('2026-05-01T12:00:00.000Z')
export const token = 'eyJhbGciOiJSUzI1NiJ9.secret-part.signature'

export const clientHost = 'https://client.london.example'
export const provisioningHost = 'https://provisioning.example'
export const accountPath = '/users/current/accounts/provider-1'

export const account: BrokerAccount = {
  accountId: '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as AccountId,
  owner: { tenantId: 'acme', userId: 'u-1' } as BrokerAccount['owner'],
  platform: 'mt5',
  providerAccountId: 'provider-1',
  region: 'london',
}

export const brokerWith = (config: Partial<MetaApiConfig> = {}): Broker =>
  createMetaApiBroker({
    provisioningUrl: provisioningHost,
    clientUrl: 'https://client.{region}.example',
    providerToken: () => TE.right(O.some(token)),
    clock: { now: () => now },
    ...config,
  })

/** The provider's host; every request to it needs the token. */
export const provider = (host = clientHost): nock.Scope => nock(host, { reqheaders: { 'auth-token': token } })

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
  tradeAllowed: true,
  marginMode: 'ACCOUNT_MARGIN_MODE_RETAIL_HEDGING',
  name: 'Jane',
  login: 367_906,
  credit: 0,
  type: 'ACCOUNT_TRADE_MODE_DEMO',
}

export const positionRow = {
  id: '46648037',
  platform: 'mt5',
  type: 'POSITION_TYPE_BUY',
  symbol: 'AUDNZD.r',
  magic: 1,
  time: '2026-04-15T02:45:06.521Z',
  brokerTime: '2026-04-15 05:45:06.521',
  updateTime: '2026-04-15T02:45:06.521Z',
  openPrice: 1.26101,
  currentPrice: 1.24883,
  currentTickValue: 1,
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
  platform: 'mt5',
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

const entryTypes = { in: 'DEAL_ENTRY_IN', out: 'DEAL_ENTRY_OUT', inout: 'DEAL_ENTRY_INOUT', out_by: 'DEAL_ENTRY_OUT_BY' }
const dealTypes: Partial<Record<DealKind, string>> = {
  cancelled: 'DEAL_TYPE_BUY_CANCELED',
  dividend: 'DEAL_DIVIDEND',
  tax: 'DEAL_TAX',
  other: 'DEAL_TYPE_OF_TOMORROW',
}
const reasons: Partial<Record<DealReason, string>> = { stop_loss: 'SL', take_profit: 'TP', stop_out: 'SO', other: 'ROLLOVER' }

/** A deal as the provider would write it. */
export const rowOf = ({
  kind,
  side: _side,
  entry,
  time,
  reason,
  ...same
}: BrokerDeal): { readonly id: string; readonly [field: string]: string | number } => ({
  ...same,
  type: dealTypes[kind] ?? `DEAL_TYPE_${kind.toUpperCase()}`,
  ...(reason !== undefined && { reason: `DEAL_REASON_${reasons[reason] ?? reason.toUpperCase()}` }),
  ...(entry !== undefined && { entryType: entryTypes[entry] }),
  ...(time !== undefined && { time: Number.isNaN(time) ? 'yesterday' : new Date(time).toISOString() }),
})

export const everWindow: DealsWindow = { from: 0, to: now, offset: 0 }

/** Rows with ids from 1 up. */
export const manyRows = (count: number): readonly (typeof dealRow)[] =>
  Array.from({ length: count }, (_, index) => ({ ...dealRow, id: String(index + 1) }))

/** Serves a history page by page, as long as it is asked; counts the requests. */
export const serveHistory = (
  pageOf: (offset: number, limit: number) => unknown,
  path = accountPath,
): { readonly offsets: readonly number[] } => {
  const offsets: number[] = []
  provider()
    .get((uri) => uri.startsWith(`${path}/history-deals/time/`))
    .reply(200, ({ url }: Request) => {
      const query = new URL(url).searchParams
      const offset = Number(query.get('offset'))
      offsets.push(offset)
      return JSON.stringify(pageOf(offset, Number(query.get('limit'))))
    })
    .persist()
  return { offsets }
}

export const rightOf = <L, A>(either: E.Either<L, A>): A => {
  if (E.isLeft(either)) throw new Error(`Expected a reading, got ${JSON.stringify(either.left)}`)
  return either.right
}

/** The reason of a BrokerUnavailable. */
export const reasonOf = (either: E.Either<{ readonly _tag: string }, unknown>): string => {
  if (E.isRight(either)) throw new Error('Expected a failure, got a reading')
  if (either.left._tag !== 'BrokerUnavailable') throw new Error(`Expected BrokerUnavailable, got ${JSON.stringify(either.left)}`)
  return (either.left as { readonly reason?: string }).reason ?? ''
}
