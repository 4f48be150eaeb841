// A desk to test verbs on: stored accounts of one user, a broker, and a clock that tests turn, all in memory.
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { expect } from 'vitest'
import type { Account } from '../../src/accounts/account.ts'
import type { Refusal } from '../../src/errors.ts'
import type { AccountStore } from '../../src/ports/account-store.ts'
import type { LiveAccounts } from '../../src/ports/live-accounts.ts'
import type { PositionViews } from '../../src/ports/position-views.ts'
import { createFakeAccountStore } from '../../src/testing/fake-account-store.ts'
import { createFakeBroker } from '../../src/testing/fake-broker.ts'
import type { FakeBroker } from '../../src/testing/fake-broker.ts'
import { createFakeRecords } from '../../src/testing/fake-records.ts'
import { newAccount } from '../../src/testing/stored-records.ts'
import type { Owner, TenantId, UserId } from '../../src/primitives/ids.ts'
import { createPositionViews } from '../../src/use-cases/steps/position-views.ts'
import { createLiveAccounts } from '../../src/use-cases/steps/read-live-account.ts'

export const owner: Owner = { tenantId: 'acme' as TenantId, userId: 'u-1' as UserId }
export const stranger: Owner = { tenantId: 'acme' as TenantId, userId: 'u-2' as UserId }

export interface TestDesk {
  readonly accounts: AccountStore
  readonly broker: FakeBroker
  readonly liveAccounts: LiveAccounts
  readonly positionViews: PositionViews
  readonly clock: { now: () => number }
  /** Links an account of `owner`, known to the broker unless `fields` say otherwise. */
  readonly link: (fields?: Partial<Account>) => Account
}

export const createTestDesk = (): TestDesk => {
  const records = createFakeRecords()
  const clock = { now: () => 1_000_000 }
  const accounts = createFakeAccountStore(records)
  const broker = createFakeBroker(clock)
  const ports = { accounts, broker, clock }
  return {
    ...ports,
    liveAccounts: createLiveAccounts(ports),
    positionViews: createPositionViews(ports),
    link: (fields = {}) => {
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
