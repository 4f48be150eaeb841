// Finds an account of the caller; another user's or tenant's is as absent as one that never was (5 rule 9; decision 29).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Account } from '../../accounts/account.ts'
import { accountNotFound } from '../../errors.ts'
import type { AccountNotFound, ServiceUnavailable } from '../../errors.ts'
import type { AccountStore } from '../../ports/account-store.ts'
import type { AccountId, Owner } from '../../primitives/ids.ts'

export const findAccount =
  (ports: { readonly accounts: Pick<AccountStore, 'find'> }) =>
  (owner: Owner, id: AccountId): TE.TaskEither<AccountNotFound | ServiceUnavailable, Account> =>
    pipe(ports.accounts.find(owner, id), TE.flatMap(TE.fromOption(() => accountNotFound)))
