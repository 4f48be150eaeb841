// A desk to test verbs on: stored accounts of one user, a broker, and a clock that tests turn, all
// in memory.
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { expect } from 'vitest'
import type { Account } from '../../src/accounts/account.ts'
import { serviceUnavailable } from '../../src/errors.ts'
import type { Refusal } from '../../src/errors.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { createFakeAccountStore } from '../../src/testing/fake-account-store.ts'
import { createFakeBroker } from '../../src/testing/fake-broker.ts'
import { createFakeRecords } from '../../src/testing/fake-records.ts'
import { newAccount } from '../../src/testing/stored-records.ts'
import type { Owner, TenantId, UserId } from '../../src/primitives/ids.ts'
import { createLiveAccounts } from '../../src/use-cases/accounts.ts'
import { createPositionViews } from '../../src/use-cases/positions.ts'

export const owner: Owner = { tenantId: 'acme' as TenantId, userId: 'u-1' as UserId }
export const stranger: Owner = { tenantId: 'acme' as TenantId, userId: 'u-2' as UserId }

export const createTestDesk = (clock: Clock = { now: () => 1_000_000 }) => {
  const records = createFakeRecords()
  const accounts = createFakeAccountStore(records)
  const broker = createFakeBroker(clock)
  const ports = { accounts, broker, clock }
  return {
    ...ports,
    records,
    liveAccounts: createLiveAccounts(ports),
    positionViews: createPositionViews(ports),
    /** Links an account of `owner`, known to the broker unless `fields` say otherwise. */
    link: (fields: Partial<Account> = {}): Account => {
      const account = newAccount(owner, fields)
      records.tables.accounts.set(account.id, account)
      broker.put(account.id)
      return account
    },
  }
}

export const rightOf = async <A>(task: TE.TaskEither<unknown, A>): Promise<A> =>
  E.getOrElse<unknown, A>((error) => expect.fail(JSON.stringify(error)))(await task())

export const tagOf = async (task: TE.TaskEither<Refusal, unknown>): Promise<string> => {
  const result = await task()
  return E.isLeft(result) ? result.left._tag : 'none'
}

/** A store that cannot be reached. */
export const unavailable = () => TE.left(serviceUnavailable('away'))
