// Linked accounts: their figures, read live where the broker can be read, and their balance
// history.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import {
  isReadLive,
  requireBrokerAccount,
  snapshotCap,
  withFailedRead,
  withReading,
  type Account,
  type BalanceSnapshot,
  type HistoryInterval,
} from '../accounts/account.ts'
import { refuse, type AsyncResult, type UnavailableCause } from '../errors.ts'
import type { LiveAccounts, Ports } from '../ports/index.ts'
import type { Instant } from '../primitives/instant.ts'
import type { ById, DateRange, WithQuery } from './input.ts'
import { findAccount } from './steps/find.ts'

/** An account and when its figures were read live; null for stored figures. */
export interface AccountView {
  readonly account: Account
  readonly liveDataUpdatedAt: Instant | null
  /** Why the provider could not be read, where that is for the operator to mend. */
  readonly cause?: UnavailableCause | undefined
}

/** By default the latest. */
export interface BalanceHistoryQuery extends DateRange {
  readonly interval?: HistoryInterval | undefined
}

const storedView = (account: Account, cause?: UnavailableCause): AccountView => ({
  account,
  liveDataUpdatedAt: null,
  cause,
})

/** Accounts and their balance history. */
export const createAccounts = (ports: Pick<Ports, 'accounts' | 'liveAccounts' | 'clock'>) => {
  const { accounts, liveAccounts, clock } = ports

  // Where the broker cannot be read, the view has the stored figures and the status `error`. Where a
  // reading cannot be stored, it is not the account that is in error.
  const viewOf = (account: Account): AsyncResult<AccountView> =>
    isReadLive(account)
      ? pipe(
          liveAccounts.read(account),
          TE.map((reading) => ({
            account: withReading(account, reading),
            liveDataUpdatedAt: reading.readAt,
          })),
          TE.orElse((failure) =>
            failure._tag === 'ServiceUnavailable'
              ? TE.left(failure)
              : TE.right(
                  storedView(
                    withFailedRead(account, clock.now()),
                    failure._tag === 'BrokerUnavailable' ? failure.cause : undefined,
                  ),
                ),
          ),
        )
      : TE.right(storedView(account))

  return {
    /** GET /accounts: oldest first. */
    listAccounts: ({ owner }: Caller): AsyncResult<readonly AccountView[]> =>
      pipe(accounts.list(owner), TE.flatMap(TE.traverseArray(viewOf))),

    /**
     * GET /accounts/:id. An account that is disconnected, or cannot be read now, is a refusal and
     * not a stale answer.
     */
    getAccount: (
      { owner }: Caller,
      { id }: ById,
    ): AsyncResult<AccountView, 'AccountNotFound' | 'AccountDisconnected'> =>
      pipe(
        findAccount(ports)(owner, id),
        TE.flatMap(viewOf),
        TE.tap(({ account: { id: accountId, status }, cause }) =>
          status === 'disconnected' || status === 'error'
            ? TE.left(refuse('AccountDisconnected', { accountId, status, cause }))
            : TE.right(undefined),
        ),
      ),

    /** GET /accounts/:id/history: newest first, as many as the interval allows. */
    listBalanceHistory: (
      { owner }: Caller,
      {
        id,
        query: { startDate: from, endDate: to, interval },
      }: ById & WithQuery<BalanceHistoryQuery>,
    ): AsyncResult<readonly BalanceSnapshot[], 'AccountNotFound'> =>
      pipe(
        findAccount(ports)(owner, id),
        TE.flatMap((account) =>
          accounts.snapshots(owner, account.id, { from, to, limit: snapshotCap(interval) }),
        ),
      ),
  }
}

/**
 * Reads an account's figures from the broker and records the outcome: the new figures, or that the
 * read failed.
 */
export const createLiveAccounts = ({
  accounts,
  broker,
  clock,
}: Pick<Ports, 'accounts' | 'broker' | 'clock'>): LiveAccounts => ({
  read: (account) => () => {
    const readAt = clock.now()
    return pipe(
      TE.fromEither(requireBrokerAccount(account)),
      TE.flatMap(broker.accountInformation),
      TE.tapError(() => accounts.recordFailedRead(account.owner, account, readAt)),
      TE.tap((reading) => accounts.recordReading(account.owner, account, reading)),
    )()
  },
})
