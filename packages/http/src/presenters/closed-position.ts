// What a close made of a position, as callers see it (2.4). The rest's id is undefined, which JSON leaves out, but where the broker gave the rest a
// new number: whoever went on with the old one would find no position.
import { formatPositionId, toIsoOrNull } from '@tradeport/domain'
import type { ClosedPosition } from '@tradeport/domain'
import { decimal, orNull, record, seldom, text, time, uuid } from '../schema/shapes.ts'
import type { Shown } from '../schema/shapes.ts'
import { exampleAccountId, examplePositionId, exampleTicket } from './examples.ts'

const unlessFound =
  'null where the closing deal was not found straight after the close, or could be that of another close because the broker’s answer was lost; GET /trades tells it later'

export const closedPositionShape = record('ClosePositionResult', 'What a close made of a position.', {
  id: text('The position that was closed, wholly or in part.', examplePositionId),
  accountId: uuid('The account it is on.', exampleAccountId),
  brokerPositionId: text("The broker's ticket.", exampleTicket),
  brokerOrderId: orNull(text("The broker's number of the closing order; null where it told none.", '46650112')),
  closedVolume: decimal('Lots that were closed.', 0.2),
  remainingVolume: decimal('Lots that stay open; 0 where all was closed.', 0),
  remainingPositionId: seldom(
    text('The id under which the rest is open from now on, where the broker gave it a new one.', examplePositionId),
  ),
  closePrice: orNull(decimal(`Weighted by volume; ${unlessFound}.`, 1.0861)),
  realizedPnl: orNull(decimal(`Profit of the close, before commission and swap; ${unlessFound}.`, 38)),
  closedAt: orNull(time(`When it was closed; ${unlessFound}.`)),
})

export const presentClosedPosition = (closed: ClosedPosition): Shown<typeof closedPositionShape> => {
  const { accountId, ticket, remainingTicket, closedAt } = closed
  return {
    id: formatPositionId(accountId, ticket),
    accountId,
    brokerPositionId: ticket,
    brokerOrderId: closed.orderId,
    closedVolume: closed.closedVolume,
    remainingVolume: closed.remainingVolume,
    remainingPositionId: remainingTicket === undefined ? undefined : formatPositionId(accountId, remainingTicket),
    closePrice: closed.closePrice,
    realizedPnl: closed.realizedPnl,
    closedAt: toIsoOrNull(closedAt),
  }
}
