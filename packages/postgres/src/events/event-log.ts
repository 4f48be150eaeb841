// The log of events as its owner reads it. The ids of an owner's events sort in the order in which
// their transactions committed, because whoever records events locks the user first: a reader that
// has seen one id will see no smaller one later.
import { startOfLog, type EventId, type LoggedEvent } from '@tradeport/domain/events'
import type { AsyncResult } from '@tradeport/domain/errors'
import type { EventLog } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import { webhookEventTypes } from '@tradeport/domain/webhooks'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { ids, instant, mapped, oneOf, tableOf, toTimestamptz } from '../connection/columns.ts'
import { databasePort, databaseTask } from '../connection/failures.ts'
import {
  allOf,
  isUser,
  isOfOwner,
  queryOne,
  query,
  returnsRow,
  Sql,
  sql,
} from '../connection/sql.ts'

const loggedEvents = mapped(
  tableOf('events', {
    id: ids.event,
    type: oneOf('event type', webhookEventTypes),
    accountId: ids.account,
    data: t.string,
    recordedAt: instant,
  }),
  ({ data, ...event }): LoggedEvent => ({
    ...event,
    data: JSON.parse(data) as LoggedEvent['data'],
  }),
)

/**
 * The id of the user's last event that was deleted because of its age, or `startOfLog`; null where
 * the user was removed. Earlier ones that a replay still needs are kept, and not shown.
 */
const clearedTo = (owner: Owner): Sql =>
  sql`(select coalesce(events_cleared_to, ${startOfLog}) from users where ${isUser(owner)})`

/** A condition: the event is in the owner's log. */
const isInLog = (owner: Owner): Sql => sql`${isOfOwner(owner)} and id > ${clearedTo(owner)}`

export const createEventLog = (
  knex: Knex,
  onRecorded: EventLog['onRecorded'] = () => () => undefined,
): EventLog => ({
  ...databasePort<Omit<EventLog, 'onRecorded'>>('events', {
    page: async (owner, { types, accountId, after, before, order, limit }) => {
      const wanted = allOf(
        isInLog(owner),
        sql`type = any(${[...types]}::text[])`,
        accountId !== undefined && sql`account_id = ${accountId}`,
        after !== undefined && sql`id > ${after}`,
        before !== undefined && sql`id < ${before}`,
      )
      const direction = new Sql(order)
      const rows = await query(
        knex,
        sql`select ${loggedEvents.columns} from events where ${wanted}
          order by id ${direction} limit ${limit + 1}`,
      )
      return { events: rows.slice(0, limit).map(loggedEvents.read), hasNext: rows.length > limit }
    },
    isResumable: (owner, after) =>
      returnsRow(
        knex,
        typeof after === 'number'
          ? sql`select from users where ${isUser(owner)}
              and coalesce(events_cleared_until <= ${toTimestamptz(after)}::timestamptz, true)`
          : sql`select where ${clearedTo(owner)} = ${after}
              or exists (select from events where ${isInLog(owner)} and id = ${after})`,
      ),
    bounds: async (owner) => {
      const { start, oldest, newest } = await queryOne<
        Readonly<Record<'start' | 'oldest' | 'newest', EventId | null>>
      >(
        knex,
        sql`select ${clearedTo(owner)} as start,
          (select min(id) from events where ${isInLog(owner)}) as oldest,
          (select max(id) from events where ${isInLog(owner)}) as newest`,
      )
      // Null where the user was removed.
      const logStart = start ?? startOfLog
      return { clearedTo: logStart, oldest, newest: newest ?? logStart }
    },
  }),
  onRecorded,
})

/** When the last event of all users was recorded, in Unix milliseconds; 0 where none is kept. */
export const lastEventAt = (knex: Knex): AsyncResult<number> =>
  databaseTask('events.last', async () => {
    const { at } = await queryOne<{ readonly at: number }>(
      knex,
      sql`select coalesce(extract(epoch from max(recorded_at)) * 1000, 0)::float8 as at from events`,
    )
    return at
  })
