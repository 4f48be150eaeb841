// The log of events: a reader that continues after the last event that it saw misses none.
import { setTimeout as pause } from 'node:timers/promises'
import type { EventId, ServiceEvent } from '@tradeport/domain/events'
import type { EventsQuery } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import { webhookEventTypes } from '@tradeport/domain/webhooks'
import { newAccountId, rightOf, storedOwner } from '@tradeport/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestClock, startEvents, type EventInstance } from './event-ports.ts'
import { onEachDatabase, type OpenedDatabase } from './open-stores.ts'

const accountId = newAccountId()
let lastKey = 0
const newEvent = (): ServiceEvent => ({
  type: 'order.created',
  key: `event ${(lastKey += 1)}`,
  data: { account_id: accountId, number: lastKey },
  at: 1_000,
})

onEachDatabase((open, title) =>
  describe(`the log of events, ${title}`, () => {
    let opened: OpenedDatabase
    let ports: EventInstance
    beforeAll(async () => {
      opened = await open()
      ports = await startEvents(opened.database, createTestClock())
    })
    afterAll(async () => {
      await ports.stop()
      await opened.close()
    })

    const page = (owner: Owner, query: Partial<EventsQuery> = {}) =>
      rightOf(
        ports.eventLog.page(owner, {
          types: webhookEventTypes,
          order: 'asc',
          limit: 1_000,
          ...query,
        }),
      )

    // An embedded database has one connection, and so one transaction at a time.
    it.skipIf(title === 'embedded')(
      'shows no event before those of a transaction that recorded earlier and commits later',
      async () => {
        const owner = await storedOwner(ports.operator)
        const mayCommit = Promise.withResolvers<void>()
        const record = (ending: Promise<void>): Promise<void> => {
          const events = [newEvent(), newEvent()].map((event) => ({ owner, event }))
          return opened.database.knex.transaction(async (trx) => {
            await ports.recorder.recordWithin(trx, events)
            hasRecorded.resolve()
            await ending
          })
        }
        const hasRecorded = Promise.withResolvers<void>()
        const slow = record(mayCommit.promise)
        await hasRecorded.promise
        const quick = record(Promise.resolve())
        // Time enough to commit, if nothing kept it from that.
        await pause(300)
        const seen = (await page(owner)).events
        mayCommit.resolve()
        await Promise.all([slow, quick])
        const rest = (await page(owner, { after: seen.at(-1)?.id })).events
        const ids = [...seen, ...rest].map(({ id }) => id)
        expect(ids).toStrictEqual((await page(owner)).events.map(({ id }) => id))
        expect(ids).toHaveLength(4)
      },
    )

    it('pages in both directions within bounds, by type and account, for its owner alone', async () => {
      const owner = await storedOwner(ports.operator)
      await ports.record(owner, [newEvent(), newEvent(), { ...newEvent(), type: 'order.filled' }])
      await ports.record(await storedOwner(ports.operator), [newEvent()])
      const { events } = await page(owner)
      const ids = events.map(({ id }) => id)
      const [first, second, third] = ids
      const idsOf = async (query: Partial<EventsQuery>) => {
        const found = await page(owner, query)
        return [found.events.map(({ id }) => id), found.hasNext]
      }
      expect(ids).toHaveLength(3)
      expect(await idsOf({ limit: 2 })).toStrictEqual([[first, second], true])
      expect(await idsOf({ after: first })).toStrictEqual([[second, third], false])
      expect(await idsOf({ before: third, order: 'desc' })).toStrictEqual([[second, first], false])
      expect(await idsOf({ types: ['order.filled'] })).toStrictEqual([[third], false])
      expect(await idsOf({ accountId })).toStrictEqual([ids, false])
      expect(await idsOf({ accountId: newAccountId() })).toStrictEqual([[], false])
      expect(await rightOf(ports.eventLog.has(owner, first as EventId))).toBe(true)
      expect(
        await rightOf(ports.eventLog.has(await storedOwner(ports.operator), first as EventId)),
      ).toBe(false)
      expect(await rightOf(ports.eventLog.end(owner, 'oldest'))).toMatchObject({ value: first })
      expect(await rightOf(ports.eventLog.end(owner, 'newest'))).toMatchObject({ value: third })
    })
  }),
)
