// The margin that a position needs; a calculation that fails leaves null and never fails the list (2.4; decision 27).
import * as O from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Broker } from '../../ports/broker.ts'
import type { HeldPosition, PositionViews } from '../../ports/position-views.ts'
import type { Position } from '../../positions/position.ts'

export const withMargin =
  (ports: { readonly broker: Pick<Broker, 'requiredMargin'> }) =>
  ({ brokerAccount, position }: HeldPosition): T.Task<Position> => {
    const { symbol, side, volume, entryPrice: openPrice } = position
    const { accountId, owner } = brokerAccount
    return pipe(
      ports.broker.requiredMargin(brokerAccount, { symbol, side, volume, openPrice }),
      TE.match(() => null, O.toNullable),
      (margin) => async () => ({ ...position, accountId, userId: owner.userId, marginUsed: await margin() }),
    )
  }

/** The port as it is without any cache: every margin is asked for. */
export const createPositionViews = (ports: { readonly broker: Pick<Broker, 'requiredMargin'> }): PositionViews => ({
  view: T.traverseArray(withMargin(ports)),
})
