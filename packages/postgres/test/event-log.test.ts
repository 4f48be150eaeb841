// The log of events by pages, within bounds.
import { startOfLog, type EventId, type ServiceEvent } from '@tradeport/domain/events'
import type { EventsQuery } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import { webhookEventTypes } from '@tradeport/domain/webhooks'
import { newAccountId, rightOf, storedOwner, times } from '@tradeport/testkit'
import { expect, it } from 'vitest'
import { lastEventAt } from '../src/index.ts'
import { answersOf, onEachDatabase } from './harness.ts'

const accountId = newAccountId()
let lastKey = 0
const newEvent = (): ServiceEvent => ({
  type: 'order.created',
  key: `event ${(lastKey += 1)}`,
  data: { account_id: accountId, number: lastKey },
})

onEachDatabase('the log of events', (here) => {
  const { eventLog } = answersOf(() => here)
  const page = (owner: Owner, query: Partial<EventsQuery> = {}) =>
    eventLog.page(owner, {
      types: webhookEventTypes,
      order: 'asc',
      limit: 1_000,
      ...query,
    })

  it('pages in both directions within bounds, by type and account, for its owner alone', async () => {
    const [owner, other] = [await storedOwner(here.operator), await storedOwner(here.operator)]
    await here.record(owner, [newEvent(), newEvent(), { ...newEvent(), type: 'order.filled' }])
    await here.record(other, [newEvent()])
    const ids = (await page(owner)).events.map(({ id }) => id)
    const [first, second, third] = ids
    expect(ids).toHaveLength(3)
    for (const [query, expected, hasNext = false] of [
      [{ limit: 2 }, [first, second], true],
      [{ after: first }, [second, third]],
      [{ before: third, order: 'desc' }, [second, first]],
      [{ types: ['order.filled'] }, [third]],
      [{ accountId }, ids],
      [{ accountId: newAccountId() }, []],
    ] as const) {
      const found = await page(owner, query)
      expect([found.events.map(({ id }) => id), found.hasNext]).toStrictEqual([expected, hasNext])
    }
    const { isResumable, bounds } = eventLog
    expect(
      await Promise.all([owner, other].map((one) => isResumable(one, first as EventId))),
    ).toStrictEqual([true, false])
    expect(await bounds(owner)).toStrictEqual({
      clearedTo: startOfLog,
      oldest: first,
      newest: third,
    })
  })

  it('numbers the events of each owner alone, and gives no two owners the same id', async () => {
    const owners = [await storedOwner(here.operator), await storedOwner(here.operator)]
    for (const one of [...owners, ...owners]) await here.record(one, [newEvent(), newEvent()])
    const ids = await Promise.all(owners.map(async (one) => (await page(one)).events))
    const parts = ids.map((events) =>
      events.map(({ id }) => [Number(id.slice(4, 16)), id.slice(16)]),
    )
    const [ofOne, ofOther] = parts.map((own) => own[0]?.[1])
    expect(parts).toStrictEqual(
      [ofOne, ofOther].map((own) => [1, 2, 3, 4].map((number) => [number, own])),
    )
    expect(ofOne).not.toBe(ofOther)
  })

  it('tells those who follow it here, and the other instances, of each owner with new events', async () => {
    const owner = await storedOwner(here.operator)
    const heard: unknown[] = []
    const stop = here.eventLog.onRecorded((whose) => void heard.push(whose))
    here.told.length = 0
    await here.record(owner, [newEvent()])
    stop()
    const lastAt = lastEventAt(here.knex)
    const before = await rightOf(lastAt)
    await here.record(owner, [newEvent()])
    expect(await rightOf(lastAt)).toBeGreaterThan(before)
    expect(heard).toStrictEqual([owner])
    expect(here.told).toStrictEqual(times(2, () => ({ kind: 'events_recorded', owner })))
  })
})
