// Webhooks beside a load of orders: one receiver that is fine for each user, and in the end the account of every event and every delivery.
import { setTimeout as pause } from 'node:timers/promises'
import { checkDeliveries, checkEvents } from './event-check.ts'
import type { Happened } from './event-check.ts'
import { askUntilAnswered, readHistories, say } from './fleet.ts'
import type { FaultUser, Fleet } from './fleet.ts'
import { readReceived, readRecorded, reading, registerWebhook } from './recorded-events.ts'
import type { RegisteredWebhook } from './recorded-events.ts'
import type { Receivers } from './webhook-receivers.ts'

export const eventScopes = ['webhooks:read', 'webhooks:write']

/** For an instance that delivers events to the receivers, and tries again soon. */
export const eventEnvironment = (receivers: Receivers): Readonly<Record<string, string>> => ({
  CAPABILITIES: 'events',
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1',
  WEBHOOK_RETRY_SECONDS: '1,2,3,4',
  NODE_EXTRA_CA_CERTS: receivers.authorityFile,
})

export const registerAll = (fleet: Fleet, users: readonly FaultUser[], receivers: Receivers): Promise<readonly RegisteredWebhook[]> =>
  Promise.all(users.map((user) => registerWebhook(fleet, user, receivers, 'fine')))

/** Waits until all that happened was delivered, or the patience is over. */
export const deliveredAll = async (
  fleet: Fleet,
  users: readonly FaultUser[],
  webhooks: readonly RegisteredWebhook[],
  happened: readonly Happened[],
  patienceMs: number,
): Promise<void> => {
  const deadline = performance.now() + patienceMs
  const eventCount = happened.reduce((sum, { names }) => sum + names.length, 0)
  // What is not read of an account's history is no event yet.
  await readHistories(fleet, users)
  for (;;) {
    const counts = await Promise.all(webhooks.map((webhook) => deliveredTo(fleet, users, webhook)))
    const left = eventCount - counts.reduce((sum, count) => sum + count, 0)
    if (left <= 0 || performance.now() > deadline) return
    say(`  ${left} deliveries to come`)
    await pause(1_000)
  }
}

const deliveredTo = async (fleet: Fleet, users: readonly FaultUser[], { id, userId }: RegisteredWebhook): Promise<number> => {
  const user = users.find((one) => one.id === userId)
  if (user === undefined) return 0
  const { body } = await askUntilAnswered(fleet, user, { path: `/webhooks/${id}/deliveries?limit=1&status=success` })
  return body.meta.pagination.total
}

export interface EventAccount {
  readonly line: string
  readonly broken: readonly string[]
}

/** Once nobody else has the database open. */
export const accountOfEvents = async (
  database: { readonly url: string | null; readonly folder: string },
  users: readonly FaultUser[],
  webhooks: readonly RegisteredWebhook[],
  receivers: Receivers,
  happened: readonly Happened[],
): Promise<EventAccount> => {
  const { events, logged } = await reading(database.url, database.folder, (knex) => readRecorded(knex, users))
  const received = await readReceived(receivers, 'fine', webhooks)
  const distinct = new Set(received.map(({ deliveryId }) => deliveryId)).size
  return {
    line: `events: ${events.length}; deliveries that arrived: ${distinct}, ${received.length - distinct} of them again`,
    broken: [...checkEvents(happened, events), ...checkDeliveries(webhooks, events, logged, received)],
  }
}
