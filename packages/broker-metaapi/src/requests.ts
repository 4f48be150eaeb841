// The provider's endpoints that we read, and the URLs of an account.
import type { Either } from 'fp-ts/lib/Either.js'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { OrderType } from '@tradeport/domain/orders'
import type { Side } from '@tradeport/domain/positions'
import type { DealsWindow } from '@tradeport/domain/journal'
import type { CandlesWindow, MarginQuery, TicksWindow } from '@tradeport/domain/ports'
import { toIso } from '@tradeport/domain/primitives'
import { notSent, pauseGroups, type ProviderRoute } from './failures.ts'

/** Where requests for an account go, and with whose token. */
export interface Target {
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly providerAccountId: string
  /** Goes into the header `auth-token` and nowhere else. */
  readonly token: string
  /** What the provider's limits count by: the token, apart for candles and ticks. */
  readonly limitKey: string
  /** The tenant and its account at the provider: the key of what is remembered of the account. */
  readonly accountKey: string
}

/** What a target is found by: an account, whether it is linked yet or not. */
export interface AccountRef extends Pick<BrokerAccount, 'providerAccountId' | 'region'> {
  readonly owner: Pick<BrokerAccount['owner'], 'tenantId'>
}

export interface ReadRequest {
  readonly route: ProviderRoute
  /** After the account's own path. */
  readonly path: string
  /** Sent as JSON by POST; a GET if absent. */
  readonly body?: object
  /** The symbol that is read, whose failures pause it alone. */
  readonly symbol?: string
}

/**
 * Reads within the deadline of the request's route; rejects with a CallFailure.
 * @param callerSignal ends the read early
 */
export type FetchFrom = <A>(
  accountOrTarget: AccountRef | Target,
  request: ReadRequest,
  decode: (bytes: Uint8Array) => Either<string, A>,
  callerSignal?: AbortSignal,
) => Promise<A>

/** The most rows of a history in one answer. */
export const pageSize = 1_000

export const requests = {
  /** At the provisioning host: where the account is deployed, among other things. */
  provisionedAccount: { route: 'account-region', path: '' },

  /**
   * What holds now. With `readFromTerminal` it is read from the trading terminal, not from the
   * provider's copy; slower.
   */
  current: (route: 'account-information' | 'positions' | 'orders', readFromTerminal: boolean) => ({
    route,
    path: `/${route}${readFromTerminal ? '?refreshTerminalState=true' : ''}`,
  }),

  /** A page of a history. `from` is included, `to` is not. */
  history: (route: 'history-orders' | 'history-deals', { from, to, offset }: DealsWindow) => {
    const window = `${encodeURIComponent(toIso(from))}/${encodeURIComponent(toIso(to))}`
    return { route, path: `/${route}/time/${window}?offset=${offset}&limit=${pageSize}` }
  },

  margin: ({ symbol, side, volume, openPrice }: MarginQuery): ReadRequest => ({
    route: 'calculate-margin',
    path: '/calculate-margin',
    body: { symbol, type: orderTypeOf(side), volume, openPrice },
    symbol,
  }),

  symbols: { route: 'symbols', path: '/symbols' },

  specification: (symbol: string) => ({
    route: 'specification',
    path: `/symbols/${encodeURIComponent(symbol)}/specification`,
    symbol,
  }),

  /** Without `keepSubscription`, which nothing would end: the provider ends it after 12 minutes. */
  price: (symbol: string) => ({
    route: 'price',
    path: `/symbols/${encodeURIComponent(symbol)}/current-price`,
    symbol,
  }),

  /** The last candles that opened at `to` or before. */
  candles: (symbol: string, { timeframe, to, limit }: CandlesWindow) => ({
    route: 'candles',
    path: `/historical-market-data/symbols/${encodeURIComponent(symbol)}/timeframes/${
      // A month; `1m` is a minute.
      timeframe === '1M' ? '1mn' : timeframe
    }/candles?startTime=${encodeURIComponent(toIso(to))}&limit=${limit}`,
    symbol,
  }),

  /** The first ticks from `from` on. */
  ticks: (symbol: string, { from, offset, limit }: TicksWindow) => ({
    route: 'ticks',
    path: `/historical-market-data/symbols/${encodeURIComponent(symbol)}/ticks?startTime=${encodeURIComponent(toIso(from))}&offset=${offset}&limit=${limit}`,
    symbol,
  }),
} as const satisfies Record<string, ReadRequest | ((...args: never[]) => ReadRequest)>

/** The account itself has the bare key. */
export const pauseKey = ({ route, symbol = '' }: ReadRequest, { accountKey }: Target): string =>
  pauseGroups[route] === 'account' ? accountKey : `${pauseGroups[route]} ${symbol} of ${accountKey}`

/** The provider's name of an order's type. */
export const orderTypeOf = (side: Side, type: OrderType = 'market'): string =>
  `ORDER_TYPE_${side}${type === 'market' ? '' : `_${type}`}`.toUpperCase()

export const urlOf = ({ baseUrl, providerAccountId }: Target, path: string): URL => {
  // Encoding does not change dots, and a URL resolves a segment of dots as a step up.
  if (/^\.{0,2}$/.test(providerAccountId)) throw notSent('the provider account id is not valid')
  return new URL(
    `${baseUrl}/users/current/accounts/${encodeURIComponent(providerAccountId)}${path}`,
  )
}
