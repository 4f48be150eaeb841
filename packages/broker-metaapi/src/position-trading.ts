// The port of position changes: a change is one request, and its effect is read by the caller.
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import { refuse } from '@tradeport/domain/errors'
import type { Broker, PositionTrading } from '@tradeport/domain/ports'
import { roundLots } from '@tradeport/domain/primitives'
import { createChange, outcomeUnknown } from './changes.ts'
import type { Connection } from './connection.ts'
import { requests } from './requests.ts'
import { positionsIn } from './translate.ts'

/** With `readFromTerminal` from the trading terminal, not from the provider's copy. */
export const readPositions =
  ({ fetchFrom, clock, asPortRead }: Connection, readFromTerminal: boolean): Broker['positions'] =>
  (account) =>
    asPortRead(account, async () => {
      const readAt = clock.now()
      const request = requests.current('positions', readFromTerminal)
      return { positions: await fetchFrom(account, request, positionsIn), readAt }
    })

export const createPositionTrading = (connection: Connection): PositionTrading => {
  // That the broker does not know an order does not mean that the position is closed.
  const change = createChange(connection, (reason) =>
    reason.code === 'ERR_TRADE_ORDER_NOT_FOUND'
      ? refuse('TradeRejected', reason)
      : refuse('PositionNotFound'),
  )

  return {
    freshPositions: readPositions(connection, true),

    // The provider replaces both levels, and removes one that is left out.
    setLevels: (account, positionId, { stopLoss, takeProfit }, maySend) =>
      pipe(
        change(
          account,
          { actionType: 'POSITION_MODIFY', positionId, stopLoss, takeProfit },
          maySend,
        ),
        TE.map(({ progress }) => ({ progress })),
      ),

    closePosition: (account, positionId, lots, maySend) => {
      const volume = lots === null ? undefined : roundLots(lots)
      if (volume === 0) return TE.left(volumeTooSmall)
      const actionType = volume === undefined ? 'POSITION_CLOSE_ID' : 'POSITION_PARTIAL'
      return pipe(
        change(account, { actionType, positionId, volume }, maySend),
        TE.flatMapEither(({ progress, brokerOrderId }) =>
          // The position may have been closed before, or may still be open.
          progress === 'unchanged'
            ? E.left(outcomeUnknown(account))
            : E.right({ progress, brokerOrderId }),
        ),
      )
    },
  }
}

const volumeTooSmall = refuse('TradeRejected', {
  code: 'INVALID_VOLUME',
  message: 'The volume to close must be at least 0.00000001 lots.',
})
