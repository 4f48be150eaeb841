// A record of a close as a row (6): what was read before it was sent, and how far its telling has come.
import { closeSent, parseCloseId, parseTicket } from '@tradeport/domain'
import type { CloseId, CloseProgress, IntendedClose, Owner, Ticket } from '@tradeport/domain'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import * as column from './columns.ts'
import { decodeRow, epochMs, orNull, toNumeric, toTimestamptz } from './columns.ts'
import { UndecodableRow } from './failures.ts'

const closeRow = t.strict({
  id: column.parsedText<CloseId>('CloseId', parseCloseId),
  account_id: column.accountId,
  ticket: column.parsedText<Ticket>('Ticket', parseTicket),
  symbol: t.string,
  side: column.oneOf('side', ['buy', 'sell'] as const),
  volume: column.numeric,
  entry_price: column.numeric,
  closes: column.numeric,
  leaves: column.numeric,
  sent_at: column.instant,
  step: column.oneOf('step', ['sent', 'made', 'told', 'ended'] as const),
  order_id: column.orAbsent(t.string),
  closed_volume: column.orAbsent(column.numeric),
  remaining_volume: column.orAbsent(column.numeric),
  made_at: column.orAbsent(column.instant),
  deals: t.array(t.string),
  looks: t.Int,
  nothing_since: column.orAbsent(column.instant),
  version: t.Int,
})

const instantColumns = ['sent_at', 'made_at', 'nothing_since']

export const closeColumns = (knex: Knex): readonly (string | Knex.Raw)[] =>
  Object.keys(closeRow.type.props).map((name) => (instantColumns.includes(name) ? epochMs(knex, name) : name))

const decodeClose = decodeRow('position_closes', closeRow)

export interface StoredClose {
  readonly closeId: CloseId
  readonly close: IntendedClose
  readonly progress: CloseProgress
  readonly version: number
}

export const closeOfRow = (row: unknown): StoredClose => {
  const stored = decodeClose(row)
  const { symbol, side, volume, closes, leaves } = stored
  return {
    closeId: stored.id,
    close: {
      id: { accountId: stored.account_id, ticket: stored.ticket },
      position: { symbol, side, volume, entryPrice: stored.entry_price },
      order: { closes, leaves },
      sentAt: stored.sent_at,
    },
    progress: progressOf(stored),
    version: stored.version,
  }
}

const progressOf = (stored: t.TypeOf<typeof closeRow>): CloseProgress => {
  const { step, order_id: orderId, deals } = stored
  const looks = { count: stored.looks, nothingSince: stored.nothing_since }
  switch (step) {
    case 'sent':
      return { step, orderId, looks }
    case 'made': {
      const { closed_volume: closedVolume, remaining_volume: remainingVolume, made_at: madeAt } = stored
      if (closedVolume === null || remainingVolume === null || madeAt === null) throw contradiction
      return { step, orderId, outcome: { closedVolume, remainingVolume }, madeAt, looks }
    }
    case 'told':
      return { step, orderId, deals, looks }
    case 'ended':
      return { step, orderId, deals }
  }
}

const contradiction = new UndecodableRow('a row of position_closes contradicts itself at step')

/** As it begins; the rest is the database's. */
export const rowOfClose = ({ tenantId, userId }: Owner, { id, position, order, sentAt }: IntendedClose) => ({
  tenant_id: tenantId,
  user_id: userId,
  account_id: id.accountId,
  ticket: id.ticket,
  symbol: position.symbol,
  side: position.side,
  volume: toNumeric(position.volume),
  entry_price: toNumeric(position.entryPrice),
  closes: toNumeric(order.closes),
  leaves: toNumeric(order.leaves),
  sent_at: toTimestamptz(sentAt),
  ...progressColumnsOf(closeSent),
  version: 1,
})

/** The columns that a step changes. What is known no more is not kept. */
export function progressColumnsOf(progress: CloseProgress) {
  const made = progress.step === 'made' ? progress : undefined
  const looks = 'looks' in progress ? progress.looks : closeSent.looks
  return {
    step: progress.step,
    order_id: progress.orderId,
    closed_volume: orNull(toNumeric)(made?.outcome.closedVolume ?? null),
    remaining_volume: orNull(toNumeric)(made?.outcome.remainingVolume ?? null),
    made_at: orNull(toTimestamptz)(made?.madeAt ?? null),
    deals: 'deals' in progress ? [...progress.deals] : [],
    looks: looks.count,
    nothing_since: orNull(toTimestamptz)(looks.nothingSince),
  }
}
