// The provider's endpoints that we read, one function each: a URL in, the bytes of a 200 out. What the bytes mean is said elsewhere.
import { toIso } from '@tradeport/domain'
import type { Instant, MarginQuery } from '@tradeport/domain'
import { nothingSent } from './failures.ts'
import type { CallProvider, Target } from './transport.ts'

/** The most rows of a history that the provider gives at once. */
export const pageSize = 1_000

/** A page of a history. `start` is included, `end` is not. */
export interface HistoryPage {
  readonly start: Instant
  readonly end: Instant
  readonly offset: number
  readonly limit: number
}

export type MetaApiClient = ReturnType<typeof createMetaApiClient>

export const createMetaApiClient = (call: CallProvider) => ({
  /** At the provisioning host: where the account is deployed, among other things. */
  provisionedAccount: (target: Target, signal: AbortSignal) =>
    call({ route: 'account-region', url: accountUrl(target, ''), target }, signal),

  accountInformation: (target: Target, signal: AbortSignal) =>
    call({ route: 'account-information', url: accountUrl(target, '/account-information'), target }, signal),

  /** With `refresh` as the terminal has them now, past the provider's copy; slower. */
  positions: (target: Target, refresh: boolean, signal: AbortSignal) =>
    call({ route: 'positions', url: accountUrl(target, `/positions${refreshQuery(refresh)}`), target }, signal),

  /** Orders that still work. */
  orders: (target: Target, refresh: boolean, signal: AbortSignal) =>
    call({ route: 'orders', url: accountUrl(target, `/orders${refreshQuery(refresh)}`), target }, signal),

  historyOrders: (target: Target, page: HistoryPage, signal: AbortSignal) =>
    call({ route: 'history-orders', url: historyUrl(target, 'history-orders', page), target }, signal),

  historyDeals: (target: Target, page: HistoryPage, signal: AbortSignal) =>
    call({ route: 'history-deals', url: historyUrl(target, 'history-deals', page), target }, signal),

  /** Computes and changes nothing, although it is a POST. */
  calculateMargin: (target: Target, { symbol, side, volume, openPrice }: MarginQuery, signal: AbortSignal) => {
    const body = { symbol, type: side === 'buy' ? 'ORDER_TYPE_BUY' : 'ORDER_TYPE_SELL', volume, openPrice }
    return call({ route: 'calculate-margin', url: accountUrl(target, '/calculate-margin'), target, body }, signal)
  },
})

/** Where a trade is sent to, once: not by way of the client, whose reads may be asked twice. */
export const tradeUrl = (target: Target): URL => accountUrl(target, '/trade')

const refreshQuery = (refresh: boolean): string => (refresh ? '?refreshTerminalState=true' : '')

const historyUrl = (target: Target, which: 'history-orders' | 'history-deals', { start, end, offset, limit }: HistoryPage): URL => {
  const window = `${encodeURIComponent(toIso(start))}/${encodeURIComponent(toIso(end))}`
  return accountUrl(target, `/${which}/time/${window}?offset=${offset}&limit=${limit}`)
}

const accountUrl = ({ baseUrl, providerAccountId }: Target, rest: string): URL =>
  new URL(`${baseUrl}/users/current/accounts/${segmentOf(providerAccountId, 'provider account id')}${rest}`)

const segmentOf = (id: string, what: string): string => {
  // Encoding leaves dots alone, and a URL takes a segment of dots for a step up.
  if (/^\.{0,2}$/.test(id)) throw nothingSent(`the ${what} is not one`)
  return encodeURIComponent(id)
}
