// Linked accounts: their figures, read live where the broker can be read, and their balance
// history.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import {
  isReadLive,
  requireBrokerAccount,
  withFailedRead,
  withReading,
} from '../accounts/account.ts'
import type { Account } from '../accounts/account.ts'
import { snapshotCap } from '../accounts/balance-history.ts'
import type { BalanceSnapshot, HistoryInterval } from '../accounts/balance-history.ts'
import { accountDisconnected } from '../errors.ts'
import type { AccountDisconnected, AccountNotFound, ServiceUnavailable } from '../errors.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { Broker } from '../ports/broker.ts'
import type { LiveAccounts } from '../ports/live-accounts.ts'
import type { Ports } from '../ports/ports.ts'
import type { AccountId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { findAccount } from './steps/accounts.ts'

/** An account and when its figures were read live; null for stored figures. */
export interface AccountView {
  readonly account: Account
  readonly liveDataUpdatedAt: Instant | null
}

export interface BalanceHistoryQuery {
  readonly from?: Instant | undefined
  readonly to?: Instant | undefined
  readonly interval?: HistoryInterval | undefined
}

const storedView = (account: Account): AccountView => ({ account, liveDataUpdatedAt: null })

export const createAccounts = (ports: Pick<Ports, 'accounts' | 'liveAccounts' | 'clock'>) => {
  const { accounts, liveAccounts, clock } = ports

  const liveView = (account: Account) =>
    pipe(
      liveAccounts.read(account),
      TE.map((reading): AccountView => ({
        account: withReading(account, reading),
        liveDataUpdatedAt: reading.readAt,
      })),
    )

  // A broker that cannot be read leaves the stored figures, so that one account cannot take the
  // list away. Where what was read cannot be written down, it is not the account that is in error.
  const viewInList = (account: Account): TE.TaskEither<ServiceUnavailable, AccountView> =>
    isReadLive(account)
      ? pipe(
          liveView(account),
          TE.orElse((failure) =>
            failure._tag === 'ServiceUnavailable'
              ? TE.left(failure)
              : TE.right(storedView(withFailedRead(account, clock.now()))),
          ),
        )
      : TE.right(storedView(account))

  const viewAlone = (
    account: Account,
  ): TE.TaskEither<AccountDisconnected | ServiceUnavailable, AccountView> => {
    if (isReadLive(account))
      return pipe(
        liveView(account),
        TE.mapLeft((error) =>
          error._tag === 'ServiceUnavailable' ? error : accountDisconnected(account.id, 'error'),
        ),
      )
    if (account.status === 'disconnected' || account.status === 'error')
      return TE.left(accountDisconnected(account.id, account.status))
    return TE.right(storedView(account))
  }

  return {
    /** GET /accounts: oldest first. */
    listAccounts: ({ owner }: Caller): TE.TaskEither<ServiceUnavailable, readonly AccountView[]> =>
      pipe(accounts.list(owner), TE.flatMap(TE.traverseArray(viewInList))),

    /**
     * GET /accounts/:id. An account that is disconnected, or cannot be read now, is a refusal and
     * not a stale answer.
     */
    getAccount: (
      { owner }: Caller,
      id: AccountId,
    ): TE.TaskEither<AccountNotFound | AccountDisconnected | ServiceUnavailable, AccountView> =>
      pipe(findAccount(ports)(owner, id), TE.flatMap(viewAlone)),

    /** GET /accounts/:id/history: newest first, as many as the interval allows. */
    listBalanceHistory: (
      { owner }: Caller,
      id: AccountId,
      { from, to, interval }: BalanceHistoryQuery,
    ): TE.TaskEither<AccountNotFound | ServiceUnavailable, readonly BalanceSnapshot[]> =>
      pipe(
        findAccount(ports)(owner, id),
        TE.flatMap(() => accounts.snapshots(owner, id, { from, to, limit: snapshotCap(interval) })),
      ),
  }
}

interface LivePorts extends Pick<Ports, 'clock'> {
  readonly accounts: Pick<AccountStore, 'recordReading' | 'recordFailedRead'>
  readonly broker: Pick<Broker, 'accountInformation'>
}

/**
 * Reads an account's figures from the broker and records the outcome: the new figures, or that the
 * read failed.
 */
export const createLiveAccounts = ({ accounts, broker, clock }: LivePorts): LiveAccounts => ({
  read: (account) =>
    pipe(
      TE.fromEither(requireBrokerAccount(account)),
      TE.flatMap(broker.accountInformation),
      TE.tapError(() => accounts.recordFailedRead(account.owner, account.id, clock.now())),
      TE.tap((reading) => accounts.recordReading(account.owner, account, reading)),
    ),
})
