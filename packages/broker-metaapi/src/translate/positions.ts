// Open positions in our words. One row that cannot be read makes the whole read fail: a list that
// lacks a position is worse than none.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { byAge } from '@tradeport/domain/positions'
import { parseTicket, roundLots, sumExactly } from '@tradeport/domain/primitives'
import type { BrokerPosition } from '@tradeport/domain/positions'
import { decode, PositionRows, readTime } from '../payloads.ts'
import type { PositionRow } from '../payloads.ts'

/**
 * The positions in the bytes of an answer, oldest first, whatever the order of the rows; the left
 * says which row cannot be read.
 */
export const positionsIn = (bytes: Uint8Array): E.Either<string, readonly BrokerPosition[]> => {
  const rows = decode(PositionRows)(bytes)
  if (E.isLeft(rows)) return rows
  const positions: BrokerPosition[] = []
  for (const [index, row] of rows.right.entries()) {
    const position = positionOf(row)
    if (typeof position === 'string') return E.left(`${index}.${position}`)
    positions.push(position)
  }
  return E.right(positions.toSorted(byAge))
}

/** The position, or what is wrong with the row. */
const positionOf = (row: PositionRow): BrokerPosition | string => {
  const ticket = parseTicket(row.id)
  if (O.isNone(ticket)) return 'id is not a ticket'
  const openedAt = readTime(row.time)
  if (Number.isNaN(openedAt)) return 'time is not a time'
  const volume = roundLots(row.volume)
  if (volume <= 0) return 'volume is not above 0'
  const { profit, realizedProfit = 0, realizedCommission, realizedSwap } = row
  // Older payloads have the overall profit alone, which is that of the open part and of the closed
  // part together.
  const unrealizedPnl =
    row.unrealizedProfit ??
    (profit === undefined ? undefined : sumExactly([profit, -realizedProfit]))
  // Not told is not nothing won and nothing lost.
  if (unrealizedPnl === undefined) return 'profit is not told in any way'
  return {
    ticket: ticket.value,
    symbol: row.symbol,
    side: row.type === 'POSITION_TYPE_BUY' ? 'buy' : 'sell',
    volume,
    entryPrice: row.openPrice,
    currentPrice: row.currentPrice,
    // A level of 0 is the platform's way to say that there is none.
    ...(row.stopLoss && { stopLoss: row.stopLoss }),
    ...(row.takeProfit && { takeProfit: row.takeProfit }),
    swap: row.swap ?? sumExactly([realizedSwap ?? 0, row.unrealizedSwap ?? 0]),
    commission:
      row.commission ?? sumExactly([realizedCommission ?? 0, row.unrealizedCommission ?? 0]),
    unrealizedPnl,
    // The provider's figure includes the closed part's commission and swap; they are taken out
    // where it tells both.
    realizedPnl:
      realizedCommission === undefined || realizedSwap === undefined
        ? realizedProfit
        : sumExactly([realizedProfit, -realizedCommission, -realizedSwap]),
    openedAt,
    ...(typeof row.clientId === 'string' && row.clientId !== '' && { clientId: row.clientId }),
  }
}
