// Limits how much work runs at once in this process: in all, for a tenant, and for a member of it,
// which is an account or a user.
// Waiting work starts tenant by tenant in turn, so that a busy tenant delays only itself.
import { refuse } from '@tradeport/domain/errors'
import type { Owner } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'

export interface FairPoolLimits {
  readonly size: number
  readonly perTenant: number
  readonly perMember: number
}

export interface FairPoolKey {
  readonly tenant: string
  /** Of an account or a user; unique within the tenant. */
  readonly member: string
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
  /** Under which it is counted: in all, for its tenant, and for its member. */
  readonly keys: readonly string[]
  readonly start: (release: ReleaseSlot) => void
}

export const createFairPool = ({ size, perTenant, perMember }: FairPoolLimits): FairPool => {
  const limits = [size, perTenant, perMember]
  const all = ''
  const running = new Map<string, number>()
  /** In the order in which they start, as far as the limits allow. */
  const waiting = new Set<Entry>()

  const count = (key: string): number => running.get(key) ?? 0
  const add = ({ keys }: Entry, change: 1 | -1) => {
    for (const key of keys) {
      running.set(key, count(key) + change)
      if (count(key) === 0) running.delete(key)
    }
  }
  const hasRoom = ({ keys }: Pick<Entry, 'keys'>) =>
    keys.every((key, at) => count(key) < limits[at]!)

  /** Moves the other work of the tenant to the end of the queue, that of the member behind it. */
  const endTurn = (entry: Entry) => {
    for (const key of entry.keys.slice(1))
      for (const other of [...waiting].filter(({ keys }) => keys.includes(key))) {
        waiting.delete(other)
        waiting.add(other)
      }
  }

  const begin = (entry: Entry) => {
    waiting.delete(entry)
    add(entry, 1)
    endTurn(entry)
    let isReleased = false
    entry.start(() => {
      if (isReleased) return
      isReleased = true
      add(entry, -1)
      // Also what arrived while it ran.
      endTurn(entry)
      beginWaiting()
    })
  }

  const beginWaiting = () => {
    // What `begin` moves to the end comes up again in this loop.
    for (const entry of waiting) {
      if (count(all) >= size) return
      if (hasRoom(entry)) begin(entry)
    }
  }

  return {
    acquire: ({ tenant, member }, patienceMs) =>
      new Promise((resolve) => {
        const keys = [all, JSON.stringify([tenant]), JSON.stringify([tenant, member])]
        // Whatever waits is held back by a limit, so that this takes no slot which it could use.
        if (hasRoom({ keys })) return begin({ keys, start: resolve })
        const timer = setTimeout(() => {
          waiting.delete(entry)
          resolve(undefined)
        }, patienceMs)
        const entry: Entry = {
          keys,
          start: (release) => {
            clearTimeout(timer)
            resolve(release)
          },
        }
        waiting.add(entry)
      }),
    running: () => count(all),
    waiting: () => waiting.size,
  }
}

type FirstArgument<Port> = Parameters<Extract<Port[keyof Port], (...of: never[]) => unknown>>[0]

/**
 * The port, each of whose calls takes a slot of the pool while it runs, so that long reads of one
 * user leave connections to everybody's orders. One that gets no slot in time fails with
 * ServiceUnavailable.
 * @param ownerOf of the first argument of every call
 */
export const takingTurns = <Port extends object>(
  pool: FairPool,
  port: Port,
  ownerOf: (first: FirstArgument<Port>) => Owner,
  patienceMs = 15_000,
): Port =>
  Object.fromEntries(
    Object.entries<
      (first: FirstArgument<Port>, ...rest: unknown[]) => TaskEither<unknown, unknown>
    >(port as never).map(([method, call]) => [
      method,
      (first: FirstArgument<Port>, ...rest: unknown[]) =>
        async () => {
          const { tenantId: tenant, userId: member } = ownerOf(first)
          const release = await pool.acquire({ tenant, member }, patienceMs)
          if (release === undefined)
            return E.left(
              refuse('ServiceUnavailable', { reason: `${method}: other reads took too long` }),
            )
          try {
            return await call(first, ...rest)()
          } finally {
            release()
          }
        },
    ]),
  ) as Port
