// Finds the position that is to be changed, and refuses accounts on which nothing may be changed.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { requireBrokerAccount, requireTradable } from '../../accounts/account.ts'
import type { BrokerAccount } from '../../accounts/account.ts'
import type {
  AccountPurposeRestricted,
  BrokerReadError,
  LiveAccountRestricted,
  PositionNotFound,
  ServiceUnavailable,
} from '../../errors.ts'
import type { AccountStore } from '../../ports/account-store.ts'
import type { LiveAccounts } from '../../ports/live-accounts.ts'
import type { Owner, PositionId } from '../../primitives/ids.ts'
import { confirmDemo } from './confirm-demo.ts'
import { findPositionAccount } from './find-position-account.ts'

/** A position that may be changed, if it is open. */
export interface ChangeTarget {
  readonly id: PositionId
  readonly brokerAccount: BrokerAccount
}

export type TargetRefusal = PositionNotFound | AccountPurposeRestricted | LiveAccountRestricted | BrokerReadError | ServiceUnavailable

interface Ports {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly liveAccounts: LiveAccounts
}

/** @param text a position's id as the caller wrote it */
export const findChangeTarget =
  (ports: Ports) =>
  (owner: Owner, text: string): TE.TaskEither<TargetRefusal, ChangeTarget> =>
    pipe(
      TE.Do,
      TE.bind('found', () => findPositionAccount(ports)(owner, text)),
      TE.tap(({ found }) => TE.fromEither(requireTradable(found.account))),
      TE.bindW('brokerAccount', ({ found }) => TE.fromEither(requireBrokerAccount(found.account))),
      TE.tap(({ found }) => confirmDemo(ports)(found.account)),
      TE.map(({ found, brokerAccount }) => ({ id: found.id, brokerAccount })),
    )
