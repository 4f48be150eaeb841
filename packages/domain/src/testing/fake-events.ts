// Events and deliveries in memory, as fakes of their ports; they pass the same contract as the database. What is due by the test's clock is sent as soon as
// something is written, and when the test says so.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceEvent } from '../events/service-event.ts'
import type { WebhookDisabledNotice } from '../notices/owner-notice.ts'
import type { Clock } from '../ports/clock.ts'
import type { DeliveryJobs, DueDelivery, WebhookDeliveries } from '../ports/webhook-deliveries.ts'
import { isSameOwner } from '../primitives/ids.ts'
import type { DeliveryId, Owner, WebhookId } from '../primitives/ids.ts'
import { pageOf } from '../primitives/pages.ts'
import { afterAttempt, isReplay, newDelivery, replayOf, withReplayBegun, withdrawn } from '../webhooks/event-delivery.ts'
import type { AttemptAnswer, WebhookDelivery } from '../webhooks/event-delivery.ts'
import type { WebhookWithSecret } from '../webhooks/webhook.ts'
import type { FakeRecords } from './fake-records.ts'

interface StoredDelivery {
  readonly owner: Owner
  readonly delivery: WebhookDelivery
  readonly event: ServiceEvent
}

export interface FakeEvents {
  /** Records events, also for the fake of the orders. */
  readonly happened: (owner: Owner, events: readonly ServiceEvent[]) => void
  readonly deliveries: WebhookDeliveries
  readonly jobs: DeliveryJobs
  /** Sends what is due by the clock. */
  readonly handOut: () => void
  /** Whose webhooks were disabled, and why. */
  readonly told: () => readonly { readonly owner: Owner; readonly notice: WebhookDisabledNotice }[]
}

type Attempt = (due: DueDelivery) => Promise<AttemptAnswer>

export const createFakeEvents = (records: FakeRecords, clock: Clock): FakeEvents => {
  const keys = new Set<string>()
  // In the order of their writing.
  const stored = new Map<DeliveryId, StoredDelivery>()
  const lanes = new Map<WebhookId, Promise<void>>()
  const workers = new Set<Attempt>()
  const told: { readonly owner: Owner; readonly notice: WebhookDisabledNotice }[] = []
  let lastId = 0

  const write = (one: StoredDelivery): void => void stored.set(one.delivery.id, one)
  const ofWebhook = (id: WebhookId): readonly StoredDelivery[] => [...stored.values()].filter(({ delivery }) => delivery.webhookId === id)
  const ofOwner = (owner: Owner, id: WebhookId): readonly StoredDelivery[] => ofWebhook(id).filter((one) => isSameOwner(one.owner, owner))

  const withdrawAll = (id: WebhookId): void => {
    for (const one of ofWebhook(id))
      if (one.delivery.status === 'pending' && !isReplay(one.delivery)) write({ ...one, delivery: withdrawn(one.delivery) })
  }

  const settle = ({ owner, delivery, event }: StoredDelivery, answer: AttemptAnswer, startedAt: number): void => {
    const held = records.tables.webhooks.get(delivery.webhookId)
    if (held === undefined || stored.get(delivery.id)?.delivery !== delivery) return
    const endedAt = clock.now()
    const after = afterAttempt(delivery, held.webhook, { answer, startedAt, endedAt })
    write({ owner, delivery: after.delivery, event })
    records.tables.webhooks.set(delivery.webhookId, { ...held, webhook: after.webhook })
    if (after.disabledFor === null) return
    withdrawAll(delivery.webhookId)
    const { id, url } = after.webhook
    told.push({ owner, notice: { kind: 'webhook_disabled', webhookId: id, url, at: endedAt, because: after.disabledFor } })
  }

  const next = (id: WebhookId): { readonly one: StoredDelivery; readonly to: WebhookWithSecret } | undefined => {
    const to = records.tables.webhooks.get(id)
    if (to === undefined) return undefined
    if (!to.webhook.enabled) withdrawAll(id)
    const due = ofWebhook(id).find(({ delivery }) => delivery.nextAttemptAt !== null && delivery.nextAttemptAt <= clock.now())
    if (due === undefined) return undefined
    const one = isReplay(due.delivery) ? { ...due, delivery: withReplayBegun(due.delivery, clock.now()) } : due
    write(one)
    return { one, to }
  }

  const drain = async (attempt: Attempt, id: WebhookId): Promise<void> => {
    for (let due = next(id); due !== undefined && workers.has(attempt); due = next(id)) {
      const { one, to } = due
      const startedAt = clock.now()
      settle(one, await attempt({ to, delivery: one.delivery, event: one.event }), startedAt)
    }
  }

  const handOut = (): void => {
    const [attempt] = workers
    if (attempt === undefined) return
    for (const id of records.tables.webhooks.keys() as MapIterator<WebhookId>) {
      if (lanes.has(id)) continue
      const lane = drain(attempt, id).finally(() => lanes.delete(id))
      lanes.set(id, lane)
    }
  }

  const happened = (owner: Owner, events: readonly ServiceEvent[]): void => {
    for (const event of events) {
      const key = JSON.stringify([owner.tenantId, owner.userId, event.key])
      if (keys.has(key)) continue
      keys.add(key)
      for (const { webhook } of records.tables.webhooks.values()) {
        if (!isSameOwner(webhook.owner, owner) || !webhook.enabled || !webhook.eventTypes.includes(event.type)) continue
        const id = `0d000000-0000-4000-8000-${String((lastId += 1)).padStart(12, '0')}` as DeliveryId
        write({ owner, delivery: newDelivery(webhook.id, event.type, id, clock.now()), event })
      }
    }
    void Promise.resolve().then(handOut)
  }

  return {
    happened,
    deliveries: {
      list: (owner, id, query) =>
        TE.fromIO(() => {
          const own = ofOwner(owner, id).map(({ delivery }) => delivery)
          return pageOf(own.filter(({ status }) => status === (query.status ?? status)).toReversed(), query)
        }),
      replay: (owner, webhookId, deliveryId, { id, at }) =>
        TE.fromIO(() => {
          const found = ofOwner(owner, webhookId).find(({ delivery }) => delivery.id === deliveryId)
          if (found === undefined) return O.none
          const delivery = replayOf(found.delivery, id, at)
          write({ ...found, delivery })
          void Promise.resolve().then(handOut)
          return O.some(delivery)
        }),
    },
    jobs: {
      work: async (attempt) => {
        workers.add(attempt)
        handOut()
        return {
          stop: async () => {
            workers.delete(attempt)
          },
        }
      },
    },
    handOut,
    told: () => told,
  }
}
