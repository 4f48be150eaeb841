// Who is signed in, and what their key may see. The key is in the page's memory, or in
// sessionStorage where the user asked for that.
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { createClient } from '@tradeport/client'
import { whyHidden, type Area } from './access.ts'
import { compareClocks } from './format.ts'
import { createFetch } from './limited-fetch.ts'
import { listen } from './listen.ts'
import { createWriteTracker, isUnresolved, type UnresolvedWrite } from './write-tracker.ts'

export type Session = Awaited<ReturnType<typeof openSession>>

const SessionContext = createContext<Session | undefined>(undefined)
export const SessionProvider = SessionContext.Provider

export const useSession = (): Session => {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('nobody is signed in')
  return session
}

const idleMs = 30 * 60_000
const storageName = 'tradeport-session'
const unresolvedName = 'tradeport-unresolved'

/** What a tab keeps of a sign-in when it is reloaded. */
interface KeptSignIn {
  /** Only where it was asked for. */
  readonly key?: string | undefined
  /** Epoch milliseconds. */
  readonly usedAt: number
}

interface UnresolvedWrites {
  /** The tenant and the user. */
  readonly owner: string
  readonly writes: readonly UnresolvedWrite[]
}

/** @throws a TradeportError where the key is not accepted */
export const openSession = async (key: string) => {
  const ending = new AbortController()
  const client = createClient({
    baseUrl: '/api/v1',
    apiKey: key,
    fetch: createFetch(() => ending.abort()),
    timeoutMs: 30_000,
    retry: { attempts: 2, withinMs: 10_000 },
  })
  const askedAt = Date.now()
  const { data: me, meta } = await client.getMe()
  compareClocks(askedAt, meta.timestamp)
  const owner = JSON.stringify([me.tenantId, me.userId])
  const tracker = createWriteTracker(unresolvedOf(owner))
  tracker.subscribe(() => keepUnresolved(owner, tracker.list().filter(isUnresolved)))
  return {
    client,
    me,
    tracker,
    /** Why the key may not see or change one of the areas, as a sentence; undefined where it may. */
    whyHidden: (...wanted: readonly Area[]) => whyHidden(me, wanted),
    /** The Idempotency-Keys of actions whose outcome is unknown, by the names of the actions. */
    actionKeys: new Map<string, string>(),
    /** Aborted once the service refuses the key, which may have been revoked or have expired. */
    ended: ending.signal,
  }
}

/** @param key undefined: only that somebody was signed in */
export const keepSignIn = (key: string | undefined): void =>
  write(storageName, { key, usedAt: Date.now() })

export const forgetSignIn = (): void => storage()?.removeItem(storageName)

/** The writes of a user that were unresolved when the tab was reloaded. */
const unresolvedOf = (owner: string): readonly UnresolvedWrite[] => {
  const kept = read(unresolvedName) as UnresolvedWrites | null
  return kept?.owner === owner ? kept.writes : []
}

const keepUnresolved = (owner: string, unresolved: readonly UnresolvedWrite[]): void => {
  if (unresolved.length === 0) return forgetUnresolved()
  const writes = unresolved.map(({ words, positionToClose }) => ({ words, positionToClose }))
  try {
    write(unresolvedName, { owner, writes })
  } catch {
    // A full storage must not stop a write from being sent.
  }
}

export const forgetUnresolved = (): void => storage()?.removeItem(unresolvedName)

/** Undefined where the browser keeps nothing for this site: reading the property throws there. */
const storage = (): Storage | undefined => {
  try {
    return sessionStorage
  } catch {
    return undefined
  }
}

const read = (name: string): unknown => JSON.parse(storage()?.getItem(name) ?? 'null')

const write = (name: string, value: KeptSignIn | UnresolvedWrites): void =>
  storage()?.setItem(name, JSON.stringify(value))

/** What this tab kept before it was reloaded, unless nobody has used the console for too long. */
export const keptSignIn = (): KeptSignIn | undefined => {
  const kept = readSignIn()
  if (kept === undefined || Date.now() - kept.usedAt < idleMs) return kept
  forgetSignIn()
  return undefined
}

const readSignIn = (): KeptSignIn | undefined =>
  (read(storageName) as KeptSignIn | null) ?? undefined

/** Calls back once nobody has used the page for 30 minutes. Returns what stops it. */
export const whenIdle = (signOut: () => void): (() => void) => {
  let usedAt = Date.now()
  const use = (): void => {
    // Whoever wakes the machine may be somebody else.
    if (Date.now() - usedAt >= idleMs) return signOut()
    usedAt = Date.now()
  }
  // By the clock and not by one long timer, which would stand still while the machine sleeps.
  const check = (): void => {
    if (Date.now() - usedAt >= idleMs) return signOut()
    const kept = readSignIn()
    if (kept !== undefined) write(storageName, { ...kept, usedAt })
  }
  const stops = [
    listen(window, ['pointerdown', 'pointermove', 'keydown', 'wheel'], use),
    listen(document, ['visibilitychange'], check),
  ]
  const timer = setInterval(check, 15_000)
  return () => {
    for (const stop of stops) stop()
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
  const reply = await fetch('/console/demo-key', {
    headers: { Authorization: `Bearer ${code}` },
    signal: AbortSignal.timeout(10_000),
  })
  const body = (await reply.json().catch(() => ({}))) as { readonly key?: string }
  if (body.key !== undefined) return body.key
  throw new Error(
    'The link was used before, or is older than a minute. Sign in with the API key that was printed with it.',
  )
}
