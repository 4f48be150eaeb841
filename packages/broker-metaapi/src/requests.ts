// The provider's endpoints that we read, and the URLs of an account. What the answers mean is said
// elsewhere.
import { toIso } from '@tradeport/domain/primitives'
import type { DealsWindow } from '@tradeport/domain/journal'
import type { MarginQuery } from '@tradeport/domain/ports'
import { nothingSent } from './failures.ts'
import type { ProviderRoute } from './failures.ts'

/** Where an account is asked about, and with whose token. */
export interface Target {
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly providerAccountId: string
  /** Goes into the header `auth-token` and nowhere else. */
  readonly token: string
  /**
   * The tenant and its account at the provider, as the key of what is remembered of the account.
   */
  readonly account: string
}

/** A read of an account. */
export interface ReadRequest {
  readonly route: ProviderRoute
  /** Behind the account. */
  readonly path: string
  /** Sent as JSON by POST; a GET where it is absent. */
  readonly body?: object
}

/** The most rows of a history that the provider gives at once. */
export const pageSize = 1_000

const refreshQuery = (refresh: boolean): string => (refresh ? '?refreshTerminalState=true' : '')

export const requests = {
  /** At the provisioning host: where the account is deployed, among other things. */
  provisionedAccount: { route: 'account-region', path: '' },

  accountInformation: { route: 'account-information', path: '/account-information' },

  /**
   * Positions, or orders that still work; with `refresh` as the terminal has them now, past the
   * provider's copy; slower.
   */
  live: (route: 'positions' | 'orders', refresh: boolean) => ({
    route,
    path: `/${route}${refreshQuery(refresh)}`,
  }),

  /** A page of a history. `from` is included, `to` is not. */
  history: (route: 'history-orders' | 'history-deals', { from, to, offset }: DealsWindow) => {
    const window = `${encodeURIComponent(toIso(from))}/${encodeURIComponent(toIso(to))}`
    return { route, path: `/${route}/time/${window}?offset=${offset}&limit=${pageSize}` }
  },

  /** Computes and changes nothing, although it is a POST. */
  margin: ({ symbol, side, volume, openPrice }: MarginQuery) => ({
    route: 'calculate-margin' as const,
    path: '/calculate-margin',
    body: {
      symbol,
      type: side === 'buy' ? 'ORDER_TYPE_BUY' : 'ORDER_TYPE_SELL',
      volume,
      openPrice,
    },
  }),
} as const

export const urlOf = ({ baseUrl, providerAccountId }: Target, path: string): URL => {
  // Encoding leaves dots alone, and a URL takes a segment of dots for a step up.
  if (/^\.{0,2}$/.test(providerAccountId)) throw nothingSent('the provider account id is not one')
  return new URL(
    `${baseUrl}/users/current/accounts/${encodeURIComponent(providerAccountId)}${path}`,
  )
}
