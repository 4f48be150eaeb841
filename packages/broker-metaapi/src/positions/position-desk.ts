// The port of changes over MetaApi's REST: a change goes out by one request; what it made of the position is read by whoever asked for it.
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import { brokerOutcomeUnknown, positionNotFound, roundLots, tradeRejected } from '@tradeport/domain'
import type { BrokerAccount, BrokerChangeError, Levels, MaySend, PositionDesk, Ticket } from '@tradeport/domain'
import { read, readingOver } from '../connection.ts'
import type { Connection } from '../connection.ts'
import { toBrokerReadError } from '../failures.ts'
import { requireReadableAccount } from '../trade/trade-once.ts'
import type { SentTrade, TradeOnce } from '../trade/trade-once.ts'
import type { TradeRequest } from '../trade/trade-sender.ts'
import type { Target } from '../transport.ts'
import { positionsIn } from '../translate/positions.ts'
import { changeOf, closeReceiptOf, progressOf } from './change-answer.ts'
import type { Taken } from './change-answer.ts'

export const positionDeskOver = (connection: Connection, tradeOnce: TradeOnce): PositionDesk => {
  const { client, clock, deadlines, targetOf } = connection
  const reading = readingOver(connection)

  const send = async (
    account: BrokerAccount,
    body: TradeRequest['body'],
    maySend: MaySend,
  ): Promise<E.Either<BrokerChangeError, Taken>> => {
    let sent: SentTrade
    try {
      sent = await tradeOnce(account, body, maySend)
    } catch (cause) {
      return E.left(toBrokerReadError(account, clock.now)(cause))
    }
    const { target, verdict } = sent
    return verdict.kind === 'not_found' ? E.left(await whatIsNotFound(account, target)) : changeOf(account, verdict, clock.now())
  }

  /** Not executed either way. */
  const whatIsNotFound = async (account: BrokerAccount, target: Target): Promise<BrokerChangeError> => {
    try {
      await requireReadableAccount(connection, target)
      return positionNotFound
    } catch (cause) {
      return toBrokerReadError(account, clock.now)(cause)
    }
  }

  /** Never rejects: what is not foreseen may have happened. */
  const change =
    (account: BrokerAccount, body: TradeRequest['body'], maySend: MaySend): TE.TaskEither<BrokerChangeError, Taken> =>
    () =>
      send(account, body, maySend).catch(() => E.left(brokerOutcomeUnknown(account.accountId)))

  return {
    freshPositions: (account) =>
      reading(account, 'positions', deadlines.readMs, async (signal) => {
        const bytes = await client.positions(await targetOf(account), true, signal)
        return { positions: read('positions', positionsIn(bytes)), readAt: clock.now() }
      }),

    setLevels: (account, ticket, levels, maySend) =>
      pipe(
        change(account, modification(ticket, levels), maySend),
        TE.map((taken) => ({ progress: progressOf(taken) })),
      ),

    closePosition: (account, ticket, volume, maySend) => {
      const lots = volume === null ? null : roundLots(volume)
      if (lots === 0) return TE.left(noLots)
      return pipe(
        change(account, closing(ticket, lots), maySend),
        TE.flatMapEither((taken) => closeReceiptOf(account, taken)),
      )
    },
  }
}

/** The provider replaces both levels, and takes off the one that is left out. */
const modification = (positionId: Ticket, { stopLoss, takeProfit }: Levels): TradeRequest['body'] => ({
  actionType: 'POSITION_MODIFY',
  positionId,
  ...(stopLoss !== undefined && { stopLoss }),
  ...(takeProfit !== undefined && { takeProfit }),
})

const closing = (positionId: Ticket, volume: number | null): TradeRequest['body'] =>
  volume === null ? { actionType: 'POSITION_CLOSE_ID', positionId } : { actionType: 'POSITION_PARTIAL', positionId, volume }

const noLots = tradeRejected('INVALID_VOLUME', 'The volume to close must be at least 0.00000001 lots.')
