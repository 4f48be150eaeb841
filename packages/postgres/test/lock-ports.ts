// What tests of position locks need: two instances over one database, a process that dies, callers
// that do not wait for long, and work that goes on.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { MaySend, PositionLocks } from '@tradeport/domain/ports'
import type { TenantId, UserId } from '@tradeport/domain/primitives'
import { newAccountId } from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { createPositionLocks } from '../src/index.ts'
import type { OpenedDatabase } from './open-stores.ts'

export const never = 2_000_000_000

export interface LockPorts {
  readonly locks: PositionLocks
  /** The same locks on another instance of the service. */
  readonly elsewhere: PositionLocks
  /** What a process that died leaves behind: a row that nobody renews. */
  readonly dying: PositionLocks
  /** The same for callers that give up soon. */
  readonly impatient: PositionLocks
}

export const lockPortsOn = ({
  database: { knex },
  elsewhere: { knex: otherKnex },
}: OpenedDatabase): LockPorts => ({
  locks: createPositionLocks({ knex, pollMs: 20 }),
  elsewhere: createPositionLocks({ knex: otherKnex, pollMs: 20 }),
  dying: createPositionLocks({ knex: otherKnex, leaseMs: 500, renewMs: never }),
  impatient: createPositionLocks({ knex, pollMs: 20, patienceMs: 1_000 }),
})

/** A new account at the provider, and a link to it. */
export const newBrokerAccount = (): BrokerAccount => {
  const accountId = newAccountId()
  const owner = { tenantId: 'tenant-1' as TenantId, userId: 'user-1' as UserId }
  return {
    accountId,
    owner,
    platform: 'mt5',
    providerAccountId: `provider-${accountId}`,
    region: null,
  }
}

/** Work that runs until `end` is called. */
export const heldWork = () => {
  const begun = Promise.withResolvers<MaySend>()
  const ended = Promise.withResolvers<void>()
  const work =
    (maySend: MaySend): TE.TaskEither<never, string> =>
    async () => {
      begun.resolve(maySend)
      await ended.promise
      return E.right('held')
    }
  return { work, begun: begun.promise, end: () => ended.resolve() }
}
