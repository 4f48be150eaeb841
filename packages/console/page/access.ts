// What a key may see and change.
import type { DataOf } from '@tradeport/client'

export type Me = DataOf<'getMe'>

/** What an area of the console needs: any one of the scopes, and the capability. */
const areas = {
  accounts: { scopes: ['accounts:read'] },
  positions: { scopes: ['trading:read', 'positions:read'] },
  orders: { scopes: ['trading:read'] },
  trades: { scopes: ['trading:read', 'history:read'] },
  insights: { scopes: ['trading:read', 'history:read'], capability: 'insights' },
  ordering: { scopes: ['trading:write', 'orders:write'], capability: 'trading-tools' },
  changing: { scopes: ['trading:write', 'positions:write'], capability: 'trading-tools' },
  halting: { scopes: ['trading:write'], capability: 'trading-tools' },
  prices: { scopes: ['market-data:read'], capability: 'market-data' },
  events: {
    scopes: ['trading:read', 'positions:read', 'history:read', 'accounts:read'],
    capability: 'events',
  },
  webhooks: { scopes: ['webhooks:read'] },
  changeWebhooks: { scopes: ['webhooks:write'] },
} as const satisfies Record<
  string,
  { readonly scopes: readonly Me['scopes'][number][]; readonly capability?: string }
>

export type Area = keyof typeof areas

/** The scopes that would grant an area; undefined if the key has one of them. */
export const missingScopes = ({ scopes }: Me, area: Area): string | undefined => {
  const needed: readonly Me['scopes'][number][] = areas[area].scopes
  return needed.some((scope) => scopes.includes(scope)) ? undefined : needed.join(' or ')
}

/** Why a key may not see or change one of the areas, as a sentence; undefined where it may. */
export const whyHidden = (me: Me, wanted: readonly Area[]): string | undefined => {
  for (const area of wanted) {
    const missing = missingScopes(me, area)
    if (missing !== undefined)
      return `This key may not ${missing.includes(':write') ? 'change' : 'read'} this: it needs the scope ${missing}.`
    const needs = areas[area]
    if ('capability' in needs && !me.capabilities.includes(needs.capability))
      return `This service does not have the capability ${needs.capability} switched on.`
  }
  return undefined
}
