// Limits how much work runs at once in this process: in all, for a tenant, and for an account.
// Waiting work starts tenant by tenant in turn, so that a busy tenant delays only itself.

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
  /**
   * Resolves with the slot's release, or with undefined when no slot came free within `patienceMs`.
   */
  readonly acquire: (key: FairPoolKey, patienceMs: number) => Promise<ReleaseSlot | undefined>
  readonly running: () => number
  readonly waiting: () => number
}

interface Entry {
  readonly tenant: Group
  readonly account: Group
  readonly start: (release: ReleaseSlot) => void
}

/** A tenant, or an account, with work that runs or waits. */
interface Group {
  readonly key: string
  /** The work of it that runs or waits. */
  entries: number
  running: number
  /** The number of the turn in which it last came or was served. */
  lastTurn: number
}

export const createFairPool = ({ size, perTenant, perAccount }: FairPoolLimits): FairPool => {
  const groups = new Map<string, Group>()
  const waiting = new Set<Entry>()
  let running = 0
  let turns = 0

  const enter = (key: string): Group => {
    const group = groups.get(key) ?? { key, entries: 0, running: 0, lastTurn: (turns += 1) }
    groups.set(key, group)
    group.entries += 1
    return group
  }

  const leave = ({ tenant, account }: Entry): void => {
    for (const group of [tenant, account]) {
      group.entries -= 1
      if (group.entries === 0) groups.delete(group.key)
    }
  }

  const hasRoom = ({ tenant, account }: Entry): boolean =>
    running < size && tenant.running < perTenant && account.running < perAccount

  const begin = (entry: Entry): void => {
    let isReleased = false
    waiting.delete(entry)
    running += 1
    for (const group of [entry.tenant, entry.account]) {
      group.running += 1
      group.lastTurn = turns += 1
    }
    entry.start(() => {
      if (isReleased) return
      isReleased = true
      running -= 1
      entry.tenant.running -= 1
      entry.account.running -= 1
      leave(entry)
      beginWaiting()
    })
  }

  const beginWaiting = (): void => {
    if (running >= size) return
    let next: Entry | undefined
    for (const entry of waiting)
      if (hasRoom(entry) && (next === undefined || isBefore(entry, next))) next = entry
    if (next === undefined) return
    begin(next)
    beginWaiting()
  }

  const wait = (entry: Entry, patienceMs: number, giveUp: () => void): NodeJS.Timeout => {
    waiting.add(entry)
    return setTimeout(() => {
      waiting.delete(entry)
      leave(entry)
      giveUp()
    }, patienceMs)
  }

  return {
    acquire: ({ tenant, account }, patienceMs) =>
      new Promise((resolve) => {
        let timer: NodeJS.Timeout | undefined
        const entry: Entry = {
          tenant: enter(JSON.stringify([tenant])),
          account: enter(JSON.stringify([tenant, account])),
          start: (release) => {
            clearTimeout(timer)
            resolve(release)
          },
        }
        // Nobody waits who could run, so that a newcomer overtakes nobody.
        if (hasRoom(entry)) begin(entry)
        else timer = wait(entry, patienceMs, () => resolve(undefined))
      }),
    running: () => running,
    waiting: () => waiting.size,
  }
}

const isBefore = (one: Entry, other: Entry): boolean =>
  (one.tenant.lastTurn - other.tenant.lastTurn || one.account.lastTurn - other.account.lastTurn) < 0
