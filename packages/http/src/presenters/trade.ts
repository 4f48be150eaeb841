// Closed trades as callers see them (2.5). volumeEstimated is undefined, which JSON leaves out, where every close reported its volume.
import { formatPositionId, toIso } from '@tradeport/domain'
import type { ClosedTrade } from '@tradeport/domain'
import { choice, decimal, flag, record, seldom, text, time, uuid, whole } from '../schema/shapes.ts'
import type { Shown } from '../schema/shapes.ts'
import { exampleAccountId, examplePositionId, exampleTicket, exampleUserId } from './examples.ts'
import { sides } from './order.ts'

export const tradeShape = record('Trade', 'A position whose whole volume is closed, folded from all of its deals.', {
  id: text('Names it on GET /trades/{id}.', examplePositionId),
  userId: text('Whose it is.', exampleUserId),
  accountId: uuid('The account it was made on.', exampleAccountId),
  positionId: text("The broker's ticket of the position.", exampleTicket),
  symbol: text('The instrument, as the broker spells it.', 'EURUSD'),
  type: choice(sides, 'Its direction.', 'buy'),
  volume: decimal('Lots.', 0.2),
  entryPrice: decimal('Weighted by volume.', 1.0842),
  exitPrice: decimal('Weighted by volume.', 1.0861),
  swap: decimal('Over all deals; charges are negative.', -1.12),
  commission: decimal('Over all deals; charges are negative.', -1.4),
  profit: decimal('Over all deals, before commission and swap.', 38),
  netProfit: decimal('profit + commission + swap.', 35.48),
  holdingTime: whole('Whole seconds from openedAt to closedAt, rounded down.', 5_400),
  openedAt: time('The first opening deal.', '2026-11-20T12:35:09.000Z'),
  closedAt: time('The last closing deal.'),
  volumeEstimated: seldom(flag('True where a closing deal told no volume, and volume is the volume that was opened; else left out.', true)),
})

export const presentTrade = ({ accountId, userId, trade }: ClosedTrade): Shown<typeof tradeShape> => ({
  id: formatPositionId(accountId, trade.positionId),
  userId,
  accountId,
  positionId: trade.positionId,
  symbol: trade.symbol,
  type: trade.side,
  volume: trade.volume,
  entryPrice: trade.entryPrice,
  exitPrice: trade.exitPrice,
  swap: trade.swap,
  commission: trade.commission,
  profit: trade.profit,
  netProfit: trade.netProfit,
  holdingTime: trade.holdingTime,
  openedAt: toIso(trade.openedAt),
  closedAt: toIso(trade.closedAt),
  volumeEstimated: trade.volumeEstimated,
})
