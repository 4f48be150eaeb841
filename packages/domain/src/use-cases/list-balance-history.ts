// GET /accounts/:id/history: balance snapshots, newest first, as many as the interval allows (4.1; decision 18).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BalanceSnapshot, HistoryInterval } from '../accounts/balance-history.ts'
import { snapshotCap } from '../accounts/balance-history.ts'
import type { Caller } from '../access/credential.ts'
import type { AccountNotFound, ServiceUnavailable } from '../errors.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { AccountId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { findAccount } from './steps/find-account.ts'

export interface BalanceHistoryQuery {
  readonly from?: Instant | undefined
  readonly to?: Instant | undefined
  readonly interval?: HistoryInterval | undefined
}

export const listBalanceHistory =
  (ports: { readonly accounts: Pick<AccountStore, 'find' | 'snapshots'> }) =>
  (
    { owner }: Caller,
    id: AccountId,
    { from, to, interval }: BalanceHistoryQuery,
  ): TE.TaskEither<AccountNotFound | ServiceUnavailable, readonly BalanceSnapshot[]> =>
    pipe(
      findAccount(ports)(owner, id),
      TE.flatMap(() => ports.accounts.snapshots(owner, id, { from, to, limit: snapshotCap(interval) })),
    )
