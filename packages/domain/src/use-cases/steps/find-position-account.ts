// Finds the account that a position's id names; an id that is malformed, unknown or another user's is that of no position (decision 28).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Account } from '../../accounts/account.ts'
import { positionNotFound } from '../../errors.ts'
import type { PositionNotFound, ServiceUnavailable } from '../../errors.ts'
import type { AccountStore } from '../../ports/account-store.ts'
import { parsePositionId } from '../../primitives/ids.ts'
import type { Owner, PositionId } from '../../primitives/ids.ts'

export interface PositionAccount {
  readonly id: PositionId
  readonly account: Account
}

/** @param text a position's id as the caller wrote it */
export const findPositionAccount =
  (ports: { readonly accounts: Pick<AccountStore, 'find'> }) =>
  (owner: Owner, text: string): TE.TaskEither<PositionNotFound | ServiceUnavailable, PositionAccount> =>
    pipe(
      TE.Do,
      TE.bind('id', () => TE.fromOption(() => positionNotFound)(parsePositionId(text))),
      TE.bindW('found', ({ id }) => ports.accounts.find(owner, id.accountId)),
      TE.bindW('account', ({ found }) => TE.fromOption(() => positionNotFound)(found)),
    )
