// A halt of an account: while it lasts no order is placed. Changes and closes of positions stay
// possible (docs/behaviour.md#halts).
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { refuse, type Halt, type Refusal } from '../errors.ts'
import type { AccountId } from '../primitives/ids.ts'

/** A halt by the operator. */
export interface OperatorHalt extends Omit<Halt, 'by'> {
  readonly accountId: AccountId
}

export const requireNotHalted = (
  accountId: AccountId,
  halt: O.Option<Halt>,
): E.Either<Refusal<'AccountHalted'>, void> =>
  O.isSome(halt)
    ? E.left(refuse('AccountHalted', { accountId, halt: halt.value }))
    : E.right(undefined)
