// One live read of an account's figures, recorded when it happened and shared for as long as the
// cache keeps it.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Account, AccountReading } from '../accounts/account.ts'
import type { BrokerReadError, ServiceUnavailable } from '../errors.ts'

export interface LiveAccounts {
  readonly read: (
    account: Account,
  ) => TE.TaskEither<BrokerReadError | ServiceUnavailable, AccountReading>
}
