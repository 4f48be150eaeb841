// What a close made of a position, as callers see it (2.4). The rest's id is undefined, which JSON leaves out, but where the broker gave the rest a
// new number: whoever went on with the old one would find no position.
import { formatPositionId, toIso } from '@tradeport/domain'
import type { ClosedPosition } from '@tradeport/domain'

export const presentClosedPosition = (closed: ClosedPosition): object => {
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
    closedAt: closedAt === null ? null : toIso(closedAt),
  }
}
