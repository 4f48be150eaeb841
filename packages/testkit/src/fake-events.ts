// Events and deliveries in memory: while somebody works, each delivery is attempted once, as soon
// as it is recorded.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceEvent } from '@tradeport/domain/events'
import type { Clock, DeliveryJobs, WebhookDeliveries } from '@tradeport/domain/ports'
import {
  isSameOwner,
  type DeliveryId,
  type Owner,
  type WebhookId,
  pageOf,
} from '@tradeport/domain/primitives'
import {
  afterAttempt,
  newDelivery,
  replayOf,
  type WebhookDelivery,
} from '@tradeport/domain/webhooks'
import type { FakeRecords } from './fake-records.ts'

export interface FakeEvents {
  readonly happened: (owner: Owner, events: readonly ServiceEvent[]) => void
  readonly deliveries: WebhookDeliveries
  readonly jobs: DeliveryJobs
}

export const createFakeEvents = (records: FakeRecords, clock: Clock): FakeEvents => {
  const log: { delivery: WebhookDelivery; readonly event: ServiceEvent }[] = []
  let attempt: Parameters<DeliveryJobs['work']>[0] | undefined

  const send = async (delivery: WebhookDelivery, event: ServiceEvent): Promise<void> => {
    const logged = { delivery, event }
    log.push(logged)
    const to = records.tables.webhooks.get(delivery.webhookId)
    if (attempt === undefined || to === undefined) return
    const startedAt = clock.now()
    const answer = await attempt({ to, delivery, event })
    logged.delivery = afterAttempt(delivery, to.webhook, {
      answer,
      startedAt,
      endedAt: clock.now(),
    }).delivery
  }
  const ownLog = (owner: Owner, id: WebhookId) => {
    const held = records.tables.webhooks.get(id)
    return held !== undefined && isSameOwner(held.webhook.owner, owner)
      ? log.filter(({ delivery }) => delivery.webhookId === id)
      : []
  }

  return {
    happened: (owner, events) => {
      for (const event of events)
        for (const { webhook } of records.tables.webhooks.values()) {
          if (
            !isSameOwner(webhook.owner, owner) ||
            !webhook.enabled ||
            !webhook.eventTypes.includes(event.type)
          )
            continue
          const id = `0d000000-0000-4000-8000-${String(log.length).padStart(12, '0')}` as DeliveryId
          void send(newDelivery(webhook.id, event.type, id, clock.now()), event)
        }
    },
    deliveries: {
      list: (owner, id, query) =>
        TE.fromIO(() => {
          const own = ownLog(owner, id).map(({ delivery }) => delivery)
          return pageOf(
            own.filter(({ status }) => status === (query.status ?? status)).toReversed(),
            query,
          )
        }),
      replay: (owner, webhookId, deliveryId, { id, at }) =>
        TE.fromIO(() => {
          const found = ownLog(owner, webhookId).find(({ delivery }) => delivery.id === deliveryId)
          if (found === undefined) return O.none
          const delivery = replayOf(found.delivery, id, at)
          void send(delivery, found.event)
          return O.some(delivery)
        }),
    },
    jobs: {
      work: async (deliver) => {
        attempt = deliver
        return { stop: async () => undefined }
      },
    },
  }
}
