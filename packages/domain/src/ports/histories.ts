// The folded trade history of an account: what the list, the statistics and the exports share, and what is cached (4.5).
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerAccount } from '../accounts/account.ts'
import type { BrokerReadError, HistoryTooLarge } from '../errors.ts'
import type { AccountHistory } from '../trades/account-history.ts'

export interface Histories {
  readonly read: (account: BrokerAccount) => TE.TaskEither<BrokerReadError | HistoryTooLarge, AccountHistory>
}
