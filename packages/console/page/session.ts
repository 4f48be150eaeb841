// Who is signed in. The key is kept in the page's memory, or in sessionStorage when asked, which
// ends with the browser's tab.
import { createClient, isTradeportError, type Client, type DataOf } from '@tradeport/client'
import { createSent, type Sent } from './sent.ts'

export type Me = DataOf<'getMe'>

export interface Session {
  readonly client: Client
  readonly me: Me
  readonly sent: Sent
}

const idleMs = 30 * 60_000
const storageName = 'tradeport-session'

interface KeptKey {
  readonly key: string
  /** Epoch milliseconds. */
  readonly usedAt: number
}

/** @throws a TradeportError where the key is not accepted */
export const openSession = async (key: string): Promise<Session> => {
  const client = createClient({
    baseUrl: '/api/v1',
    apiKey: key,
    timeoutMs: 30_000,
    retry: { attempts: 2, withinMs: 10_000 },
  })
  return { client, me: (await client.getMe()).data, sent: createSent(sentenceOf) }
}

export const keepKey = (key: string): void => write({ key, usedAt: Date.now() })

export const forgetKey = (): void => sessionStorage.removeItem(storageName)

/** The key of this tab, unless nobody has used the console for too long. */
export const keptKey = (): string | undefined => {
  const kept = read()
  if (kept === undefined) return undefined
  if (Date.now() - kept.usedAt < idleMs) return kept.key
  forgetKey()
  return undefined
}

const read = (): KeptKey | undefined => {
  const text = sessionStorage.getItem(storageName)
  return text === null ? undefined : (JSON.parse(text) as KeptKey)
}

const write = (kept: KeptKey): void => sessionStorage.setItem(storageName, JSON.stringify(kept))

/** Calls back once nobody has used the page for 30 minutes. Returns what stops it. */
export const whenIdle = (signOut: () => void): (() => void) => {
  let usedAt = Date.now()
  const use = (): void => {
    usedAt = Date.now()
  }
  // By the clock and not by one long timer, which would stand still while the machine sleeps.
  const check = (): void => {
    if (Date.now() - usedAt >= idleMs) return signOut()
    const kept = read()
    if (kept !== undefined) write({ ...kept, usedAt })
  }
  const signs = ['pointerdown', 'pointermove', 'keydown', 'wheel'] as const
  for (const sign of signs) addEventListener(sign, use, { passive: true })
  document.addEventListener('visibilitychange', check)
  const timer = setInterval(check, 15_000)
  return () => {
    for (const sign of signs) removeEventListener(sign, use)
    document.removeEventListener('visibilitychange', check)
    clearInterval(timer)
  }
}

/**
 * Exchanges the code of a one-time link for its key, and takes the code out of the address.
 * Undefined without a code.
 */
export const redeemLink = async (): Promise<string | undefined> => {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  const reply = await fetch('/console/demo-key', { headers: { Authorization: `Bearer ${code}` } })
  const body = (await reply.json()) as { readonly key?: string }
  if (body.key !== undefined) return body.key
  throw new Error(
    'The link was used before, or is older than a minute. Sign in with the API key that was printed with it.',
  )
}

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

/** Why the key may not see or change an area, as a sentence; undefined where it may. */
export const whyHidden = ({ scopes, capabilities }: Me, area: Area): string | undefined => {
  const { scopes: needed, ...needs } = areas[area]
  if (!needed.some((scope) => scopes.includes(scope)))
    return `This key may not ${needed[0].endsWith(':write') ? 'change' : 'read'} this: it needs the scope ${needed.join(' or ')}.`
  if ('capability' in needs && !capabilities.includes(needs.capability))
    return `This service does not have the capability ${needs.capability} switched on.`
  return undefined
}

/** An error as a sentence for a person. */
export const sentenceOf = (error: unknown): string => {
  if (!isTradeportError(error)) return error instanceof Error ? error.message : String(error)
  if (error.code === 'UNAUTHORIZED') return 'The service does not accept this key.'
  if (error.code === 'NETWORK_FAILURE' || error.code === 'TIMED_OUT')
    return 'The service does not answer.'
  return error.message
}
