// The port of changes over MetaApi's REST: a change goes out by one request; what it made of the
// position is read by whoever asked for it.
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import {
  brokerOutcomeUnknown,
  brokerRateLimited,
  brokerUnavailable,
  positionNotFound,
  tradeRejected,
} from '@tradeport/domain/errors'
import { roundLots } from '@tradeport/domain/primitives'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { BrokerChangeError } from '@tradeport/domain/errors'
import type { Broker, CloseReceipt, MaySend, PositionDesk } from '@tradeport/domain/ports'
import type { Instant } from '@tradeport/domain/primitives'
import type { Connection } from './connection.ts'
import { toBrokerReadError } from './failures.ts'
import { requests } from './requests.ts'
import type { TradeVerdict } from './trade/trade-answer.ts'
import type { TradeOnce } from './trade/trade-once.ts'
import type { TradeRequest } from './trade/trade-sender.ts'
import { positionsIn } from './translate/positions.ts'

/** Reads the positions; with `refresh` past the provider's copy, from the terminal itself. */
export const readPositions =
  ({ ask, clock, reading }: Connection, refresh: boolean): Broker['positions'] =>
  (account) =>
    reading(account, async () => ({
      positions: await ask(account, requests.live('positions', refresh), positionsIn),
      readAt: clock.now(),
    }))

/**
 * A change that the broker took: done, to no effect, or only accepted or done in part, where a read
 * has to show what became of the position.
 */
interface Receipt {
  readonly progress: 'done' | 'unchanged' | 'accepted'
  readonly orderId: string | null
}

export const positionDeskOver = (connection: Connection, tradeOnce: TradeOnce): PositionDesk => {
  const { now } = connection.clock

  const change = (
    account: BrokerAccount,
    body: TradeRequest['body'],
    maySend: MaySend,
  ): TE.TaskEither<BrokerChangeError, Receipt> =>
    pipe(
      TE.tryCatch(() => tradeOnce(account, body, maySend), toBrokerReadError(account, now)),
      TE.flatMapEither(({ verdict }) => receiptOf(account, verdict, now())),
    )

  return {
    freshPositions: readPositions(connection, true),

    // The provider replaces both levels, and takes off the one that is left out.
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
      if (volume === 0) return TE.left(noLots)
      const actionType = volume === undefined ? 'POSITION_CLOSE_ID' : 'POSITION_PARTIAL'
      return pipe(
        change(account, { actionType, positionId, volume }, maySend),
        TE.flatMapEither(({ progress, orderId }): E.Either<BrokerChangeError, CloseReceipt> =>
          // Neither a yes nor a no: the position may have been closed before, or may still be open.
          progress === 'unchanged'
            ? E.left(brokerOutcomeUnknown(account.accountId))
            : E.right({ progress, orderId }),
        ),
      )
    },
  }
}

const receiptOf = (
  { accountId }: BrokerAccount,
  verdict: TradeVerdict,
  now: Instant,
): E.Either<BrokerChangeError, Receipt> => {
  switch (verdict.kind) {
    case 'done':
      return E.right({ progress: 'done', orderId: verdict.tickets.orderId ?? null })
    case 'done_in_part':
    case 'placed':
      return E.right({ progress: 'accepted', orderId: verdict.tickets.orderId ?? null })
    case 'no_changes':
      return E.right({ progress: 'unchanged', orderId: null })
    case 'refused':
      return E.left(tradeRejected(verdict.reason.code, verdict.reason.message))
    case 'gone':
    case 'not_found':
      return E.left(positionNotFound)
    case 'limited':
      return E.left(brokerRateLimited(accountId, now + (verdict.retryAfterMs ?? 0), now))
    case 'not_sent':
      return E.left(brokerUnavailable(accountId, `trade: ${verdict.why}`, verdict.cause))
    case 'unknown':
      return E.left(brokerOutcomeUnknown(accountId))
  }
}

const noLots = tradeRejected(
  'INVALID_VOLUME',
  'The volume to close must be at least 0.00000001 lots.',
)
