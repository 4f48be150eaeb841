// What a broker in memory holds of accounts, and reads of it, which tests count, make fail and make
// wait.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import { refuse, type BrokerReadError } from '@tradeport/domain/errors'
import type { AccountId } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'

export interface ReadControls<Read extends string> {
  /**
   * Makes an account's reads fail with `error` until `heal`; all of them unless `reads` names some.
   */
  readonly fail: (accountId: AccountId, error: BrokerReadError, reads?: readonly Read[]) => void
  readonly heal: (accountId: AccountId) => void
  /** Lets every call wait until the function that it returns is called. */
  readonly hold: () => () => void
  /** How many reads reached the broker, of one kind or of all, for one account or for all. */
  readonly calls: (read?: Read, accountId?: AccountId) => number
}

/** An account that has no book is not provisioned. */
export const createFakeReads = <Read extends string, Book>() => {
  const books = new Map<AccountId, Book>()
  const failures = new Map<AccountId, { error: BrokerReadError; reads?: readonly Read[] }>()
  const log: { readonly read: Read; readonly accountId: AccountId }[] = []
  let held: Promise<void> = Promise.resolve()
  const controls: ReadControls<Read> = {
    fail: (accountId, error, reads) =>
      void failures.set(accountId, { error, ...(reads && { reads }) }),
    heal: (accountId) => void failures.delete(accountId),
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
    calls: (read, accountId) =>
      log.filter(
        (call) =>
          (read === undefined || call.read === read) &&
          (accountId === undefined || call.accountId === accountId),
      ).length,
  }
  return {
    books,
    controls,
    held: () => held,
    open:
      (read: Read, { accountId }: BrokerAccount): TE.TaskEither<BrokerReadError, Book> =>
      async () => {
        log.push({ read, accountId })
        await held
        const { error, reads = [read] } = failures.get(accountId) ?? {}
        if (error !== undefined && reads.includes(read)) return E.left(error)
        return E.fromNullable(refuse('NotProvisioned', { accountId }))(books.get(accountId))
      },
  }
}
