// One position: found by the id that a caller wrote, read from the broker, and shown with its
// margin and the time of the read.
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Account, BrokerAccount } from '../../accounts/account.ts'
import { positionNotFound } from '../../errors.ts'
import type { PositionNotFound, ServiceUnavailable } from '../../errors.ts'
import type { AccountStore } from '../../ports/account-store.ts'
import type { Ports } from '../../ports/ports.ts'
import type { HeldPosition } from '../../ports/position-views.ts'
import type { BrokerPosition, Position, PositionsReading } from '../../positions/position.ts'
import { parsePositionId } from '../../primitives/ids.ts'
import type { Owner, PositionId } from '../../primitives/ids.ts'
import { provenanceOf } from '../../primitives/provenance.ts'
import type { Provenance } from '../../primitives/provenance.ts'

/**
 * The account that a position's id names. An id that is malformed, unknown or another user's is
 * that of no position.
 */
export const findPositionAccount =
  ({ accounts }: { readonly accounts: Pick<AccountStore, 'find'> }) =>
  (
    owner: Owner,
    text: string,
  ): TE.TaskEither<
    PositionNotFound | ServiceUnavailable,
    { readonly id: PositionId; readonly account: Account }
  > =>
    pipe(
      TE.Do,
      TE.bind('id', () => TE.fromOption(() => positionNotFound)(parsePositionId(text))),
      TE.bindW('account', ({ id }) =>
        pipe(
          accounts.find(owner, id.accountId),
          TE.flatMap(TE.fromOption((): PositionNotFound => positionNotFound)),
        ),
      ),
    )

/** An open position with the read that it is from. */
export interface OpenPosition {
  readonly position: BrokerPosition
  readonly reading: PositionsReading
}

export interface PositionResult {
  readonly position: Position
  readonly provenance: Provenance
}

export const showPosition =
  ({ broker }: Pick<Ports, 'broker'>) =>
  (brokerAccount: BrokerAccount, { position, reading }: OpenPosition): T.Task<PositionResult> =>
    pipe(
      withMargin({ broker })({ brokerAccount, position }),
      T.map((held) => ({
        position: held,
        provenance: provenanceOfRead(broker.source, brokerAccount, reading),
      })),
    )

export const provenanceOfRead = (
  source: string,
  { accountId }: BrokerAccount,
  { readAt }: PositionsReading,
): Provenance => provenanceOf(source, [{ accountId, readAt }], readAt)

/** A margin that cannot be calculated is null. */
export const withMargin =
  ({ broker }: Pick<Ports, 'broker'>) =>
  ({ brokerAccount, position }: HeldPosition): T.Task<Position> => {
    const { symbol, side, volume, entryPrice: openPrice } = position
    const { accountId, owner } = brokerAccount
    return pipe(
      broker.requiredMargin(brokerAccount, { symbol, side, volume, openPrice }),
      TE.match(() => null, O.toNullable),
      T.map((marginUsed) => ({ ...position, accountId, userId: owner.userId, marginUsed })),
    )
  }
