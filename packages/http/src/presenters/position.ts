// Open positions as callers see them (2.4). A level that the position does not have is undefined, which JSON leaves out.
import { formatPositionId, toIso } from '@tradeport/domain'
import type { Position } from '@tradeport/domain'
import { choice, decimal, maybe, orNull, record, text, time, uuid } from '../schema/shapes.ts'
import type { Shown } from '../schema/shapes.ts'
import { exampleAccountId, examplePositionId, exampleTicket, exampleUserId } from './examples.ts'
import { sides } from './order.ts'

export const positionShape = record('Position', 'An open position, as its broker has it.', {
  id: text('Names it on other routes: pass it on unchanged.', examplePositionId),
  userId: text('Whose it is.', exampleUserId),
  accountId: uuid('The account it is on.', exampleAccountId),
  brokerPositionId: text("The broker's ticket.", exampleTicket),
  symbol: text('The instrument, as the broker spells it.', 'EURUSD'),
  type: choice(sides, 'Its direction.', 'buy'),
  volume: decimal('Lots that are open.', 0.2),
  entryPrice: decimal('The price at which it was opened.', 1.0842),
  currentPrice: decimal('The price at which it would be closed now.', 1.08655),
  stopLoss: maybe(decimal('Left out where it has none.', 1.08)),
  takeProfit: maybe(decimal('Left out where it has none.', 1.095)),
  swap: decimal('Charges are negative.', -1.12),
  commission: decimal('Charges are negative.', -1.4),
  unrealizedPnl: decimal('Of the open volume, before swap and commission.', 47),
  realizedPnl: decimal('Of what was closed of it so far.', 0),
  marginUsed: orNull(
    decimal('Margin that the broker requires for it at its opening price; null where the provider could not compute it.', 216.84),
  ),
  openedAt: time('When it was opened.'),
})

export const presentPosition = (position: Position): Shown<typeof positionShape> => ({
  id: formatPositionId(position.accountId, position.ticket),
  userId: position.userId,
  accountId: position.accountId,
  brokerPositionId: position.ticket,
  symbol: position.symbol,
  type: position.side,
  volume: position.volume,
  entryPrice: position.entryPrice,
  currentPrice: position.currentPrice,
  stopLoss: position.stopLoss,
  takeProfit: position.takeProfit,
  swap: position.swap,
  commission: position.commission,
  unrealizedPnl: position.unrealizedPnl,
  realizedPnl: position.realizedPnl,
  marginUsed: position.marginUsed,
  openedAt: toIso(position.openedAt),
})
