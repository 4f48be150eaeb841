// Limits how much work runs at once: in all, for one tenant, and for one account of it. Work that has to wait is started in turn, tenant by tenant, so that
// whoever asks for a lot delays only itself. Limits hold for this process.

export interface FairPoolLimits {
  readonly size: number
  readonly perTenant: number
  readonly perAccount: number
}

export interface FairPoolKey {
  readonly tenant: string
  /** Unique within the tenant. */
  readonly account: string
}

/** Gives the slot back. A second call changes nothing. */
export type ReleaseSlot = () => void

export interface FairPool {
  /** Resolves with the slot's release, or with undefined when no slot came free within `patienceMs`. */
  readonly acquire: (key: FairPoolKey, patienceMs: number) => Promise<ReleaseSlot | undefined>
  readonly running: () => number
  readonly waiting: () => number
}

interface Waiting {
  readonly start: (release: ReleaseSlot) => void
}

interface AccountState {
  running: number
  readonly waiting: Set<Waiting>
}

interface TenantState {
  running: number
  /** Accounts with work that runs or waits. The one that was served last is at the end. */
  readonly accounts: Map<string, AccountState>
}

export const createFairPool = ({ size, perTenant, perAccount }: FairPoolLimits): FairPool => {
  // Tenants with work that runs or waits. The one that was served last is at the end.
  const tenants = new Map<string, TenantState>()
  let running = 0
  let waiting = 0

  const stateOf = ({ tenant, account }: FairPoolKey): { readonly tenantState: TenantState; readonly accountState: AccountState } => {
    const tenantState = tenants.get(tenant) ?? { running: 0, accounts: new Map<string, AccountState>() }
    const accountState = tenantState.accounts.get(account) ?? { running: 0, waiting: new Set<Waiting>() }
    tenants.set(tenant, tenantState)
    tenantState.accounts.set(account, accountState)
    return { tenantState, accountState }
  }

  const forgetIdle = ({ tenant, account }: FairPoolKey): void => {
    const tenantState = tenants.get(tenant)
    const accountState = tenantState?.accounts.get(account)
    if (tenantState === undefined || accountState === undefined || accountState.running + accountState.waiting.size > 0) return
    tenantState.accounts.delete(account)
    if (tenantState.accounts.size === 0) tenants.delete(tenant)
  }

  const hasRoom = (tenantState: TenantState, accountState: AccountState): boolean =>
    running < size && tenantState.running < perTenant && accountState.running < perAccount

  const take = (key: FairPoolKey): ReleaseSlot => {
    const { tenantState, accountState } = stateOf(key)
    running += 1
    tenantState.running += 1
    accountState.running += 1
    moveToEnd(tenants, key.tenant, tenantState)
    moveToEnd(tenantState.accounts, key.account, accountState)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      running -= 1
      tenantState.running -= 1
      accountState.running -= 1
      forgetIdle(key)
      startWaiting()
    }
  }

  const nextWaiting = (): { readonly key: FairPoolKey; readonly next: Waiting } | undefined => {
    if (running >= size || waiting === 0) return undefined
    for (const [tenant, tenantState] of tenants) {
      if (tenantState.running >= perTenant) continue
      for (const [account, accountState] of tenantState.accounts) {
        const [next] = accountState.waiting
        if (next !== undefined && hasRoom(tenantState, accountState)) return { key: { tenant, account }, next }
      }
    }
    return undefined
  }

  const startWaiting = (): void => {
    for (let found = nextWaiting(); found !== undefined; found = nextWaiting()) found.next.start(take(found.key))
  }

  const wait = (key: FairPoolKey, patienceMs: number): Promise<ReleaseSlot | undefined> =>
    new Promise((resolve) => {
      const { accountState } = stateOf(key)
      const leave = (release: ReleaseSlot | undefined): void => {
        clearTimeout(timer)
        accountState.waiting.delete(entry)
        waiting -= 1
        forgetIdle(key)
        resolve(release)
      }
      const entry: Waiting = { start: leave }
      const timer = setTimeout(leave, patienceMs, undefined)
      accountState.waiting.add(entry)
      waiting += 1
    })

  return {
    acquire: async (key, patienceMs) => {
      const { tenantState, accountState } = stateOf(key)
      if (accountState.waiting.size === 0 && hasRoom(tenantState, accountState)) return take(key)
      if (patienceMs <= 0) {
        forgetIdle(key)
        return undefined
      }
      return wait(key, patienceMs)
    },
    running: () => running,
    waiting: () => waiting,
  }
}

const moveToEnd = <A>(map: Map<string, A>, key: string, value: A): void => {
  map.delete(key)
  map.set(key, value)
}
