// The provider's endpoints that we read, one function each: a URL in, the bytes of a 200 out. What the bytes mean is said elsewhere.
import { toIso } from '@tradeport/domain'
import type { Instant, MarginQuery } from '@tradeport/domain'
import { nothingSent } from './failures.ts'
import type { CallProvider } from './transport.ts'

/** Where an account is asked about, and with whose token. */
export interface Target {
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly providerAccountId: string
  readonly token: string
}

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
    call({ route: 'account-region', url: accountUrl(target, ''), token: target.token }, signal),

  accountInformation: (target: Target, signal: AbortSignal) =>
    call({ route: 'account-information', url: accountUrl(target, '/account-information'), token: target.token }, signal),

  positions: (target: Target, signal: AbortSignal) =>
    call({ route: 'positions', url: accountUrl(target, '/positions'), token: target.token }, signal),

  /** As the terminal has them now, past the provider's copy; slower. */
  freshPositions: (target: Target, signal: AbortSignal) =>
    call({ route: 'positions', url: accountUrl(target, '/positions?refreshTerminalState=true'), token: target.token }, signal),

  /** Orders that still work. */
  orders: (target: Target, signal: AbortSignal) =>
    call({ route: 'orders', url: accountUrl(target, '/orders'), token: target.token }, signal),

  historyOrders: (target: Target, page: HistoryPage, signal: AbortSignal) =>
    call({ route: 'history-orders', url: historyUrl(target, 'history-orders', page), token: target.token }, signal),

  historyDeals: (target: Target, page: HistoryPage, signal: AbortSignal) =>
    call({ route: 'history-deals', url: historyUrl(target, 'history-deals', page), token: target.token }, signal),

  dealsOfPosition: (target: Target, positionId: string, signal: AbortSignal) => {
    const url = accountUrl(target, `/history-deals/position/${segmentOf(positionId, 'position id')}`)
    return call({ route: 'history-deals', url, token: target.token }, signal)
  },

  /** Computes and changes nothing, although it is a POST. */
  calculateMargin: (target: Target, { symbol, side, volume, openPrice }: MarginQuery, signal: AbortSignal) => {
    const body = { symbol, type: side === 'buy' ? 'ORDER_TYPE_BUY' : 'ORDER_TYPE_SELL', volume, openPrice }
    return call({ route: 'calculate-margin', url: accountUrl(target, '/calculate-margin'), token: target.token, body }, signal)
  },
})

/** Where a trade is sent to, once: not by way of the client, whose reads may be asked twice. */
export const tradeUrl = (target: Target): URL => accountUrl(target, '/trade')

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
