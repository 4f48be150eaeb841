// The log of events as its owner reads it. The numbers of an owner's events are in the order in
// which their transactions committed, because whoever records events locks the user first: a reader
// that has seen one number will see no smaller one later.
import { eventNumber, formatEventId, type LoggedEvent } from '@tradeport/domain/events'
import type { EventLog } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import { webhookEventTypes } from '@tradeport/domain/webhooks'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import * as column from '../connection/columns.ts'
import { attempt } from '../connection/failures.ts'
import { allOf, query, sql, type Sql } from '../connection/sql.ts'

const decodeEvent = column.decodeRow(
  'events',
  t.strict({
    sequence: t.string,
    type: column.oneOf('event type', webhookEventTypes),
    account_id: column.ids.account,
    data: t.string,
    recorded_at: column.instant,
  }),
)

const eventOfRow = (row: unknown): LoggedEvent => {
  const { sequence, type, account_id: accountId, data, recorded_at: recordedAt } = decodeEvent(row)
  return {
    id: formatEventId(BigInt(sequence)),
    type,
    accountId,
    recordedAt,
    data: JSON.parse(data) as LoggedEvent['data'],
  }
}

interface Place {
  readonly sequence: string
}

const ofOwner = ({ tenantId, userId }: Owner): Sql =>
  sql`tenant_id = ${tenantId} and user_id = ${userId}`

const ascending = sql`asc`
const descending = sql`desc`

export const createEventLog = (
  knex: Knex,
  onRecorded: EventLog['onRecorded'] = () => () => undefined,
): EventLog => ({
  page: (owner, { types, accountId, after, before, order, limit }) =>
    attempt('events.page', async () => {
      const wanted = allOf(
        ofOwner(owner),
        sql`type = any(${[...types]}::text[])`,
        accountId !== undefined && sql`account_id = ${accountId}`,
        after !== undefined && sql`sequence > ${String(eventNumber(after))}`,
        before !== undefined && sql`sequence < ${String(eventNumber(before))}`,
      )
      const rows = await query(
        knex,
        sql`select sequence, type, account_id, data, recorded_at from events where ${wanted}
          order by sequence ${order === 'asc' ? ascending : descending} limit ${limit + 1}`,
      )
      return { events: rows.slice(0, limit).map(eventOfRow), hasNext: rows.length > limit }
    }),
  has: (owner, id) =>
    attempt('events.has', async () => {
      const number = String(eventNumber(id))
      const rows = await query(
        knex,
        sql`select from events where ${ofOwner(owner)} and sequence = ${number}`,
      )
      return rows.length > 0
    }),
  end: (owner, which) =>
    attempt('events.end', async () => {
      const [row] = await query<Place>(
        knex,
        sql`select sequence from events where ${ofOwner(owner)}
          order by sequence ${which === 'oldest' ? ascending : descending} limit 1`,
      )
      return row === undefined ? O.none : O.some(formatEventId(BigInt(row.sequence)))
    }),
  onRecorded,
})
