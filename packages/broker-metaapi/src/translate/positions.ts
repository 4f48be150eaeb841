// Open positions in our words. One row that cannot be read makes the whole read fail: a list that lacks a
// position is worse than none.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import { byAge, parseTicket, roundLots, sumExactly } from '@tradeport/domain'
import type { BrokerPosition } from '@tradeport/domain'
import { decode, PositionRows } from '../payloads.ts'
import type { PositionRow } from '../payloads.ts'
import { readTime } from './time.ts'

/** The positions in the bytes of an answer, as `positionsOf` has them. */
export const positionsIn = (bytes: Uint8Array): E.Either<string, readonly BrokerPosition[]> =>
  pipe(decode(PositionRows)(bytes), E.flatMap(positionsOf))

/** Oldest first, whatever the order of the rows; the left says which row cannot be read. */
export const positionsOf = (rows: readonly PositionRow[]): E.Either<string, readonly BrokerPosition[]> => {
  const positions: BrokerPosition[] = []
  for (const [index, row] of rows.entries()) {
    const position = positionOf(row)
    if (E.isLeft(position)) return E.left(`${index}.${position.left}`)
    positions.push(position.right)
  }
  return E.right(positions.toSorted(byAge))
}

const positionOf = (row: PositionRow): E.Either<string, BrokerPosition> => {
  const ticket = parseTicket(row.id)
  if (O.isNone(ticket)) return E.left('id is not a ticket')
  const openedAt = readTime(row.time)
  if (Number.isNaN(openedAt)) return E.left('time is not a time')
  const volume = roundLots(row.volume)
  if (volume <= 0) return E.left('volume is not above 0')
  // Not told is not nothing won and nothing lost.
  if (row.unrealizedProfit === undefined && row.profit === undefined) return E.left('profit is not told in any way')
  return E.right({
    ticket: ticket.value,
    symbol: row.symbol,
    side: row.type === 'POSITION_TYPE_BUY' ? 'buy' : 'sell',
    volume,
    entryPrice: row.openPrice,
    currentPrice: row.currentPrice,
    // A level of 0 is the platform's way to say that there is none.
    ...(row.stopLoss && { stopLoss: row.stopLoss }),
    ...(row.takeProfit && { takeProfit: row.takeProfit }),
    swap: row.swap ?? sumExactly([row.realizedSwap ?? 0, row.unrealizedSwap ?? 0]),
    commission: row.commission ?? sumExactly([row.realizedCommission ?? 0, row.unrealizedCommission ?? 0]),
    unrealizedPnl: unrealizedPnlOf(row),
    realizedPnl: realizedPnlOf(row),
    openedAt,
    ...(typeof row.clientId === 'string' && row.clientId !== '' && { clientId: row.clientId }),
  })
}

/** Older payloads have the overall profit alone, which is that of the open part and of the closed part together. */
const unrealizedPnlOf = ({ unrealizedProfit, profit = 0, realizedProfit = 0 }: PositionRow): number =>
  unrealizedProfit ?? sumExactly([profit, -realizedProfit])

/** The provider's figure includes the closed part's commission and swap; they are taken out where it tells both. */
const realizedPnlOf = ({ realizedProfit = 0, realizedCommission, realizedSwap }: PositionRow): number =>
  realizedCommission === undefined || realizedSwap === undefined
    ? realizedProfit
    : sumExactly([realizedProfit, -realizedCommission, -realizedSwap])
